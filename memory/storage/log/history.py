"""Undo, redo and revert over the records of a history: each is a change that is merged into the current files.

A change goes back byte for byte while its files are as it left them. Where a file moved on, it is merged by entries,
fields and lines; where the same was changed since, nothing is written.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING

from memory.document.compare import Region, apply, inverted, is_lines, lines_of
from memory.document.match import plain_name, units_of
from memory.document.nodes import bare
from memory.errors import ConflictError, MemdeckError, NotFoundError, RefusedError
from memory.storage.changes import OUTSIDE, SERIES, Change, ChangeRecord, FileChange, RecordedFile

from . import rows
from .log import ChangeLog

if TYPE_CHECKING:
    from memory.storage.store import Store

    from .merging import FileConflict, MergedChange, Take


REVERT, REDO = "revert", "redo"
_TURNED = re.compile(r"\A(?:(?:undo|redo|revert): )+")
PEOPLE = frozenset({"human", "cli"})
"""A person in the application and at the command line is one and the same."""

SKIP = "skip"
"""The operation of a note that undo passed a change over, because maintenance archived what it touched."""
KEEP = "keep"
"""The operation of a note that a person leaves what another program removed as it is."""
_MOST_PASSED = 100
"""How many changes one undo passes over at most."""

_STANDS = (
    "undone_by IS NULL AND redoes IS NULL"
    " AND operation NOT IN ('init', 'curated.init', 'curated.inbox', 'trust', 'skip', 'keep')"
    " AND (undoes IS NULL OR operation = 'revert')"
)
"""What a change is that can be undone: neither undone already nor itself an undo, a redo, or the beginning.

