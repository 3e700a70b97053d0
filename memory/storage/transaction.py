"""The one way in which files change: locked, compared with what is on disk now, staged, synced, replaced."""

from __future__ import annotations

import os
from datetime import datetime
from types import TracebackType
from typing import TYPE_CHECKING

from memory.errors import BusyError, RefusedError

from . import faults, fsio
from .beneath import parts_of
from .changes import Change, FileChange, new_id
from .places import OpenFolder
from .steps import Step, conflict, half_done
from .version import Stored

if TYPE_CHECKING:
    from .store import Store


class Transaction:
    """A change of one or more files, all or nothing; `Store.transaction` makes it.

    Inside the `with` block the workspace's lock is held. Nothing is changed without `commit`, and everything
    that fails raises before or puts back what was replaced already. Paths are relative to the store's root.
    Files take their places in the order of the `write` calls, removals last: a caller that moves an entry
    writes its destination first, so that a crash in the middle doubles it and never loses it.
    """

    def __init__(
        self,
        store: Store,
        operation: str,
        *,
        actor: str,
        now: datetime,
        undoes: str | None = None,
        redoes: str | None = None,
    ) -> None:
        """Keep what the change is called and who makes it when; the lock is taken on entry."""
        self.operation = operation
        self.actor = actor
        self.now = now
        self._store = store
        self._undoes = undoes
        self._redoes = redoes
        self._files: dict[str, FileChange] = {}
        self._folders: list[str] = []
        self._open: OpenFolder | None = None
        self._committed = False

    def __enter__(self) -> Transaction:
        """Take the lock and clear away what a crash left; BusyError `file.locked`."""
        self._open = self._store.place.open()
        try:
            self._store.lock.acquire(self._open.folder, self.operation, self.now)
            try:
                fsio.empty_folder(self._open.stage)
            except OSError as error:
                self._store.lock.release()
                raise faults.writing(error, self._store.place.path) from error
        except BaseException:
            self._open.close()
            self._open = None
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Release the lock; what was not committed never happened."""
        if self._open is not None:
            self._store.lock.release()
            self._open.close()
            self._open = None

    def read(self, path: str) -> Stored:
        """Read a file under the lock; errors as `Store.read`. Writes of this transaction are not seen."""
        return self._store.read(path)

    def write(self, path: str, data: bytes, *, base: bytes | None) -> None:
        """Plan a file's new bytes; `base` is what the caller started from, None if there must be no file yet.

        Bytes that are the base itself are dropped. ValueError when the path is planned already.
        """
        self._plan(FileChange(path, base, data))

    def remove(self, path: str, *, base: bytes) -> None:
        """Plan to remove a file that still holds `base`."""
        self._plan(FileChange(path, base, None))

    def folder(self, path: str) -> None:
        """Plan that a folder is there after the commit, empty or not."""
        self._store.check_path(path)
        self._folders.append(path)

    def _plan(self, file: FileChange) -> None:
        self._store.check_path(file.path)
        if file.path in self._files:
            raise ValueError(f"{file.path} is planned already")
        self._files[file.path] = file

    def commit(self, summary: str = "") -> Change:
        """Do it, durably, and return what was done; note it in the store's history.

        All files are compared with their bases first: ConflictError `document.conflict` (`details["files"]`)
        writes nothing. RefusedError `file.*` for what may not be written, MemdeckError `file.io` with `errno`
        for a disk that fails, `change.incomplete` if a file could then not be put back. RuntimeError outside
        the `with` block and the second time.
        """
        if self._open is None or self._committed:
            raise RuntimeError("a transaction is committed once, inside its with block")
        self._committed = True
        planned = [file for file in self._files.values() if file.before != file.after]
        planned.sort(key=lambda file: file.after is None)
        change = Change(
            new_id(self.now),
            self.now,
            self.actor,
            self.operation,
            summary,
            tuple(planned),
            undoes=self._undoes,
            redoes=self._redoes,
        )
        if planned or self._folders:
            self._carry_out(change, self._open)
        if planned:
            self._store.history.done(change.id)
        return change

    def _carry_out(self, change: Change, places: OpenFolder) -> None:
        """Check everything, stage everything, then put one after the other in its place."""
        store = self._store
        steps = [
            Step(file, store.workspace, store.shown(file.path), places.stage, f"{change.id}.{number}")
            for number, file in enumerate(change.files)
        ]
        made: list[str] = []
        failed = True
        try:
            if changed := [step.shown for step in steps if not step.check()]:
                raise conflict(changed)
            if store.state is not None:
                store.state.record(last_change=change.time)
            for path in self._folders:
                self._make_folder(path, made)
            for step in steps:
                step.stage()
            if not store.lock.intact():
                raise BusyError("file.lock_lost", "somebody removed the workspace's lock file", "try again")
            if change.files:
                store.history.begin(change)
            self._put_in_place(steps, places)
            for step in steps:
                store.remember(step.file.path, step.finish())
            failed = False
        finally:
            for step in steps:
                step.tidy(failed=failed)
            if failed:
                fsio.remove_folders(made, store.workspace)

    def _put_in_place(self, steps: list[Step], places: OpenFolder) -> None:
        """Rename and sync; when one fails, put back those before it."""
        begun: list[Step] = []
        try:
            if len(steps) > 1:
                self._sync([places.stage])
            for step in steps:
                begun.append(step)
                step.apply()
            self._sync([*_distinct(steps), places.stage])
        except BaseException as error:
            if lost := [step.shown for step in reversed(begun) if not step.put_back()]:
                raise half_done(lost, error) from error
            raise

    def _sync(self, folders: list[int]) -> None:
        for folder in folders:
            try:
                fsio.sync(folder)
            except OSError as error:
                raise faults.writing(error, self._store.place.path) from error

    def _make_folder(self, path: str, made: list[str]) -> None:
        shown = self._store.shown(path)
        try:
            os.close(fsio.open_folder(shown.split("/"), self._store.workspace, made))
        except FileNotFoundError as error:
            raise faults.writing(error, shown) from error


def _distinct(steps: list[Step]) -> list[int]:
    """Return one descriptor for each different folder of the steps."""
    folders = {(found.st_dev, found.st_ino): step.folder for step in steps for found in (os.fstat(step.folder),)}
    return list(folders.values())


def check_path(path: str, private: str) -> None:
    """Raise RefusedError `file.outside` for a path outside the workspace or in memdeck's own folder."""
    parts = parts_of(path)
    if parts[: private.count("/") + 1] == private.split("/"):
        raise RefusedError("file.outside", f"{path} lies in memdeck's own folder", file=path)
