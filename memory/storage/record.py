"""One small file in a private folder outside of every workspace, read whole and rewritten whole under a lock."""

from __future__ import annotations

import os
import stat as st
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from memory.errors import RefusedError
from memory.storage import fsio
from memory.storage.files import errnos as faults
from memory.storage.files.lock import NAME as LOCK
from memory.storage.files.lock import Lock, held_if_free
from memory.storage.files.version import ABSENT, MISSING, FileVersion, Stored

if TYPE_CHECKING:
    from memory.storage.places import StateFolder

_DAMAGED = ".damaged"
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def remove_unfinished(state: int) -> None:
    """Remove what crashes left of records while they were rewritten, in all folders of an open state folder.

    Where another process holds the lock of a folder it may be writing just now: nothing is removed there.
    """
    with os.scandir(state) as entries:
        folders = [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
    for name in folders:
        folder = os.open(name, _FOLDER, dir_fd=state)
        try:
            left = [one for one in os.listdir(folder) if fsio.is_temporary(one)]
            if left:
                with held_if_free(folder) as held:
                    fsio.remove_temporary(folder, left if held else ())
        finally:
            os.close(folder)


class PrivateRecord:
    """A file (0600) in a subfolder (0700) of a workspace's state folder; safe between processes and threads."""

    def __init__(self, state: StateFolder, folder: str, name: str, timeout: float = 5.0) -> None:
        """`folder` and `name` are plain names; nothing is read or made yet. `timeout` is in seconds."""
        self._state = state
        self._folder = folder
        self._name = name
        self._lock = Lock(f"{folder}/{LOCK}", timeout)

    @property
    def path(self) -> Path:
        """Where the file is, made or not."""
        return self._state.path / self._folder / self._name

    def version(self) -> FileVersion:
        """Look at the file in one call, to tell whether it is still the one that was read."""
        self._state.check()
        return fsio.version_of(f"{self._folder}/{self._name}", self._state.path)

    def read(self) -> Stored:
        """Return the bytes, `MISSING` where there is no file.

        RefusedError `state.*` for a folder that must not be relied on, and for a file that is a link, another user's,
        writable by others, or has a second name: somebody else may have put it there.
        """
        forbidden = self._state.check()
        self._check(self.path.parent, st.S_ISDIR, forbidden)
        if not self._check(self.path, st.S_ISREG, forbidden):
            return MISSING
        return fsio.read(f"{self._folder}/{self._name}", self._state.path)

    def _check(self, path: Path, kind: Callable[[int], bool], forbidden: int) -> bool:
        """Raise RefusedError unless what is there is ours alone; False where there is nothing.

        `forbidden` are the permission bits that it may not have.
        """
        try:
            found = os.lstat(path)
        except FileNotFoundError:
            return False
        except OSError as error:
            raise faults.reading(error, str(path)) from error
        wrong = None
        if not kind(found.st_mode):
            wrong = f"is {faults.kind_of(found.st_mode)}"
        elif found.st_uid != os.geteuid():
            wrong = "belongs to another user"
        elif found.st_mode & forbidden:
            wrong = "can be written by others" if found.st_mode & 0o022 else "can be read by others"
        elif st.S_ISREG(found.st_mode) and found.st_nlink > 1:
            wrong = "has a second name"
        if wrong is not None:
            raise RefusedError("state.foreign_file", f"{path} {wrong}", "look at it, then remove it", file=str(path))
        return True

    def update(self, change: Callable[[bytes | None], bytes], *, command: str, now: datetime) -> None:
        """Replace the file by what `change` makes of its bytes, under the lock and in one step.

        Errors of `change` pass; BusyError `file.locked`, RefusedError `state.*`, MemdeckError `file.*`.
        """
        self._locked(lambda folder: self._replace(folder, change), command, now)

    def _replace(self, folder: int, change: Callable[[bytes | None], bytes]) -> None:
        stored = self.read()
        data = change(stored.base)
        if data != stored.base:
            fsio.put_private(self._name, folder, data)

    def set_aside(self, is_damaged: Callable[[bytes], bool], *, command: str, now: datetime) -> Path | None:
        """Give a damaged file another name, under the lock; return that name, None where nothing was damaged."""
        moved: list[Path] = []

        def work(folder: int) -> None:
            stored = self.read()
            if stored.version != ABSENT and is_damaged(stored.data):
                fsio.rename(self._name, folder, self._name + _DAMAGED, folder)
                moved.append(self.path.with_name(self._name + _DAMAGED))

        self._locked(work, command, now)
        return moved[0] if moved else None

    def _locked(self, work: Callable[[int], None], command: str, now: datetime) -> None:
        try:
            state = self._state.open()
            try:
                folder = fsio.private_folder(self._folder, state, str(self.path.parent))
            finally:
                os.close(state)
            try:
                self._lock.acquire(folder, command, now)
                try:
                    work(folder)
                finally:
                    self._lock.release()
            finally:
                os.close(folder)
        except OSError as error:
            raise faults.writing(error, str(self.path)) from error
