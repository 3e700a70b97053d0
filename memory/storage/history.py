"""The changes that were made, newest first, and taking them back; for now as long as the process lives."""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from memory.errors import ConflictError, NotFoundError

from .changes import Change
from .delta import Delta
from .steps import conflict

if TYPE_CHECKING:
    from .store import Store

_KEEP_BYTES = 50_000_000
_KEEP_NEWEST = 5


@dataclass(frozen=True, slots=True)
class RecordedFile:
    """One file of a recorded change: how its bytes differ, and what identifies them on both sides.

    `before` and `after` are `(size, hash)`, None where there was no file.
    """

    path: str
    delta: Delta
    before: tuple[int, int] | None
    after: tuple[int, int] | None


@dataclass(frozen=True, slots=True)
class Record:
    """A change as the history lists it; the names are those of `Change`.

    `files` is empty where the bytes were thinned out, and then the change cannot be taken back any more;
    `paths` always names the files.
    """

    id: str
    time: datetime
    actor: str
    operation: str
    summary: str
    paths: tuple[str, ...]
    files: tuple[RecordedFile, ...]
    undone_by: str | None = None
    undoes: str | None = None
    redoes: str | None = None

    @property
    def size(self) -> int:
        """How many bytes of files it keeps."""
        return sum(file.delta.size for file in self.files)


class History:
    """Records changes and takes them back, one's own and newest first; safe to share between threads."""

    def __init__(self) -> None:
        """Start empty."""
        self._records: list[Record] = []
        self._mutex = threading.RLock()

    def record(self, change: Change) -> None:
        """Note a committed change; transactions call it. Old ones lose their bytes over 50 MB, the newest
        five never.
        """
        # An undo keeps no bytes of its own: they are those of the change that it took back.
        repeats = change.undoes is not None or change.redoes is not None
        files = () if repeats else tuple(_recorded(file.path, file.before, file.after) for file in change.files)
        record = Record(
            change.id,
            change.time,
            change.actor,
            change.operation,
            change.summary,
            tuple(file.path for file in change.files),
            files,
            undoes=change.undoes,
            redoes=change.redoes,
        )
        with self._mutex:
            if change.undoes is not None:
                self._mark(change.undoes, change.id)
            if change.redoes is not None:
                self._mark(change.redoes, None)
            self._records.append(record)
            self._thin()

    def list(self, limit: int = 0) -> tuple[Record, ...]:
        """Return the newest `limit` changes, newest first; 0 for all."""
        with self._mutex:
            newest = self._records[::-1]
        return tuple(newest[:limit] if limit else newest)

    def undo(self, store: Store, *, actor: str, now: datetime) -> Change:
        """Take back the newest change of this actor that stands, and return the change which did it.

        NotFoundError `change.none` where there is none, ConflictError `document.conflict` where one of its
        files has been changed since, ConflictError `change.thinned` where its bytes are no longer kept.
        """
        with self._mutex:
            record = next((r for r in reversed(self._records) if r.actor == actor and _stands(r)), None)
        if record is None:
            raise NotFoundError("change.none", f"there is no change by {actor} to undo")
        return self._turn(store, record, actor, now, back=True)

    def redo(self, store: Store, *, actor: str, now: datetime) -> Change:
        """Bring back the change of this actor that was undone last; a new change in between ends that.

        Errors as `undo`.
        """
        with self._mutex:
            record = self._undone(actor)
        if record is None:
            raise NotFoundError("change.none", f"there is no undone change by {actor} to redo")
        return self._turn(store, record, actor, now, back=False)

    def _undone(self, actor: str) -> Record | None:
        """Find what the last undo of this actor took back, unless the actor went on to something new."""
        by_id = {record.id: record for record in self._records}
        for record in reversed(self._records):
            if record.actor != actor or record.redoes is not None:
                continue
            if record.undoes is None:
                # A change that was undone does not end the walk, one that stands and is newer than its undo
                # does.
                if record.undone_by is None and not self._redone(record.id):
                    return None
                continue
            undone = by_id.get(record.undoes)
            if undone is not None and undone.undone_by == record.id:
                return undone
        return None

    def _redone(self, change_id: str) -> bool:
        return any(record.redoes == change_id for record in self._records)

    def _turn(self, store: Store, record: Record, actor: str, now: datetime, *, back: bool) -> Change:
        """Take a change back, or bring it back, in one transaction over all its files."""
        if not record.files:
            raise ConflictError(
                "change.thinned",
                f"the bytes of change {record.id} are no longer kept",
                "undo it by hand",
                id=record.id,
            )
        name = "undo" if back else "redo"
        which = {"undoes": record.id} if back else {"redoes": record.id}
        with store.transaction(name, actor=actor, now=now, **which) as transaction:
            for file in record.files:
                here, there = (file.after, file.before) if back else (file.before, file.after)
                base = transaction.read(file.path).base
                if _identity(base) != here:
                    raise conflict([store.shown(file.path)])
                if there is None:
                    assert base is not None
                    transaction.remove(file.path, base=base)
                else:
                    delta = file.delta.inverse() if back else file.delta
                    transaction.write(file.path, delta.apply(base or b""), base=base)
            return transaction.commit(f"{name}: {record.summary or record.operation}")

    def _mark(self, change_id: str, undone_by: str | None) -> None:
        for index, record in enumerate(self._records):
            if record.id == change_id:
                self._records[index] = replace(record, undone_by=undone_by)

    def _thin(self) -> None:
        """Let go of the oldest bytes when they grow over the budget."""
        excess = sum(record.size for record in self._records) - _KEEP_BYTES
        for index, record in enumerate(self._records[:-_KEEP_NEWEST]):
            if excess <= 0:
                return
            excess -= record.size
            self._records[index] = replace(record, files=())


def _stands(record: Record) -> bool:
    """Whether a change is one to undo: neither undone already nor itself an undo or redo."""
    return record.undone_by is None and record.undoes is None and record.redoes is None


def _recorded(path: str, before: bytes | None, after: bytes | None) -> RecordedFile:
    return RecordedFile(path, Delta.between(before or b"", after or b""), _identity(before), _identity(after))


def _identity(data: bytes | None) -> tuple[int, int] | None:
    """Tell bytes apart without keeping them: Python's keyed 64-bit hash, at 4 GB/s and remembered by the
    object.
    """
    return None if data is None else (len(data), hash(data))
