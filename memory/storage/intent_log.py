"""The intent log: written outside a workspace before its files are replaced; and the list of displaced files.

The intent says what a transaction is about to do; after a crash, the transaction is finished or discarded by it. The
list of displaced files names the files in the stage folder that a program which had them open may still write to. Both
are in the private state folder: a record that came with a clone would be an order to write files. Even so, each path in
them is checked like any path of a transaction before it is used.
"""

from __future__ import annotations

import json
import os
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from typing import Any, NamedTuple

from memory.errors import MemdeckError, write_failed

from . import fsio
from .own_folders import STATE, StateFolder
from .safe_open import Mark

_HEAD = b"memdeck 1 "
_LABEL = re.compile(r"[0-9A-Z]{26}\.[0-9]{1,6}")
_STAGED = re.compile(r"[0-9A-Z]{26}\.[0-9]{1,6}\.(new|old)(\.kept)?")


class IntendedFile(NamedTuple):
    """One file of an intent: its path in the workspace, the label of its staged files, and its marks before and after.

    `before` is None for a file that is created, `after` for one that is removed.
    """

    path: str
    label: str
    before: Mark | None
    after: Mark | None


class Intent(NamedTuple):
    """A transaction that has begun to move files; `folders` are those it makes, as paths in the workspace.

    `time` is ISO 8601, the others are those of `Change`.
    """

    id: str
    time: str
    actor: str
    operation: str
    summary: str
    roles: tuple[IntendedFile, ...]
    folders: tuple[str, ...] = ()

    def encode(self) -> bytes:
        """Return the bytes of the record."""
        return _sealed({**self._asdict(), "roles": [_with_marks(role) for role in self.roles]})

    @classmethod
    def decode(cls, data: bytes) -> Intent | None:
        """Read a record back, None where it is torn or not a record."""
        values = _decode(data)
        try:
            roles = tuple(
                IntendedFile(str(r["path"]), _label(r["label"]), _mark(r["before"]), _mark(r["after"]))
                for r in values["roles"]
            )
            folders = tuple(str(path) for path in values["folders"])
            id_, time, actor, operation = (str(values[key]) for key in ("id", "time", "actor", "operation"))
            if datetime.fromisoformat(time).tzinfo is None:
                return None
            return cls(id_, time, actor, operation, str(values["summary"]), roles, folders)
        except (KeyError, TypeError, ValueError, OverflowError):
            return None


def suffix_of(system: str) -> str:
    """Return the suffix of the names of a system's private files, by its folder."""
    return system.replace("/", "+") or "root"


class Displaced(NamedTuple):
    """A file in the stage folder that was at `path` (in the workspace) until change `change` replaced it.

    `mark` is its mark at that time. `late` is set once it holds bytes that came later.
    """

    name: str
    path: str
    change: str
    mark: Mark
    late: bool = False


