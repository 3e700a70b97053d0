"""The changes that were made, by whomever, newest first: recording, noticing and listing them."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from threading import RLock
from typing import TYPE_CHECKING, TypeVar

from memory.document.compare import Region, apply, inverted
from memory.errors import AmbiguousError, BusyError, MemdeckError, NotFoundError
from memory.storage.changes import Change, ChangeRecord, FileChange, RecordedFile, Touched, new_id
from memory.storage.safe_open import MISSING, FileVersion, Stored, version_of

from . import rows
from .filters import listed, newer_name
from .log import ChangeLog, FoundFile, Mine

if TYPE_CHECKING:
    from memory.storage.store import SharedLog, Store


T = TypeVar("T")


class RecordedChanges:
    """Records changes and lists them; safe to share between threads."""

    def __init__(self, log: ChangeLog, together: SharedLog) -> None:
        """Read and write the log of some stores; nothing is opened yet."""
        self._log = log
        self._together = together
        self._open: dict[str, tuple[Change, Store]] = {}
        self._mutex = RLock()

    @property
    def warnings(self) -> tuple[str, ...]:
        """What went wrong with the log, or behind a change that was made, since the process began."""
        return tuple(self._log.file.warnings)

    def warn(self, text: str) -> None:
        """Add a sentence to the warnings, once."""
        if text not in self._log.file.warnings:
            self._log.file.warnings.append(text)

    def close(self) -> None:
        """Close the log after the work that other threads have under way in it; the next work opens it again."""
        with self._mutex:
            self._log.file.close()

    # -- what transactions tell ---------------------------------------------------------------------------------

    def expect(
        self, path: str, data: bytes, *, before: bytes | None = None, regions: Sequence[Region] | None = None
    ) -> None:
        """Take note of bytes that a change will write, so that their hash is there when it is needed.

        `regions` are what is different from the bytes `before` (None: no file), where the caller knows it already.
        The path is as seen from the workspace, as all paths of the history are.
        """
        with self._mutex:
            self._log.expect(path, data, before, regions)

    def begin(self, change: Change, store: Store) -> bool:
        """Note a change of a store right before its files move, under that store's lock; RefusedError `state.*`.

        Return whether the log took it: it is made all the same, unless its transaction says otherwise.
        """
        files = tuple(file._replace(path=store.shown(file.path)) for file in change.files)
        shown = change._replace(files=files)
        with self._mutex, self._together.glance():
            # One change at a time is open in a store: what failed there before is forgotten with it.
            self._open.pop(store.prefix, None)
            taken = self._log.begin(shown, self._look, self._mine(store))
            if taken:
                self._open[store.prefix] = (shown, store)
            return taken

    def done(self, change_id: str, store: Store) -> None:
        """Note that the files of a change are in their places."""
        with self._mutex, self._together.glance():
            change, _ = self._open.get(store.prefix, (None, None))
            if change is not None and change.id == change_id:
                self._log.done(change, self._versions(change, store))
            self._open.pop(store.prefix, None)

    def note(self, operation: str, summary: str, *, actor: str, now: datetime, undoes: str | None = None) -> None:
        """Note something that a person decided and that changed no file; it cannot be taken back from here.

        `undoes` is the change that it is about, which stands all the same.
        """
        with self._mutex:
            self._log.note(Change(new_id(now), now, actor, operation, summary, (), undoes=undoes))

    def _versions(self, change: Change, store: Store) -> dict[str, FileVersion]:
        """Return the versions of files that hold what the change wrote, for sure."""
        known = {}
        for file in change.files:
            stored = store.cached(file.path.removeprefix(store.prefix))
            if stored is not None and stored.data is file.after:
                known[file.path] = stored.version
        return known

    def _look(self, path: str) -> tuple[bytes | None, FileVersion | None]:
        stored = self._stored(path)
        return stored.base, None

    def _stored(self, path: str) -> Stored:
        """Read a file by its path as seen from the workspace."""
        found = self._together.find(path)
        return MISSING if found is None else found[0].read(found[1])

    def _mine(self, store: Store) -> Mine:
        return lambda path: (found := self._together.store_of(path)) is not None and found.root == store.root

    # -- what others did ----------------------------------------------------------------------------------------

    def notice(self, paths: Iterable[str], now: datetime) -> int:
        """Look at files and note what other programs did to them; return how many changes that were.

        Paths are as seen from the workspace; files that cannot be read, or belong to no store, are left out. Writes to
        the log only, and takes no lock unless a crash left a change open.
        """
        self._settle(now)
        found = []
        with self._together.glance():
            for path in paths:
                place = self._together.find(path)
                if place is None:
                    continue
                with suppress(MemdeckError):
                    stored = place[0].read(place[1])
                    data = stored.base
                    changed = self._folder_time(path) if data is None else stored.version.ctime_ns
                    found.append(FoundFile(path, data, stored.version, time.time_ns() - changed))
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
            return self._log.passing(FoundFile(path, stored.base, stored.version, age))

    def seen(self) -> tuple[str, ...]:
        """Return every file that was ever seen, as seen from the workspace."""
        return tuple(self._read(rows.seen_paths, []))

    def to_look_at(self) -> tuple[str, ...]:
        """Return the files seen last as being there, and those seen last as gone that stand there again.

        A prune leaves many thousand paths that are gone. Folders are listed for those, for that is one call for all
        files of a folder.
        """

        def work(db: sqlite3.Connection) -> tuple[list[str], list[str]]:
            return rows.seen_paths(db, gone=False), rows.seen_paths(db, gone=True)

        nothing: tuple[list[str], list[str]] = ([], [])
        there, gone = self._read(work, nothing)
        with self._together.glance():
            return (*there, *self._come_back(gone))

    def _come_back(self, gone: Sequence[str]) -> Iterator[str]:
        """Yield the paths under whose name there is something; all of a folder that cannot be listed."""
        folders: dict[str, list[str]] = {}
        for path in gone:
            folder, _, name = path.rpartition("/")
            folders.setdefault(folder, []).append(name)
        for folder, names in folders.items():
            prefix = f"{folder}/" if folder else ""
            store = self._together.store_of(prefix + names[0])
            if store is None:
                continue
            try:
                here = set(os.listdir(store.workspace / folder))
            except (FileNotFoundError, NotADirectoryError):
                continue
            except OSError:
                here = set(names)
            yield from (prefix + name for name in names if name in here)

    def _same(self, found: FoundFile) -> bool:
        store = self._together.store_of(found.path)
        return store is not None and version_of(found.path, store.workspace) == found.version

    def _folder_time(self, path: str) -> int:
        store = self._together.store_of(path)
        try:
            return 0 if store is None else os.stat((store.workspace / path).parent).st_mtime_ns
        except OSError:
            return 0

    def _settle(self, now: datetime) -> None:
        """Decide about changes that a crash left open, unless somebody is at work right now."""
        nothing: list[str] = []
        waiting = self._read(_waiting, nothing)
        for store in dict.fromkeys(self._together.store_of(path) for path in waiting):
            if store is None:
                continue
            with suppress(BusyError), store.at_once().transaction("recover", actor="recover", now=now), self._mutex:
                self._log.settle(self._look, self._mine(store))

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
        without: str | None = None,
    ) -> tuple[ChangeRecord, ...]:
        """Return the newest `limit` changes, newest first; 0 for all. `before` is the `seq` that a page goes on from.

        `actor` may end in `*`, and so may `without`, whose changes are left out; `file` is a path, its end from a `/`
        on, or a part with `*`; `entry` is a ref, its hex digits, or a part of a title, and follows an entry through its
        renames; `since` and `until` are aware and inclusive.
        """
        nothing: Sequence[ChangeRecord] = ()
        if entry is not None:
            self._name_all()
        return tuple(
            self._read(lambda db: listed(db, limit, actor, file, entry, since, until, before, without), nothing)
        )

    def last_bytes(self, path: str) -> bytes | None:
        """Return the bytes of a file as they were known last; None for no file, or where nobody knows."""
        with self._mutex:
            return self._log.last_known(path)[1]

    def state(self) -> tuple[int, int, int]:
        """Return what a listing depends on: the `seq` of the newest change (0 without any), how many, how many undone.

        A change whose files are still being moved does not count yet.
        """
        return self._read(rows.state, (0, 0, 0))

    def count(self, after: int, others_than: Collection[str], most: int) -> int:
        """Return how many changes behind a `seq` stand that none of these actors made; no more than `most`."""
        return self._read(lambda db: rows.count(db, after, others_than, most), 0)

    def newer_name(self, ref: str) -> str | None:
        """Return the ref that an entry was renamed to, None where no change gave it another one."""
        nothing: str | None = None
        self._name_all()
        return self._read(lambda db: newer_name(db, ref), nothing)

    def get(self, change_id: str) -> ChangeRecord:
        """Return the change of an id, or of its beginning; NotFoundError `change.not_found`, AmbiguousError."""
        return the_one(self.beginning_with(change_id), change_id)

    def beginning_with(self, change_id: str) -> tuple[ChangeRecord, ...]:
        """Return the changes whose ids begin so, the newest first, and not more than tell that they are several."""
        text = change_id.strip().upper()
        # Every id begins with nothing: an empty one names none, however few there are.
        return tuple(self.records("substr(id, 1, ?) = ?", (len(text), text), 21)) if text else ()

    def regions(self, record: ChangeRecord, file: RecordedFile) -> tuple[Region, ...]:
        """Return what was different in one file of a change; none where the bytes were thinned out."""

        def work(db: sqlite3.Connection) -> tuple[Region, ...]:
            number = rows.number_of(db, record.seq, file.path)
            return () if number is None else rows.regions_of(db, record.seq, number)

        return self._read(work, ())

    def before(self, change_id: str, path: str) -> bytes | None:
        """Return the bytes that a file had before a change; None for no file, or where they are no longer known."""
        record = self.get(change_id)
        file = next((file for file in record.files if file.path == path), None)
        found = None if file is None else self.versions(record, file)
        return None if found is None else found[0]

    def versions(self, record: ChangeRecord, file: RecordedFile) -> tuple[bytes | None, bytes | None] | None:
        """Return a file before and after a change (None: no file); None where that is no longer known."""
        regions = self.regions(record, file)
        try:
            if file.kept is None:
                return None
            if file.after is None:
                return apply(inverted(regions), b""), None
            if file.before is None:
                return None, apply(regions, b"")
            data = self.last_bytes(file.path) or b""
            condition = "seq > ? AND seq IN (SELECT seq FROM file WHERE path = ?)"
            for later in self.records(condition, (record.seq, rows.key(file.path)), 0):
                one = next(one for one in later.files if one.path == file.path)
                if one.kept is None:
                    return None
                data = apply(inverted(self.regions(later, one)), data)
            before = apply(inverted(regions), data)
        except ValueError:  # Rows that do not belong together.
            return None
        with self._mutex:
            return (before, data) if self._log.identity(file.path, data) == file.after else None

    def left_by(self, operation: str, path: str) -> bytes | None:
        """Return the bytes that a file had right after the newest change of an operation; None where nobody knows."""
        of_file, name = "seq IN (SELECT seq FROM file WHERE path = ?)", rows.key(path)
        newest = self.records(f"operation = ? AND undone_by IS NULL AND {of_file}", (operation, name), 1)
        if not newest:
            return None
        later = self.records(f"seq > ? AND {of_file}", (newest[0].seq, name), 0)
        if later:
            return self.before(later[-1].id, path)
        return self.last_bytes(path)

    def done_to(self, operation: str, path: str) -> Sequence[ChangeRecord]:
        """Return the changes of an operation that touched a file and stand, newest first, as far as they are kept."""
        condition = "operation = ? AND undone_by IS NULL AND seq IN (SELECT seq FROM file WHERE path = ?)"
        return [record for record in self.records(condition, (operation, rows.key(path)), 0) if record.kept]

    def touched_by(self, file: FileChange) -> tuple[Region, ...]:
        """Return what is different in a file that a change would write; its path as seen from the workspace."""
        with self._mutex:
            return self._log.regions(file)

    def entries_of(self, path: str, regions: Sequence[Region]) -> Sequence[Touched]:
        """Return the entries of one file that some regions touch."""
        with self._mutex:
            return self._log.touched(path, regions, by_place=True)

    def records(self, where: str, values: Sequence[object], limit: int) -> Sequence[ChangeRecord]:
        """Return the newest changes of which an SQL condition holds."""
        nothing: Sequence[ChangeRecord] = ()
        return self._read(lambda db: rows.records(db, where, values, limit), nothing)

    def _read(self, work: Callable[[sqlite3.Connection], T], default: T) -> T:
        """Return what a query of the log returns, `default` where there is no log or it cannot be read."""
        with self._mutex:
            return self._log.file.run(work, default, make=False)

    def _name_all(self) -> None:
        """Name the entries of changes that were too long to be named when they were made."""
        with self._mutex:
            self._log.file.run(self._log.name_all, None, make=False)


def the_one(found: Sequence[ChangeRecord], change_id: str) -> ChangeRecord:
    """Return the one of some changes that an id or its beginning means; errors as `History.get`."""
    text = change_id.strip().upper()
    exact = [record for record in found if record.id == text]
    if len(exact) == 1 or len(found) == 1:
        return (exact or found)[0]
    if not found:
        raise NotFoundError("change.not_found", f"no change has the id {change_id[:40]!r}", "list them", id=change_id)
    raise AmbiguousError(
        "change.ambiguous",
        f"{len(found)} changes have ids that begin with {text}",
        "write more of it",
        candidates=[record.id for record in found],
    )


def _waiting(db: sqlite3.Connection) -> list[str]:
    """Return the files of the changes that are open, one of each."""
    files = [rows.files_of(db, seq) for seq, *_ in rows.pending(db)]
    return [found[0][1] for found in files if found]
