"""Finds the files of a source that hold sessions."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, NamedTuple

from memory.errors import MemdeckError
from memory.state.paths import as_name, shown_path
from memory.storage.safe_open import open_beneath

MOST_LINE = 32 << 20
"""How many bytes one line of a session or an index may have."""
_TOO_LONG = b"!\n"

_FOLDERS = {"claude-local": ("transcripts", "projects"), "codex-local": ("sessions", "archived_sessions")}
_HISTORY, _INDEX = "history.jsonl", "session_index.jsonl"


class SourceItem(NamedTuple):
    """A file with a session: the type of its source, its path, and its path in the source.

    `titles` are those of the index of the source, by the ids of sessions.
    """

    type: str
    path: Path
    name: str
    titles: Mapping[str, str]


def discover(
    source_type: str,
    path: str | os.PathLike[str],
    *,
    root: str | os.PathLike[str] | None = None,
    home: str | os.PathLike[str] | None = None,
) -> list[SourceItem]:
    """Return the files with sessions that a source holds, sorted by their path in it; empty files are left out.

    `path` is a file, or a folder: for `claude-local` its `transcripts/**/*.jsonl`, `projects/<folder>/**/*.jsonl` and
    `history.jsonl`, for `codex-local` its `sessions/**/*.jsonl` and `archived_sessions/**/*.jsonl`; where a folder has
    none of these, all `*.jsonl` in it. With `root`, a repository, only its own folder of `projects` counts. Links and
    names that begin with a dot are passed over, but `path` itself may be a link. Errors name it as seen from `root`, or
    with `~` in `home`.

    Raises `MemdeckError` (`state.source.missing`, `state.source.unreadable`).
    """
    top = Path(path)
    shown = shown_path(str(top), root, home)
    if not top.exists():
        raise MemdeckError("state.source.missing", f"{shown} does not exist", "give the folder of the sessions")
    if top.is_file():
        return [SourceItem(source_type, top, top.name, {})]
    if not os.access(top, os.R_OK | os.X_OK):
        raise MemdeckError("state.source.unreadable", f"{shown} cannot be read", "change its permissions")
    titles = _titles(top)
    return [SourceItem(source_type, top / name, name, titles) for name in sorted(_names(source_type, top, root))]


def _titles(folder: Path) -> dict[str, str]:
    """Return the titles of sessions by their ids, from the index in a folder; the last line of an id counts."""
    titles: dict[str, str] = {}
    with suppress(OSError, MemdeckError), os.fdopen(open_beneath(_INDEX, folder), "rb") as file:
        for line in lines_of(file):
            with suppress(ValueError, RecursionError, TypeError, KeyError):
                record = json.loads(line)
                titles[str(record["id"])] = str(record["thread_name"] or "")
    return titles


def lines_of(file: BinaryIO) -> Iterator[bytes]:
    """Yield the lines of a file, and one that is no record in the place of a longer one than `MOST_LINE`.

    A repository may come from anyone and name any of its files as a source, so no line is read whole before its length
    is known.
    """
    while raw := file.readline(MOST_LINE):
        fits = True
        while len(raw) == MOST_LINE and not raw.endswith(b"\n"):
            raw, fits = file.readline(MOST_LINE), False
        yield raw if fits else _TOO_LONG


def _names(source_type: str, top: Path, root: str | os.PathLike[str] | None) -> Iterator[str]:
    folders = [name for name in _FOLDERS[source_type] if (top / name).is_dir() and not (top / name).is_symlink()]
    history = source_type == "claude-local" and _is_session(top / _HISTORY)
    if not folders and not history:
        folders = [""]
    elif "projects" in folders and root is not None:
        own = sorted({as_name(os.path.abspath(root)), as_name(os.path.realpath(root))})
        folders = [name for name in folders if name != "projects"] + [f"projects/{name}" for name in own]
    for name in folders:
        yield from _walk(top, name)
    if history:
        yield _HISTORY


def _walk(top: Path, below: str) -> Iterator[str]:
    for folder, folders, names in os.walk(top / below):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in names:
            path = Path(folder, name)
            if name.endswith(".jsonl") and not name.startswith(".") and name != _INDEX and _is_session(path):
                yield str(path.relative_to(top))


def _is_session(path: Path) -> bool:
    """Return whether a path is a regular file that is not empty, and no link."""
    with suppress(OSError):
        found = os.lstat(path)
        return stat.S_ISREG(found.st_mode) and found.st_size > 0
    return False
