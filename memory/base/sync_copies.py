"""The copies of a file that syncing programs, editors and git leave beside it: checks name them, nothing reads them."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from .problems import Problem

# Dropbox, Nextcloud, a second download; iCloud and file managers; Syncthing; Resilio; OneDrive's name of the machine;
# Synology; the sides of a merge.
_INSIDE = re.compile(
    r"(?P<stem>.+?)(?: ?\([^)]*(?:conflict|copy|conf|[0-9])[^)]*\)+| copy(?: [0-9]+)?| [0-9]{1,2}"
    r"|\.sync-conflict-[0-9A-Za-z-]+|[._ -]conflict[^/]*|-[A-Z][A-Za-z0-9' -]*|_[Cc]onf\([0-9]+\)"
    r"|_(?:BASE|LOCAL|REMOTE|BACKUP)_[0-9]+)(?P<suffix>\.[A-Za-z]{1,8})"
)
# Editors and patch; the sides of a merge in git and Subversion.
_BEHIND = re.compile(
    r"(?P<name>.+?\.[A-Za-z]{1,8})"
    r"(?:~|\.(?:orig|rej|bak|mine|theirs|ours|r[0-9]+)|\.(?:BASE|LOCAL|REMOTE|BACKUP)\.[0-9]+\.[A-Za-z]{1,8})"
)


def original_of(name: str, known: Callable[[str], object]) -> str | None:
    """Return the name of the file that a file is a copy of, by its name; None where no known file is such."""
    for found in (_BEHIND.fullmatch(name), _INSIDE.fullmatch(name)):
        if found is not None:
            parts = found.groupdict()
            original = parts.get("name") or f"{parts['stem']}{parts['suffix']}"
            if known(original):
                return original
    return None


def copy_problem(name: str, original: str) -> Problem:
    """Return the warning about a copy of a file, which nothing reads."""
    message = f"a copy of {original} that another program left: nothing reads it; move what differs, then delete it"
    return Problem("warning", name, 0, "file.conflicted_copy", message)


def copies_in(folder: Path, shown: str) -> Iterator[Problem]:
    """Yield the warnings about the copies of files in a folder; `shown` is its path in problems."""
    names: list[str] = []
    with suppress(OSError):
        names = sorted(os.listdir(folder))
    known = set(names)
    for name in names:
        if (original := original_of(name, known.__contains__)) is not None:
            yield copy_problem(f"{shown}/{name}", f"{shown}/{original}")
