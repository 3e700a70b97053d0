"""Finds the files of a source that hold sessions."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from memory.errors import MemdeckError, UsageError
from memory.state.files.model import SOURCE_TYPES
from memory.state.paths import as_name, shown_path

MOST_FILES = 20_000
"""How many files of one source are considered."""

_FOLDERS = {"claude-local": ("transcripts", "projects"), "codex-local": ("sessions", "archived_sessions")}
_SUFFIX = ".jsonl"
_HISTORY = "history.jsonl"
_INDEX = "session_index.jsonl"


@dataclass(frozen=True, slots=True)
class SourceItem:
    """A file with a session: the type of its source, its path, its path in the source, and a title if one is known.

    `index` is the file with the titles of sessions by their id, None where the source has none.
    """

    type: str
    path: Path
    name: str
    index: Path | None = None


def discover(
    source_type: str,
    path: str | os.PathLike[str],
    *,
    root: str | os.PathLike[str] | None = None,
    home: str | os.PathLike[str] | None = None,
) -> list[SourceItem]:
    """Return the files with sessions that a source holds, sorted by their path in it; empty files are left out.

    `path` is a file, or a folder: for `claude-local` its `transcripts/**/*.jsonl`, `projects/<folder>/*.jsonl` and
    `history.jsonl`, for `codex-local` its `sessions/**/*.jsonl` and `archived_sessions/**/*.jsonl`; where a folder has
    none of these, all `*.jsonl` in it. With `root`, a repository, only its own folder of `projects` counts. Links and
    names that begin with a dot are passed over, but `path` itself may be a link. Errors name it as seen from `root`, or
    with `~` in `home`.

    Raises `UsageError` (`state.source.type`) for another source_type, `MemdeckError` (`state.source.missing`,
    `state.source.unreadable`, `state.source.too_many`).
    """
    if source_type not in SOURCE_TYPES:
        raise UsageError(
            "state.source.type", f"{source_type!r} is no type of source", f"use {' or '.join(SOURCE_TYPES)}"
        )
    top = Path(path)
    shown = shown_path(str(top), root, home)
    if not top.exists():
        raise MemdeckError("state.source.missing", f"{shown} does not exist", "give the folder of the sessions")
    if top.is_file():
        return [SourceItem(source_type, top, top.name, _index_beside(top))]
    if not os.access(top, os.R_OK | os.X_OK):
        raise MemdeckError("state.source.unreadable", f"{shown} cannot be read", "change its permissions")
    index = top / _INDEX
    found_index = index if source_type == "codex-local" and _regular(index) else None
    names = sorted(islice(_names(source_type, top, root), MOST_FILES + 1))
    if len(names) > MOST_FILES:
        raise MemdeckError(
            "state.source.too_many", f"{shown} holds more than {MOST_FILES} sessions", "give a folder within it"
        )
    return [SourceItem(source_type, top / name, name, found_index) for name in names]


def _names(source_type: str, top: Path, root: str | os.PathLike[str] | None) -> Iterator[str]:
    folders = [name for name in _FOLDERS[source_type] if (top / name).is_dir() and not (top / name).is_symlink()]
    history = source_type == "claude-local" and _regular(top / _HISTORY)
    if not folders and not history:
        yield from _walk(top)
    for name in folders:
        own = _own_folders(top / name, root) if name == "projects" and root is not None else [""]
        for one in own:
            yield from _walk(top, f"{name}/{one}")
    if history:
        yield _HISTORY


def _own_folders(projects: Path, root: str | os.PathLike[str]) -> list[str]:
    """Return the folders of `projects` that are named after a repository and the folders in it."""
    encoded = {as_name(os.path.abspath(one)) for one in (root, os.path.realpath(root))}
    return [name for name in sorted(os.listdir(projects)) if name in encoded]


def _walk(top: Path, below: str = "") -> Iterator[str]:
    for folder, folders, names in os.walk(top / below):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in names:
            path = Path(folder, name)
            if name.endswith(_SUFFIX) and not name.startswith(".") and name != _INDEX and _regular(path):
                yield str(path.relative_to(top))


def _regular(path: Path) -> bool:
    """Return whether a path is a regular file that is not empty, and no link."""
    try:
        found = os.lstat(path)
    except OSError:
        return False
    return stat.S_ISREG(found.st_mode) and found.st_size > 0


def _index_beside(path: Path) -> Path | None:
    """Return the index of titles in a folder above a session of Codex."""
    return next((folder / _INDEX for folder in list(path.parents)[:6] if _regular(folder / _INDEX)), None)
