"""What is written down outside of a workspace before its files move, and what of it is still to be looked after.

The intent says what a transaction is about to do; after a crash it is finished or discarded by it. The list of
displaced files names what lies in the stage folder because a program that had it open may still write to it. Both
are in the private state folder: a record that came with a clone would be an order to write files. Even so, no path in
them is used before it was checked as any path of a transaction is.
"""

from __future__ import annotations

import os
from contextlib import suppress
from datetime import datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from memory.base.patterns import late
from memory.errors import MemdeckError
from memory.named_tuple import NamedTuple
from memory.storage import fsio
from memory.storage.files import errnos as faults
from memory.storage.files.version import Mark
from memory.storage.state import STATE

if TYPE_CHECKING:
    from memory.storage.places import StateFolder

_HEAD = b"memdeck 1 "
_RESERVE = 64 * 1024
"""Bytes that are set aside for the intent of a change on a disk that is full; enough for a hundred files."""
_LABEL = late(r"[0-9A-Z]{26}\.[0-9]{1,6}")
_STAGED = late(r"[0-9A-Z]{26}\.[0-9]{1,6}\.(new|old)(\.kept)?")


class IntendedFile(NamedTuple):
    """One file of an intent: its path from the workspace on, the label of its staged files, and both sides of it.

    `before` is None for a file that is created, `after` for one that is removed.
    """

    path: str
    label: str
    before: Mark | None
    after: Mark | None


class Intent(NamedTuple):
    """A transaction that has begun to move files; `folders` are those it makes, as paths from the workspace on.

    `time` is ISO 8601, the others are those of `Change`.
    """

    id: str
    time: str
    actor: str
    operation: str
    summary: str
    roles: tuple[IntendedFile, ...]
    folders: tuple[str, ...] = ()

    def encode(self, size: int = 0) -> bytes:
        """Return the bytes of the record, of just this size where it is not longer."""
        return _encode({**self._asdict(), "roles": [_with_marks(role) for role in self.roles]}, size)

    @classmethod
    def decode(cls, data: bytes) -> Intent | None:
        """Read a record back, None where it is torn or none."""
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
    """Return what the names of a system's private files end in, by its folder."""
    return system.replace("/", "+") or "root"


class Displaced(NamedTuple):
    """A file in the stage folder that stood at `path` (from the workspace on) until change `change` took its place.

    `mark` is how it was then. `late` is set once it holds bytes that came later.
    """

    name: str
    path: str
    change: str
    mark: Mark
    late: bool = False


class IntentLog:
    """The records of one memory system of a workspace; used under its lock, between `open` and `close`."""

    def __init__(self, folder: StateFolder, system: str) -> None:
        """`system` tells the systems of a workspace apart (`.aiter`); nothing is looked at yet."""
        self._place = folder
        suffix = suffix_of(system)
        self._intent, self._displaced = f"intent-{suffix}", f"displaced-{suffix}"
        self._reserve = f"reserve-{suffix}"
        self._tidied = False  # Whether what crashes left in the folders beside was removed.
        self._reserved = False  # Whether the intent stands in the room that was set aside.
        # Only what this system writes: another one may be in the middle of writing its own.
        names = [fsio.temporary_name(name) for name in (self._intent, self._displaced, self._reserve)]
        self._temporary = frozenset({*names, fsio.temporary_name(STATE, suffix)})
        self._fd = -1
        self.begun = False
        """Whether the last intent was written."""
        self._listed: bytes | None = None  # The bytes that `known` was read from or written as.
        self.known: tuple[Displaced, ...] = ()
        """The list of displaced files as it was read or written last."""

    @property
    def path(self) -> str:
        """Where the records are, for messages."""
        return str(self._place.path)

    @property
    def where(self) -> str:
        """Where the intent is, for messages."""
        return f"{self._place.path}/{self._intent}"

    @property
    def folder(self) -> int:
        """The private folder, open."""
        return self._fd

    def open(self) -> None:
        """Open the private folder; RefusedError `state.*`, MemdeckError `file.io`."""
        try:
            self._fd = self._place.open()
            fsio.remove_temporary(self._fd, self._temporary)
        except OSError as error:
            raise faults.writing(error, self.path) from error
        if not self._tidied:
            self._tidied = True
            from memory.storage.record import remove_unfinished

            with suppress(OSError):  # The next start tries again.
                remove_unfinished(self._fd)

    def exists(self) -> bool:
        """Tell whether there is a private folder, which may hold an intent."""
        return os.path.lexists(self._place.path)

    def close(self) -> None:
        """Close the folder."""
        fd, self._fd = self._fd, -1
        if fd >= 0:
            os.close(fd)

    def pending(self) -> Intent | None:
        """Return what a crash left unfinished; a torn record, which promised nothing yet, is taken away."""
        data = self._place.read_in(self._intent, self._fd)
        if data is None:
            return None
        intent = Intent.decode(data)
        if intent is None:
            self.end(durable=False)
        return intent

    def waiting(self) -> Intent | None:
        """Return the intent that stands now, asked without the lock; None where that cannot be told."""
        try:
            return Intent.decode(self._place.read(self._intent) or b"")
        except (OSError, MemdeckError):
            return None

    def begin(self, intent: Intent, *, durable: bool) -> None:
        """Write an intent; from here on a durable one is the commit. MemdeckError `file.io`.

        On a disk that is full it is written where room was set aside, if it is not larger than that.
        """
        self._reserved = self.begun = False
        try:
            self._put(self._intent, intent.encode(), durable=durable)
        except MemdeckError as error:
            if not faults.no_room(error):
                raise
            data = intent.encode(_RESERVE)
            try:
                # The next one may need it as well: it goes back there.
                self._reserved = fsio.put_reserved(self._reserve, self._intent, self._fd, data, durable=durable)
            except OSError:
                raise error from None
            if not self._reserved:
                raise
        self.begun = True

    def set_aside(self) -> None:
        """Set room aside for an intent, where none is and there is any."""
        with suppress(OSError):
            try:
                os.lstat(self._reserve, dir_fd=self._fd)
            except FileNotFoundError:
                fsio.put_private(self._reserve, self._fd, b" " * _RESERVE, durable=False)

    def end(self, *, durable: bool) -> None:
        """Take the intent away: all is in its place, or back in it. MemdeckError `file.io`."""
        try:
            try:
                if self._reserved:
                    with suppress(FileNotFoundError):
                        fsio.rename(self._intent, self._fd, self._reserve, self._fd)
                else:
                    fsio.remove(self._intent, self._fd)
            except OSError:
                # What is no record promises nothing.
                fsio.put_private(self._intent, self._fd, b"", durable=durable)
            if durable:
                # It must not come back after a power cut when the files have gone on.
                fsio.sync(self._fd)
        except OSError as error:
            raise faults.writing(error, f"{self.path}/{self._intent}") from error

    def displaced(self) -> tuple[Displaced, ...]:
        """Return what lies in the stage folder for a reason; entries that could not be ours are left out."""
        data = self._place.read_in(self._displaced, self._fd)
        if data != self._listed:
            self._listed, self.known = data, _files(data)
        return self.known

    def noted(self) -> tuple[Displaced, ...]:
        """Return the same without the lock and without an open folder."""
        return _files(self._place.read(self._displaced))

    def keep(self, files: tuple[Displaced, ...]) -> None:
        """Write that list; after a power cut an older one may be back. MemdeckError `file.io`."""
        if files == self.known:
            return
        try:
            data = _encode_files(files) if files else None
            if data is not None:
                self._put(self._displaced, data, durable=False)
            else:
                fsio.remove(self._displaced, self._fd)
        except OSError as error:
            raise faults.writing(error, f"{self.path}/{self._displaced}") from error
        self._listed, self.known = data, files

    def _put(self, name: str, data: bytes, *, durable: bool) -> None:
        try:
            fsio.put_private(name, self._fd, data, durable=durable)
        except OSError as error:
            raise faults.writing(error, f"{self.path}/{name}") from error


