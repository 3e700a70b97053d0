"""Replaces a file outside of every memory system: what git hands to a merge driver, settings of other programs."""

from __future__ import annotations

import os
import stat as st
from pathlib import Path

from memory.errors import ConflictError, RefusedError, not_regular, writing
from memory.storage import fsio
from memory.storage.safe_open import read

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


def read_file(path: Path) -> bytes | None:
    """Return the bytes of a regular file of at most 256 MiB, None where there is none; errors as `safe_open.read`."""
    path = path.resolve()
    return read(path.name, path.parent).base


def replace_file(path: Path, data: bytes, *, base: bytes | None) -> None:
    """Write a file in one step, with the mode of the existing one (0644 for a new one).

    `base` is what the caller started from, None where there was no file: ConflictError `document.conflict` where the
    file now holds something else. A link is followed, and its target replaced. RefusedError `file.not_regular`,
    MemdeckError `file.io`.
    """
    with writing(path):
        path = path.resolve()
        found = path.stat() if path.exists() else None
        if found is not None and not st.S_ISREG(found.st_mode):
            raise not_regular(str(path), found.st_mode)
        if (None if found is None else path.read_bytes()) != base:
            raise _changed(path)
        if not path.parent.is_dir():
            raise RefusedError("file.not_folder", f"{path.parent} is not a folder", file=str(path))
        with fsio.closing(os.open(path.parent, _FOLDER)) as folder:
            fsio.put(path.name, folder, data, like=found, mode=0o644)


def remove_left_over(path: Path) -> None:
    """Remove what a killed `replace_file` of this file left beside it."""
    path = path.resolve()
    if path.parent.is_dir():
        remove_file(path.with_name(fsio.temporary_name(path.name)))


def make_parents(path: Path) -> tuple[Path, ...]:
    """Make the parent folders of a file, under the umask; return those that were missing, the outermost first."""
    missing = tuple(reversed([folder for folder in path.parents if not folder.exists()]))
    fsio.make_folder(path.parent)
    return missing


def remove_file(path: Path, *, base: bytes | None = None) -> None:
    """Unlink a file, if there is one. With `base`, ConflictError where the file holds other bytes."""
    with writing(path), fsio.closing(os.open(path.parent, _FOLDER)) as folder:
        if base is not None and path.exists() and path.read_bytes() != base:
            raise _changed(path)
        fsio.remove(path.name, folder)


def allow_replacing(path: Path) -> None:
    """Raise RefusedError `file.read_only` for a read-only file, although it could be replaced."""
    with writing(path):
        mode = path.resolve().stat().st_mode if path.exists() else 0o222
    if not mode & 0o222:
        raise RefusedError("file.read_only", f"{path} is read-only", "allow writing to it first", file=str(path))


def _changed(path: Path) -> ConflictError:
    return ConflictError("document.conflict", f"{path} was changed by another program", "try again", file=str(path))
