"""Replaces a file outside of every memory system: what git hands to a merge driver, settings of other programs."""

from __future__ import annotations

import os
import stat as st
from contextlib import suppress
from pathlib import Path

from memory.errors import ConflictError, RefusedError
from memory.storage import fsio

from . import errnos


def read_file(path: Path) -> bytes | None:
    """Return the bytes of a regular file of at most 256 MiB, None where there is none; errors as `safe_open.read`."""
    from .safe_open import read

    return read(path.name, path.parent).base


def replace_file(path: Path, data: bytes, *, base: bytes | None) -> None:
    """Write a file in one step, with the mode of the one that is there (0644 for a new one).

    `base` is what the caller started from, None where there was no file: ConflictError `document.conflict` where
    the file holds something else by now. A link is followed, and its target replaced. RefusedError
    `file.not_regular`, MemdeckError `file.io`.
    """
    try:
        path = path.resolve()
        found = path.stat() if path.exists() else None
        if found is not None and not st.S_ISREG(found.st_mode):
            raise errnos.not_regular(str(path), found.st_mode)
        if (None if found is None else path.read_bytes()) != base:
            raise ConflictError(
                "document.conflict", f"{path} was changed by another program", "try again", file=str(path)
            )
        if not path.parent.is_dir():
            raise RefusedError("file.not_folder", f"{path.parent} is no folder", file=str(path))
        folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            temporary = fsio.temporary_name(path.name, str(os.getpid()))
            fsio.remove(temporary, folder)
            fd = fsio.stage(temporary, folder, data, found, mode=None if found is not None else 0o644)
            try:
                if found is not None:
                    with suppress(OSError):
                        os.fchmod(fd, st.S_IMODE(found.st_mode))
            finally:
                os.close(fd)
            try:
                fsio.rename(temporary, folder, path.name, folder)
            except OSError:
                fsio.remove(temporary, folder)
                raise
            fsio.sync(folder)
        finally:
            os.close(folder)
    except OSError as error:
        raise errnos.writing(error, str(path)) from error


def make_parents(path: Path) -> None:
    """Make the folders above a file, as the umask has it."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise errnos.writing(error, str(path.parent)) from error


def remove_file(path: Path) -> None:
    """Unlink a file; nothing happens where there is none."""
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise errnos.writing(error, str(path)) from error
