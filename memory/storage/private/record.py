"""One small file in a private folder outside of every workspace, read whole and rewritten whole under a lock; and the
decisions of a person on a workspace in such a file.
"""

from __future__ import annotations

import json
import os
import stat as st
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

from memory.errors import ConfigError, RefusedError, UsageError, file_kind, reading, writing
from memory.storage import fsio
from memory.storage.lock import NAME as LOCK
from memory.storage.lock import Lock
from memory.storage.own_folders import PrivateState, StateFolder
from memory.storage.safe_open import ABSENT, MISSING, FileVersion, Stored, read, version_of

Value = TypeVar("Value")
_DAMAGED = ".damaged"
_VERSION = 1


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
        """The path of the file, which may not exist yet."""
        return self._state.path / self._folder / self._name

    def version(self) -> FileVersion:
        """Return the file's version in one call, to check whether it is still the file that was read."""
        self._state.check()
        return version_of(f"{self._folder}/{self._name}", self._state.path)

    def read(self) -> Stored:
        """Return the bytes, `MISSING` where there is no file.

        RefusedError `state.*` for a folder that cannot be trusted, and for a file that is a link, another user's,
        writable by others, or has a second name: someone else may have put it there.
        """
        forbidden = self._state.check()
        self._check(self.path.parent, st.S_ISDIR, forbidden)
        if not self._check(self.path, st.S_ISREG, forbidden):
            return MISSING
        return read(f"{self._folder}/{self._name}", self._state.path, shown=str(self.path))

    def _check(self, path: Path, kind: Callable[[int], bool], forbidden: int) -> bool:
        """Raise RefusedError unless the file or folder is ours alone; return False where it is missing.

        `forbidden` are the permission bits that it must not have.
        """
        with reading(path):
            try:
                found = os.lstat(path)
            except FileNotFoundError:
                return False
        wrong = None
        if not kind(found.st_mode):
            wrong = f"is {file_kind(found.st_mode)}"
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
        """Replace the file's bytes by the result of `change`, under the lock and in one step.

        Errors of `change` are passed on; BusyError `file.locked`, RefusedError `state.*`, MemdeckError `file.*`.
        """
        self._locked(lambda folder: self._replace(folder, change), command, now)

    def _replace(self, folder: int, change: Callable[[bytes | None], bytes]) -> None:
        stored = self.read()
        data = change(stored.base)
        if data != stored.base:
            fsio.put(self._name, folder, data)

    def set_aside(self, is_damaged: Callable[[bytes], bool], *, command: str, now: datetime) -> Path | None:
        """Rename a damaged file, under the lock; return its new path, None where the file was not damaged."""
        moved: list[Path] = []

        def work(folder: int) -> None:
            stored = self.read()
            if stored.version != ABSENT and is_damaged(stored.data):
                fsio.rename(self._name, folder, self._name + _DAMAGED, folder)
                moved.append(self.path.with_name(self._name + _DAMAGED))

        self._locked(work, command, now)
        return moved[0] if moved else None

    def _locked(self, work: Callable[[int], None], command: str, now: datetime) -> None:
        with writing(self.path), self._state.opened(self._folder) as folder:
            self._lock.acquire(folder, command, now)
            try:
                work(folder)
            finally:
                self._lock.release()


class Settings(NamedTuple, Generic[Value]):
    """One value in `folder`/`name`, as a versioned JSON document.

    `parse` makes the value of a document and may raise UsageError, or what comes of JSON of another shape; `document`
    goes the other way. What cannot be read is a ConfigError `code` of these words, never the `unset` value: what a
    person settled would be overruled by a damaged file.
    """

    folder: str
    name: str
    unset: Value
    parse: Callable[[dict[str, Any]], Value]
    document: Callable[[Value], dict[str, Any]]
    code: str
    what: str
    remedy: str

    def read(self, state: PrivateState) -> Value:
        """Return the value, `unset` where nothing is kept; ConfigError `code`, RefusedError `state.*`."""
        record = self._record(state)
        stored = record.read()
        return self.unset if not stored.exists else self._value(stored.data, str(record.path))

    def change(self, state: PrivateState, change: Callable[[Value], Value], *, command: str, now: datetime) -> Value:
        """Replace the value by what `change` makes of it, under a lock, and return it; errors as `read`."""
        record = self._record(state)
        made = self.unset

        def work(data: bytes | None) -> bytes:
            nonlocal made
            made = change(self.unset if data is None else self._value(data, str(record.path)))
            return json.dumps({"version": _VERSION, **self.document(made)}, indent=1).encode() + b"\n"

        record.update(work, command=command, now=now)
        return made

    def _record(self, state: PrivateState) -> PrivateRecord:
        return PrivateRecord(state.folder, self.folder, self.name)

    def _value(self, data: bytes, path: str) -> Value:
        try:
            document = json.loads(data)
            if document["version"] != _VERSION:
                raise ValueError("another version")
            return self.parse(document)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError, UsageError) as error:
            words = f"{self.what} cannot be read: {path} ({type(error).__name__})"
            raise ConfigError(self.code, words, self.remedy, file=path, line=1) from None