The files of a new workspace do not go by an undo that meant something else, nor does what waits to be remembered;
`revert` takes them back.
"""


class History(ChangeLog):
    """Records changes, lists them and takes them back; safe to share between threads."""

    def notice(self, paths: Iterable[str], now: datetime) -> int:
        """Look at files as `ChangeLog.notice`; changes that a killed process left are completed or taken back first."""
        for store in self._stores.stores:
            if store.busy() and not store.lock.held:
                with suppress(MemdeckError), store.transaction("recover", actor="recover", now=now, wait=False):
                    pass
        return super().notice(paths, now)

    def undo(self, *, actor: str, now: datetime) -> Change:
        """Take back the newest change of this actor that is not undone yet; return the new change. See `undoable`.

        NotFoundError `change.none` where there is none, ConflictError `document.conflict` where the same was changed
        since, `change.archived` where maintenance archived its entries, `change.thinned` where its bytes are no longer
        kept, MemdeckError `change.log_failed` where the log cannot be read. A change that was made in several
        transactions is taken back as one.
        """
        record = self.undoable(actor) or next(iter(self._own(actor, 1, _STANDS)), None)
        if record is None:
            raise NotFoundError("change.none", f"there is no change by {actor} to undo")
        try:
            return self._turn_series(record, _STANDS, actor, now, "undo")
        except ConflictError as error:
            by = self._archived_by(record)
            if by is None:
                raise
            raise self._pass_over(record, by, actor, now) from error

    def redo(self, *, actor: str, now: datetime) -> Change:
        """Bring back the change of this actor that was undone last; a new change in between ends that.

        Errors as `undo`.
        """
        record = self.redoable(actor)
        if record is None:
            raise NotFoundError("change.none", f"there is no undone change by {actor} to redo")
        return self._turn_series(record, "undone_by IS NOT NULL", actor, now, REDO)

    def undoable(self, actor: str) -> ChangeRecord | None:
        """Return the change that `undo` would take back, None where there is none or the log cannot be read."""
        passed = self._passed()
        for record in self._own(actor, len(passed) + 1, _STANDS):
            # What was passed over counts again once maintenance's change is taken back.
            if record.id not in passed or self._archived_by(record) is None:
                return record
        return None

    def _passed(self) -> set[str | None]:
        """Return the ids of the changes that undo passed over."""
        return {record.undoes for record in self.records("operation = ?", [SKIP], 0)}

    def _archived_by(self, record: ChangeRecord) -> ChangeRecord | None:
        """Return the change of maintenance that put away what a change touched, None where there is none."""
        refs = sorted({ref for one in record.touched for ref in (one.ref, one.old_ref) if ref is not None})
        paths = [rows.key(path) for path in record.paths]
        entries, files = (", ".join("?" * len(names)) for names in (refs, paths))
        found = self.records(
            "seq > ? AND actor = 'maintain' AND undoes IS NULL AND undone_by IS NULL"
            f" AND (seq IN (SELECT seq FROM touched WHERE ref IN ({entries}) AND kind = 'removed')"
            f" OR seq IN (SELECT seq FROM file WHERE path IN ({files}) AND after_size IS NULL))",
            [record.seq, *refs, *paths],
            1,
        )
        return found[0] if found else None

    def _pass_over(self, record: ChangeRecord, by: ChangeRecord, actor: str, now: datetime) -> ConflictError:
        """Note that undo passes a change over, with older ones in the same state; return the error that says so."""
        older: ChangeRecord | None = None
        passed = [record]
        for one in self._own(actor, _MOST_PASSED, _STANDS):
            if one.seq >= record.seq:
                continue
            if self._archived_by(one) is None:
                older = one
                break
            passed.append(one)
        known = self._passed()
        for one in [one for one in passed if one.id not in known]:
            self.note(SKIP, f"passed over: {one.summary}", actor=actor, now=now, undoes=one.id)
        newest = next(iter(self._own("maintain", 1, _STANDS)), None)
        first = "undo --actor maintain" if newest is not None and newest.id == by.id else f"changes revert {by.id[:16]}"
        rest = (
            "nothing older can be undone" if older is None else f"the next `memdeck undo` takes back: {older.summary}"
        )
        return ConflictError(
            "change.archived",
            f"what {record.summary or record.operation!r} changed was archived by maintenance",
            f"`memdeck {first}` takes that back first; {rest}",
            id=record.id,
            archived_by=by.id,
            next=None if older is None else older.id,
        )

    def revert(self, change_id: str, *, actor: str, now: datetime, take: Take | None = None) -> Change:
        """Take back one change of any actor; errors as `get` and `undo`, and `change.undone` if it is already.

        `take` chooses a side where the same was changed since.
        """
        return self._turn(self._revertible(change_id), actor, now, REVERT, take)

    def rehearse_revert(self, change_id: str, *, now: datetime) -> MergedChange:
        """Return what `revert` would do to the files, and the conflicts that would prevent it; nothing is written.

        Other errors as `revert`.
        """
        record = self._revertible(change_id)
        store = self._store_of(record)

        def read(path: str) -> bytes | None:
            return store.read(path.removeprefix(store.prefix)).base

        return self._merged(record, read, now, None, back=True)

    def bring_back(self, change_id: str, *, actor: str, now: datetime) -> Change:
        """Bring back the entries that another program's change removed; what else it did stays.

        ConflictError `change.nothing_removed` where it removed none; other errors as `revert`.
        """
        from .merging import merge_change  # most processes only record

        record = self._revertible(change_id)
        if record.actor != OUTSIDE:
            raise ConflictError("change.nothing_removed", f"change {record.id} was made with memdeck", "revert it")
        removed = [self._removed(record, file) for file in record.files]
        titles = [title for _, names in removed for title in names]
        if not titles:
            said = f"change {record.id} removed no entry"
            raise ConflictError("change.nothing_removed", said, "`changes revert` takes all of it back", id=record.id)
        more = f" and {len(titles) - 1} more" if len(titles) > 1 else ""
        changes = [file for file, _ in removed]

        def merged(read: Callable[[str], bytes | None]) -> MergedChange:
            found = merge_change(self._stores, changes, read, now)
            return found if found.state == "gone" else _agreed(record, found)

        done = self._carry_out(record, merged, actor, now, REVERT, f"brought back {titles[0]!r}{more}")
        if not done.files:
            self.note(KEEP, "it is back already", actor=actor, now=now, undoes=record.id)
        return done

    def _removed(self, record: ChangeRecord, file: RecordedFile) -> tuple[FileChange, Sequence[str]]:
        """Return the change that adds what a change removed from a file, and the titles of that."""
        before, _ = self._known_versions(record, file)
        data = before or b""
        regions = self.regions(record, file)
        if is_lines(file.path):
            gone = self.removed_lines(file.path, regions)
            left = Counter(line for line, _ in gone)
            kept = []
            for line in lines_of(data):
                if left[line]:
                    left[line] -= 1
                else:
                    kept.append(line)
            return FileChange(file.path, b"".join(kept), data), [title for _, title in gone]
        document = self._stores.document(file.path, data)
        if document is None:
            return FileChange(file.path, data, data), ()
        units = [one.before for one in units_of(regions, by_place=False) if one.before and one.after is None]
        sources = Counter(bare(entry) for entry in units)
        less = document
        for index, part in document.all_sections():
            found = set()
            for number, entry in enumerate(part.entries):
                if sources[bare(entry)]:
                    sources[bare(entry)] -= 1
                    found.add(number)
            if found:
                less = less.remove_entries(index, found)
        return FileChange(file.path, less.dump(), data), [plain_name(entry) for entry in units]

    def _revertible(self, change_id: str) -> ChangeRecord:
        record = self.get(change_id)
        if record.undone_by is not None:
            raise ConflictError(
                "change.undone", f"change {record.id} was taken back already", "show it to see by what", id=record.id
            )
        _refuse_thinned(record)
        return record

    def _store_of(self, record: ChangeRecord) -> Store:
        """Return the store whose files a change is of; ConflictError where it has none.

        Only its owner writes to the log; still no file is written because a row names it: RefusedError `change.path`
        for a path that is not a memory file of that store.
        """
        if not record.files:
            raise ConflictError(
                "change.note",
                f"change {record.id} changed no file",
                "`memdeck trust revoke` takes an approval back",
                id=record.id,
            )
        with self._stores.glance():
            store = self._stores.store_of(record.files[0].path)
            for path in record.paths:
                if store is None or self._stores.store_of(path) is not store or not self._stores.knows(path):
                    said = f"change {record.id} names {path!r}, which is no memory file"
                    raise RefusedError("change.path", said)
        assert store is not None
        return store

    def _own(self, actor: str, limit: int, condition: str = "1") -> Sequence[ChangeRecord]:
        """Return the newest changes of an actor that fit a condition."""
        whose, values = _whose(actor)
        return self.records(f"{whose} AND {condition}", values, limit)

    def redoable(self, actor: str) -> ChangeRecord | None:
        """Return the change that `redo` would bring back: what the last undo of an actor took back, unless the actor
        went on to something new.
        """
        whose, values = _whose(actor)
        newest = (
            f"SELECT COALESCE(MAX(seq), 0) FROM change WHERE {whose} AND undone_by IS NULL"
            " AND redoes IS NULL AND (undoes IS NULL OR operation = 'revert') AND operation NOT IN ('trust', 'keep')"
        )
        turned = f"SELECT undoes FROM change WHERE operation = 'undo' AND {whose} AND seq > ({newest})"
        last = (
            f"SELECT gone.id FROM change AS gone JOIN change AS turn ON turn.id = gone.undone_by"
            f" WHERE turn.operation = 'undo' AND gone.id IN ({turned}) ORDER BY turn.seq DESC, gone.seq DESC LIMIT 1"
        )
        return next(iter(self.records(f"id = ({last})", [*values, *values], 1)), None)

    def _turn_series(self, record: ChangeRecord, condition: str, actor: str, now: datetime, name: str) -> Change:
        """Take back or bring back a change with the other parts of its series that fit a condition."""
        prefix = record.id[:SERIES]
        low, high = prefix + "0" * (26 - SERIES), prefix + "Z" * (26 - SERIES)
        parts = self.records(f"id BETWEEN ? AND ? AND id != ? AND {condition}", (low, high, record.id), 0)
        if not parts:
            return self._turn(record, actor, now, name)
        return _series([self._turn(one, actor, now, name) for one in (record, *parts)])

    def _turn(self, record: ChangeRecord, actor: str, now: datetime, name: str, take: Take | None = None) -> Change:
        """Take a change back, or bring it back, in one transaction over all its files."""
        _refuse_thinned(record)

        def merged(read: Callable[[str], bytes | None]) -> MergedChange:
            return _agreed(record, self._merged(record, read, now, take, back=name != REDO))

        summary = f"{name}: {unturned(record.summary) or record.operation}"
        return self._carry_out(record, merged, actor, now, name, summary)

    def _carry_out(
        self,
        record: ChangeRecord,
        merged: Callable[[Callable[[str], bytes | None]], MergedChange],
        actor: str,
        now: datetime,
        name: str,
        summary: str,
    ) -> Change:
        """Write what `merged` returns for the files as they are under the lock, and return the change."""
        store = self._store_of(record)
        undoes, redoes = (None, record.id) if name == REDO else (record.id, None)
        with store.transaction(name, actor=actor, now=now, undoes=undoes, redoes=redoes, recorded=True) as transaction:
            transaction.take(merged(transaction.bytes_of).files)
            return transaction.commit(summary)

    def _merged(
        self,
        record: ChangeRecord,
        read: Callable[[str], bytes | None],
        now: datetime,
        take: Take | None,
        *,
        back: bool,
    ) -> MergedChange:
        """Return what taking a change back, or bringing it back, would write."""
        from .merging import merge_change

        # A file that comes back has the mode with which it went: by this change, or by the one that took it back.
        gone_by = record.id if back else record.undone_by
        modes: dict[str, int] = {}
        if gone_by is not None:
            modes = self._read(lambda db: rows.modes_of(db, gone_by)) or {}
        with self._stores.glance():
            files = []
            for file in record.files:
                left, wanted = self._sides(record, file, read(file.path), back=back)
                files.append(FileChange(file.path, left, wanted, modes.get(file.path)))
            return merge_change(self._stores, files, read, now, take, stamped=False)

    def _sides(
        self, record: ChangeRecord, file: RecordedFile, current: bytes | None, *, back: bool
    ) -> tuple[bytes | None, bytes | None]:
        """Return a file as one side of a change left it, and as the other is to make it."""
        left, wanted = (file.after, file.before) if back else (file.before, file.after)
        if rows.identity(current) == left:
            # What other changes did to the file does not matter, not even whether their bytes are kept.
            regions = self._whole_regions(record, file)
            turned = inverted(regions) if back else regions
            return current, None if wanted is None else apply(turned, current or b"")
        before, after = self._known_versions(record, file)
        return (after, before) if back else (before, after)

    def _known_versions(self, record: ChangeRecord, file: RecordedFile) -> tuple[bytes | None, bytes | None]:
        """Return a file before and after a change; ConflictError `change.thinned` where that is not known any more."""
        self._whole_regions(record, file)
        found = self.versions(record, file)
        if found is None:
            raise _thinned(record)
        return found

    def _whole_regions(self, record: ChangeRecord, file: RecordedFile) -> tuple[Region, ...]:
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


def _agreed(record: ChangeRecord, merged: MergedChange) -> MergedChange:
    """Return what a merge would write; `document.conflict` for a conflict, or if nothing is left to do."""
    if merged.state in ("ready", "moved"):
        return merged
    if merged.state == "gone":
        raise ConflictError(
            "document.conflict",
            f"the text that {record.summary or record.operation!r} changed is gone, or was put back already",
            "look at it, and make the change by hand",
            id=record.id,
            file=record.paths[0],
            reasons={},
        )
    told = {one.conflict.entry or one.conflict.section or one.file: _what_happened(one) for one in merged.clashes}
    reasons = {**told, **dict(reason.split(": ", 1) for reason in merged.reasons)}
    title, happened = next(iter(reasons.items()))
    more = f" (and {len(reasons) - 1} more)" if len(reasons) > 1 else ""
    raise ConflictError(
        "document.conflict",
        f"{title!r}: {happened}{more}",
        "look at it, and make the change by hand",
        id=record.id,
        file=merged.clashes[0].file if merged.clashes else record.paths[0],
        entries=list(reasons),
        reasons=reasons,
        conflicts=[one.json() for one in merged.clashes],
    )


def _what_happened(clash: FileConflict) -> str:
    if clash.conflict.theirs is None and clash.conflict.what == "entry":
        return "no longer exists"
    return "was changed since"


def _series(changes: Sequence[Change]) -> Change:
    """Return the changes that took a series back, or brought it back, as one."""
    files = tuple(file for change in changes for file in change.files)
    return changes[-1]._replace(files=files, summary=f"{changes[0].summary}, in {len(changes)} parts")


def _refuse_thinned(record: ChangeRecord) -> None:
    if not record.kept:
        raise _thinned(record)


def _thinned(record: ChangeRecord) -> ConflictError:
    said = f"the bytes of change {record.id} are no longer kept"
    return ConflictError("change.thinned", said, "undo it by hand", id=record.id)


def unturned(summary: str) -> str:
    """Return what a change did in the first place: the summary without the `undo: ` and `redo: ` before it."""
    return _TURNED.sub("", summary)


def _whose(actor: str) -> tuple[str, Sequence[str]]:
    """Return the condition of changes of an actor, with its values."""
    if actor not in PEOPLE:
        return "actor = ?", [actor]
    # What a person accepted is the person's change as much as the agent's who proposed it.
    names = sorted(PEOPLE)
    marks = ", ".join("?" * len(names))
    return f"(actor IN ({marks}) OR reviewer IN ({marks}))", [*names, *names]
