"""Files change places between the stage folder and their own: swapped in one step where that is possible.

Nothing here looks at what was displaced; that is for the callers, who know what they expect. Each function falls back
to what the file system has, and what is displaced keeps a name as long as anything has.
"""

from __future__ import annotations

from contextlib import suppress

from memory.storage import fsio


def swap(new: str, old: str, stage: int, name: str, folder: int) -> str:
    """Put the staged file `new` in the place of `name`; return the staged name of what was displaced.

    "" where the file system could not keep it. FileNotFoundError where there was no file.
    """
    try:
        fsio.exchange(new, stage, name, folder)
    except OSError as error:
        if error.errno not in fsio.UNSUPPORTED:
            raise
    else:
        return new
    kept = True
    try:
        fsio.link(name, folder, old, stage)
    except OSError as error:
        if error.errno not in fsio.NO_LINKS:
            raise
        kept = False
    fsio.rename(new, stage, name, folder)
    return old if kept else ""


def create(new: str, stage: int, name: str, folder: int) -> None:
    """Give the staged file its name; FileExistsError where somebody has it already.

    It keeps its staged name as well where it can: until the folder is synced, a power cut may take away the other.
    """
    try:
        fsio.link(new, stage, name, folder)
        return
    except (FileExistsError, FileNotFoundError):
        raise
    except OSError as error:
        if error.errno not in fsio.NO_LINKS:
            raise
    try:
        fsio.rename_new(new, stage, name, folder)
    except OSError as error:
        if error.errno not in fsio.UNSUPPORTED:
            raise
        fsio.rename(new, stage, name, folder)


def take_away(name: str, folder: int, old: str, stage: int) -> None:
    """Move a file into the stage folder."""
    try:
        fsio.rename_new(name, folder, old, stage)
    except OSError as error:
        if error.errno not in fsio.UNSUPPORTED:
            raise
        fsio.rename(name, folder, old, stage)


def swap_back(displaced: str, stage: int, name: str, folder: int, spare: str) -> str:
    """Undo a `swap`; return the staged name of the file that stood there meanwhile."""
    try:
        fsio.exchange(displaced, stage, name, folder)
    except OSError as error:
        if error.errno not in fsio.UNSUPPORTED:
            raise
    else:
        return displaced
    with suppress(OSError):
        fsio.link(name, folder, spare, stage)
    fsio.rename(displaced, stage, name, folder)
    return spare
