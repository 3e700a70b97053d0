"""The changes that were made, by whomever, newest first; and taking them back.

A change goes back byte for byte while its files are as it left them. Where a file moved on, only the entries and lines
of the change go back, and only if nobody touched those since; newer bytes are never overwritten by older ones.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from memory.document.compare import Region, apply, inverted
from memory.document.takeback import take_back
from memory.errors import AmbiguousError, BusyError, ConflictError, MemdeckError, NotFoundError, RefusedError

from . import log_rows as rows
from .beneath import version_of
from .changes import Change, FileChange, new_id
from .log import ChangeLog, Found
from .records import Reading, Record, RecordedFile
from .steps import conflict
from .version import Stored, Version

if TYPE_CHECKING:
    import sqlite3

    from .rehearsal import Turning
    from .store import Store

REVERT = "revert"
PEOPLE = frozenset({"human", "cli"})
"""A person in the application and at the command line is one and the same."""


class History:
    """Records changes, lists them and takes them back; safe to share between threads."""

    def __init__(self, log: ChangeLog, store: Store) -> None:
        """Read and write the log of a store; nothing is opened yet."""
        self._log = log
        self._store = store
        self._open: dict[str, Change] = {}
        self._mutex = threading.RLock()

    @property
    def reading(self) -> Reading:
        """How files are read; a workspace sets what it knows about its own."""
        return self._log.reading

    @reading.setter
    def reading(self, reading: Reading) -> None:
        self._log.reading = reading

    @property
    def warnings(self) -> tuple[str, ...]:
        """What went wrong with the log since the process began; changes are made all the same."""
        return tuple(self._log.file.warnings)

    # -- what transactions tell ---------------------------------------------------------------------------------

    def expect(self, path: str, data: bytes) -> None:
        """Take note of bytes that a change will write, so that their hash is there when it is needed."""
        with self._mutex:
            self._log.expect(path, data)

    def begin(self, change: Change) -> None:
        """Note a change right before its files move, under the workspace's lock; RefusedError `state.*`."""
        with self._mutex:
            if self._log.begin(change, self._look):
                self._open[change.id] = change

    def done(self, change_id: str) -> None:
        """Note that the files of a change are in their places."""
        with self._mutex:
            change = self._open.pop(change_id, None)
            self._open.clear()
            if change is not None:
                self._log.done(change, self._versions(change))

    def note(self, operation: str, summary: str, *, actor: str, now: datetime) -> None:
        """Note something that a person decided and that changed no file; it cannot be taken back from here."""
        with self._mutex:
            self._log.note(Change(new_id(now), now, actor, operation, summary, ()))

    def _versions(self, change: Change) -> dict[str, Version]:
        """Return the versions of files that hold what the change wrote, for sure."""
        known = {}
        for file in change.files:
            stored = self._store.cached(file.path)
            if stored is not None and stored.data is file.after:
                known[file.path] = stored.version
        return known

    def _look(self, path: str) -> tuple[bytes | None, Version | None]:
        stored = self._store.read(path)
        return stored.base, None

    # -- what others did ----------------------------------------------------------------------------------------

    def notice(self, paths: Iterable[str], now: datetime) -> int:
        """Look at files and note what other programs did to them; return how many changes that were.

        Writes to the log only, and takes no lock unless a crash left a change open. Errors as `Store.read`.
        """
        store = self._store
        self._settle(now)
        found = []
        for path in paths:
            stored = store.read(path)
            changed = stored.version.ctime_ns if stored.exists else self._folder_time(path)
            found.append(Found(path, stored.base, stored.version, time.time_ns() - changed))
        with self._mutex:
            return self._log.notice(found, now, self._same)

    def passing(self, path: str, stored: Stored, within: float) -> bool:
        """Tell whether a file changed less than `within` seconds ago to a state that programs leave behind only for a
        moment: missing, empty, cut off, or less than half as long as it was known last.
        """
        changed = stored.version.mtime_ns if stored.exists else self._folder_time(path)
        age = time.time_ns() - changed
        if age > within * 1e9:
            return False
        with self._mutex:
            return self._log.passing(Found(path, stored.base, stored.version, age))

    def seen(self) -> tuple[str, ...]:
        """Return every file that was ever seen, relative to the store's root."""
        with self._mutex:
            return tuple(self._log.file.run(rows.seen_paths, [], make=False))

    def _same(self, found: Found) -> bool:
        return version_of(self._store.shown(found.path), self._store.workspace) == found.version

    def _folder_time(self, path: str) -> int:
        try:
            return os.stat((self._store.root / path).parent).st_mtime_ns
        except OSError:
            return 0

    def _settle(self, now: datetime) -> None:
        """Decide about changes that a crash left open, unless somebody is at work right now."""
        with self._mutex:
            is_open = self._log.file.run(lambda db: bool(rows.pending(db)), False, make=False)
        if not is_open:
            return
        try:
            with self._store.at_once().transaction("recover", actor="recover", now=now), self._mutex:
                self._log.settle(self._look)
        except BusyError:
            return

    # -- listing ------------------------------------------------------------------------------------------------

    def list(
        self,
        limit: int = 0,
        *,
        actor: str | None = None,
        file: str | None = None,
        entry: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        before: int | None = None,
    ) -> tuple[Record, ...]:
        """Return the newest `limit` changes, newest first; 0 for all. `before` is the `seq` that a page goes on from.

        `actor` may end in `*`; `file` is a path, its end from a `/` on, or a part with `*`; `entry` is a ref, its
        hex digits, or a part of a title, and follows an entry through its renames; `since` and `until` are aware
        and inclusive.
        """
        from .log_filters import listed

        nothing: Sequence[Record] = ()
        with self._mutex:
            if entry is not None:
                self._log.file.run(self._log.name_all, None, make=False)
            found = self._log.file.run(
                lambda db: listed(db, limit, actor, file, entry, since, until, before), nothing, make=False
            )
        return tuple(found)

    def state(self) -> tuple[int, int]:
        """Return the `seq` of the newest change (0 without any) and how many were undone: what a listing depends on."""
        nothing = (0, 0)
        with self._mutex:
            return self._log.file.run(rows.state, nothing, make=False)

    def newer_name(self, ref: str) -> str | None:
        """Return the ref that an entry was renamed to, None where no change gave it another one."""
        from .log_filters import newer_name

        nothing: str | None = None
        with self._mutex:
            self._log.file.run(self._log.name_all, None, make=False)
            return self._log.file.run(lambda db: newer_name(db, ref), nothing, make=False)

    def get(self, change_id: str) -> Record:
        """Return the change of an id, or of its beginning; NotFoundError `change.not_found`, AmbiguousError."""
        text = change_id.strip().upper()
        found: Sequence[Record] = self._records("substr(id, 1, ?) = ?", (len(text), text), 21)
        exact = [record for record in found if record.id == text]
        if len(exact) == 1 or len(found) == 1:
            return (exact or found)[0]
        if not found or not text:
            raise NotFoundError(
                "change.not_found", f"no change has the id {change_id[:40]!r}", "list them", id=change_id
            )
        raise AmbiguousError(
            "change.ambiguous",
            f"{len(found)} changes have ids that begin with {text}",
            "write more of it",
            candidates=[record.id for record in found],
        )

    def regions(self, record: Record, file: RecordedFile) -> tuple[Region, ...]:
        """Return what was different in one file of a change; none where the bytes were thinned out."""
        number = record.files.index(file)

        def work(db: sqlite3.Connection) -> tuple[Region, ...]:
            numbers = [found[0] for found in rows.files_of(db, record.seq)]
            return rows.regions_of(db, record.seq, numbers[number]) if number < len(numbers) else ()

        with self._mutex:
            return self._log.file.run(work, (), make=False)

    def _whole_regions(self, record: Record, file: RecordedFile) -> tuple[Region, ...]:
        """Return what was different in a file, for taking it back: all of it, or MemdeckError `change.log_failed`."""
        regions = self.regions(record, file)
        if sum(region.size for region in regions) != file.kept:
            # The log failed just now: with a part of a change, or none, nothing must be called done.
            raise MemdeckError(
                "change.log_failed",
                f"what change {record.id} did to {file.path} cannot be read from the change log",
                "see `memdeck doctor`, and try again",
                id=record.id,
                file=file.path,
            )
        return regions

    def before(self, change_id: str, path: str) -> bytes | None:
        """Return the bytes that a file had before a change; None for no file, or where they are no longer known."""
        record = self.get(change_id)
        with self._mutex:
            data = self._log.last_known(path)[1]
        condition = "seq >= ? AND seq IN (SELECT seq FROM file WHERE path = ?)"
        later = self._records(condition, (record.seq, rows.key(path)), 0)
        for one in later:
            file = next(file for file in one.files if file.path == path)
            if file.kept is None:
                return None
            try:
                data = apply(inverted(self.regions(one, file)), data or b"")
            except ValueError:  # rows that do not belong together
                return None
            if file.before is None:
                data = None
        wanted = next((file for file in record.files if file.path == path), None)
        with self._mutex:
            known = wanted is not None and self._log.identity(path, data) == wanted.before
        return data if known else None

    # -- taking back --------------------------------------------------------------------------------------------

    def undo(self, store: Store, *, actor: str, now: datetime) -> Change:
        """Take back the newest change of this actor that stands, and return the change which did it.

        NotFoundError `change.none` where there is none, ConflictError `document.conflict` where somebody touched the
        same entries since, ConflictError `change.thinned` where its bytes are no longer kept, MemdeckError
        `change.log_failed` where the log cannot be read.
        """
        self._settle(now)
        record = next(iter(self._own(actor, 1, _STANDS)), None)
        if record is None:
            raise NotFoundError("change.none", f"there is no change by {actor} to undo")
        return self._turn(store, record, actor, now, "undo")

    def redo(self, store: Store, *, actor: str, now: datetime) -> Change:
        """Bring back the change of this actor that was undone last; a new change in between ends that.

        Errors as `undo`.
        """
        self._settle(now)
        record = self._undone(actor)
        if record is None:
            raise NotFoundError("change.none", f"there is no undone change by {actor} to redo")
        return self._turn(store, record, actor, now, "redo")

    def revert(self, store: Store, change_id: str, *, actor: str, now: datetime) -> Change:
        """Take back one change, whoever made it; errors as `get` and `undo`, and `change.undone` if it is already."""
        self._settle(now)
        return self._turn(store, self._revertible(change_id), actor, now, REVERT)

    def _revertible(self, change_id: str) -> Record:
        record = self.get(change_id)
        if record.undone_by is not None:
            raise ConflictError(
                "change.undone", f"change {record.id} was taken back already", "show it to see by what", id=record.id
            )
        _refuse_thinned(record)
        return record

    def rehearse_revert(self, store: Store, change_id: str, *, now: datetime) -> tuple[FileChange, ...]:
        """Return what `revert` would do to the files, and write nothing; errors as `revert`."""
        from .rehearsal import Rehearsal

        record = self._revertible(change_id)
        rehearsal = Rehearsal(store)
        for file in record.files:
            self._turn_file(rehearsal, record, file, now, back=True)
        return tuple(rehearsal.files)

    def touched_by(self, file: FileChange) -> tuple[Region, ...]:
        """Return what is different in a file that a change would write."""
        with self._mutex:
            return self._log.regions(file)

    def _own(self, actor: str, limit: int, condition: str = "1") -> Sequence[Record]:
        """Return the newest changes of an actor that fit a condition."""
        names = sorted(PEOPLE) if actor in PEOPLE else [actor]
        return self._records(f"actor IN ({', '.join('?' * len(names))}) AND {condition}", names, limit)

    def _undone(self, actor: str) -> Record | None:
        """Find what the last undo of an actor took back, unless the actor went on to something new."""
        for limit in (20, 400, 0):
            own = self._own(actor, limit, "operation != 'trust'")
            found, sure = _last_undone(own)
            if sure or not limit or len(own) < limit:
                return found
        return None

    def _records(self, where: str, values: Sequence[object], limit: int) -> Sequence[Record]:
        nothing: Sequence[Record] = ()
        with self._mutex:
            return self._log.file.run(lambda db: rows.records(db, where, values, limit), nothing, make=False)

    def _turn(self, store: Store, record: Record, actor: str, now: datetime, name: str) -> Change:
        """Take a change back, or bring it back, in one transaction over all its files."""
        if not record.files:
            raise ConflictError(
                "change.note",
                f"change {record.id} changed no file",
                "`memdeck trust revoke` takes an approval back",
                id=record.id,
            )
        _refuse_thinned(record)
        back = name != "redo"
        which = {"undoes": record.id} if back else {"redoes": record.id}
        with store.transaction(name, actor=actor, now=now, **which) as transaction:
            try:
                for file in record.files:
                    self._turn_file(transaction, record, file, now, back=back)
            except ConflictError as error:
                error.details.setdefault("id", record.id)
                raise
            return transaction.commit(f"{name}: {record.summary or record.operation}")

    def _turn_file(
        self, transaction: Turning, record: Record, file: RecordedFile, now: datetime, *, back: bool
    ) -> None:
        # The log lies where only its owner writes; still no file is written because a row names it.
        if not self.reading.knows(file.path):
            raise RefusedError("change.path", f"change {record.id} names {file.path!r}, which is no memory file")
        regions = self._whole_regions(record, file)
        here, there = (file.after, file.before) if back else (file.before, file.after)
        base = transaction.read(file.path).base
        with self._mutex:
            found = self._log.identity(file.path, base)
        turned = inverted(regions) if back else regions
        if found == here:
            if there is not None:
                try:
                    data = apply(turned, base or b"")
                except ValueError:  # rows that do not belong together
                    raise conflict([self._store.shown(file.path)]) from None
                transaction.write(file.path, data, base=base)
            elif base is not None:
                transaction.remove(file.path, base=base)
            return
        shown = self._store.shown(file.path)
        document = None if base is None else self.reading.document(file.path, base)
        if base is None or document is None:
            raise conflict([shown])
        if found == there:
            return
        taken = take_back(document, inverted(turned), shown)
        if taken is not document:
            transaction.write(file.path, self.reading.stamp(taken, now).dump(), base=base)


_STANDS = (
    "undone_by IS NULL AND redoes IS NULL AND operation NOT IN ('init', 'trust')"
    " AND (undoes IS NULL OR operation = 'revert')"
)
"""What a change is that can be undone: neither undone already nor itself an undo, a redo, or the beginning.

The files of a new workspace do not go by an undo that meant something else; `revert` takes them back.
"""


def _refuse_thinned(record: Record) -> None:
    if not record.kept:
        raise ConflictError(
            "change.thinned", f"the bytes of change {record.id} are no longer kept", "undo it by hand", id=record.id
        )


def _last_undone(own: Sequence[Record]) -> tuple[Record | None, bool]:
    """Return what the last undo took back, and whether older changes than these could not say otherwise."""
    by_id = {record.id: record for record in own}
    redone = {record.redoes for record in own if record.redoes is not None}
    for record in own:
        if record.redoes is not None:
            continue
        if record.undoes is None or record.operation == REVERT:
            # A change that was undone does not end the walk, one that stands and is newer than its undo does.
            if record.undone_by is None and record.id not in redone:
                return None, True
            continue
        if record.undoes not in by_id:
            return None, False
        if by_id[record.undoes].undone_by == record.id:
            return by_id[record.undoes], True
    return None, False