def _encode(values: dict[str, Any], size: int = 0) -> bytes:
    """Put a checksum before the values: a record that is not whole must count as none.

    Blanks behind them make up the size; JSON reads over those.
    """
    body = _json(values).encode()
    sealed = _sealed(body)
    while len(sealed) < size:
        # With more digits for its length the head may have grown.
        body += b" " * max(size - len(sealed), 1)
        sealed = _sealed(body)
        if len(sealed) > size:
            body = body[: size - len(sealed)]
            sealed = _sealed(body)
            break
    return sealed


def _encode_files(files: tuple[Displaced, ...]) -> bytes:
    """Return the list of displaced files; each is put into words once."""
    return _sealed(f'{{"files":[{",".join(map(_one, files))}]}}'.encode())


@lru_cache(maxsize=4096)
def _one(file: Displaced) -> str:
    return _json(_with_marks(file))


def _json(values: dict[str, Any]) -> str:
    import json

    return json.dumps(values, ensure_ascii=True, separators=(",", ":"))


def _sealed(body: bytes) -> bytes:
    import zlib

    return _HEAD + f"{len(body)} {zlib.crc32(body):08x}\n".encode() + body


def _decode(data: bytes) -> dict[str, Any]:
    """Return the values of a whole record, nothing of any other."""
    head, _, body = data.partition(b"\n")
    if not head.startswith(_HEAD):
        return {}
    import json
    import zlib

    if head != _HEAD + f"{len(body)} {zlib.crc32(body):08x}".encode():
        return {}
    try:
        values = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return values if isinstance(values, dict) else {}


def _with_marks(record: IntendedFile | Displaced) -> dict[str, Any]:
    """Return a record with its marks as JSON takes them."""
    return {key: value._asdict() if isinstance(value, Mark) else value for key, value in record._asdict().items()}


def _files(data: bytes | None) -> tuple[Displaced, ...]:
    """Read the list of displaced files; entries that could not be ours are left out."""
    found = []
    listed = _decode(data or b"").get("files")
    for value in listed if isinstance(listed, list) else ():
        with suppress(KeyError, TypeError, ValueError, OverflowError):
            name, mark = str(value["name"]), _mark(value["mark"])
            if _STAGED.fullmatch(name) and mark is not None:
                found.append(Displaced(name, str(value["path"]), str(value["change"]), mark, bool(value["late"])))
    return tuple(found)


def _label(text: Any) -> str:
    """Check the label of staged files: it becomes a name in the stage folder and must lead nowhere else."""
    if not isinstance(text, str) or not _LABEL.fullmatch(text):
        raise ValueError("no label of a staged file")
    return text


def _mark(values: Any) -> Mark | None:
    if values is None:
        return None
    ino, size, mtime, ctime = (int(values[key]) for key in ("ino", "size", "mtime_ns", "ctime_ns"))
    return Mark(ino, size, mtime, ctime, str(values["digest"]))