class IntentLog:
    """The records of one memory system of a workspace; used under its lock, between `open` and `close`."""

    def __init__(self, folder: StateFolder, system: str) -> None:
        """`system` identifies the system in its workspace (`.aiter`); nothing is read yet."""
        self._place = folder
        self._suffix = suffix_of(system)
        self._intent, self._displaced = f"intent-{self._suffix}", f"displaced-{self._suffix}"
        self.where = f"{folder.path}/{self._intent}"  # Where the intent is, for messages.
        self.folder = -1  # The private folder, open.
        self.known: tuple[Displaced, ...] = ()
        """The list of displaced files as it was last read or written."""

    def open(self) -> None:
        """Open the private folder; RefusedError `state.*`, MemdeckError `file.io`."""
        self.folder = self._place.open()
        # Only this system's files: another system may be writing its own.
        left = (fsio.temporary_name(name) for name in (self._intent, self._displaced))
        with _io(self.where):
            for name in (*left, fsio.temporary_name(STATE, self._suffix)):
                fsio.remove(name, self.folder)

    def close(self) -> None:
        """Close the folder."""
        folder, self.folder = self.folder, -1
        if folder >= 0:
            os.close(folder)

    def pending(self) -> Intent | None:
        """Return the intent that a crash left; a torn record, from before anything moved, is removed."""
        data = self._place.read_in(self._intent, self.folder)
        intent = Intent.decode(data or b"")
        if data is not None and intent is None:
            self.end(durable=False)
        return intent

    def waiting(self) -> Intent | None:
        """Return the current intent, read without the lock; None where there is none or it cannot be read."""
        try:
            return Intent.decode(self._place.read(self._intent) or b"")
        except (OSError, MemdeckError):
            return None

    def begin(self, intent: Intent, *, durable: bool) -> None:
        """Write an intent; from here on a durable one is the commit. MemdeckError `file.io`."""
        with _io(self.where):
            fsio.put_private(self._intent, self.folder, intent.encode(), durable=durable)

    def end(self, *, durable: bool) -> None:
        """Remove the intent: all files are in place or put back. MemdeckError `file.io`."""
        with _io(self.where):
            try:
                fsio.remove(self._intent, self.folder)
            except OSError:
                # An empty file counts as no intent.
                fsio.put_private(self._intent, self.folder, b"", durable=durable)
            if durable:
                # It must not come back after a power cut when the files have gone on.
                fsio.sync(self.folder)

    def displaced(self) -> tuple[Displaced, ...]:
        """Return the displaced files in the stage folder; invalid entries of the list are left out."""
        self.known = _files(self._place.read_in(self._displaced, self.folder))
        return self.known

    def noted(self) -> tuple[Displaced, ...]:
        """Return the same list without the lock and without an open folder."""
        return _files(self._place.read(self._displaced))

    def keep(self, files: tuple[Displaced, ...]) -> None:
        """Write the list of displaced files; a power cut may bring an older one back. MemdeckError `file.io`."""
        if files == self.known:
            return
        with _io(f"{self._place.path}/{self._displaced}"):
            if files:
                data = _sealed({"files": [_with_marks(file) for file in files]})
                fsio.put_private(self._displaced, self.folder, data, durable=False)
            else:
                fsio.remove(self._displaced, self.folder)
        self.known = files


@contextmanager
def _io(path: str) -> Iterator[None]:
    """Turn an OSError of the block into the MemdeckError that names a path."""
    try:
        yield
    except OSError as error:
        raise write_failed(error, path) from error


def _sealed(values: dict[str, Any]) -> bytes:
    """Return the bytes of a record, with its length and checksum in front: an incomplete record must count as none."""
    body = json.dumps(values, ensure_ascii=True, separators=(",", ":")).encode()
    return _HEAD + f"{len(body)} {zlib.crc32(body):08x}\n".encode() + body


def _decode(data: bytes) -> dict[str, Any]:
    """Return the values of a complete record, {} for any other bytes."""
    head, _, body = data.partition(b"\n")
    if not head.startswith(_HEAD):
        return {}
    import json

    if head != _HEAD + f"{len(body)} {zlib.crc32(body):08x}".encode():
        return {}
    try:
        values = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return values if isinstance(values, dict) else {}


def _with_marks(record: IntendedFile | Displaced) -> dict[str, Any]:
    """Return a record as a dict with its marks as dicts, for JSON."""
    return {key: value._asdict() if isinstance(value, Mark) else value for key, value in record._asdict().items()}


def _files(data: bytes | None) -> tuple[Displaced, ...]:
    """Read the list of displaced files; invalid entries are left out."""
    found = []
    listed = _decode(data or b"").get("files")
    for value in listed if isinstance(listed, list) else ():
        with suppress(KeyError, TypeError, ValueError, OverflowError):
            name, mark = str(value["name"]), _mark(value["mark"])
            if _STAGED.fullmatch(name) and mark is not None:
                found.append(Displaced(name, str(value["path"]), str(value["change"]), mark, bool(value["late"])))
    return tuple(found)


def _label(text: Any) -> str:
    """Check the label of staged files: it becomes a name in the stage folder and must not lead elsewhere."""
    if not isinstance(text, str) or not _LABEL.fullmatch(text):
        raise ValueError("no label of a staged file")
    return text


def _mark(values: Any) -> Mark | None:
    if values is None:
        return None
    ino, size, mtime = (int(values[key]) for key in ("ino", "size", "mtime_ns"))
    return Mark(ino, size, mtime, str(values["digest"]))
