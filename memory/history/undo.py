"""Undo, redo and revert: each merges a recorded change into the current files, as an ordinary transaction.

A change goes back byte for byte while its files are as it left them. Where a file moved on, it is merged by entries,
fields and lines; where the same was changed since, nothing is written.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import NamedTuple

from memory.document.compare import Region, apply, inverted, is_lines, lines_of
from memory.document.match import plain_name, units_of
from memory.document.nodes import bare
from memory.errors import ConflictError, MemdeckError, NotFoundError, RefusedError
from memory.storage import Store
from memory.storage.changes import OUTSIDE, PERSONS, Change, ChangeRecord, FileChange, RecordedFile
from memory.storage.merging import FileConflict, MergedChange, Take, merge_change
from memory.storage.records import KEEP, identity, key
from memory.storage.store import SharedLog

REVERT, REDO = "revert", "redo"
_DONE = {"undo": "undid", REDO: "redid", REVERT: "reverted"}
_TURNED = re.compile(r"\A(?:(?:undid|redid|reverted): )+")
_SKIP = "skip"
"""The operation of a note that undo passed a change over, because maintenance archived what it touched."""
_MOST_PASSED = 100
"""How many changes one undo passes over at most."""
_UNDOABLE = (
    "undone_by IS NULL AND redoes IS NULL"
    " AND operation NOT IN ('init', 'curated.init', 'curated.inbox', 'trust', 'skip', 'keep')"
    " AND (undoes IS NULL OR operation = 'revert')"
)
"""What a change is that can be undone: neither undone already nor itself an undo, a redo, or the beginning.

The files of a new workspace do not go by an undo that meant something else, nor does what waits to be remembered;
`revert` takes them back.
"""
Read = Callable[[str], bytes | None]


class FoundChange(NamedTuple):
    """A recorded change, with the log that contains it."""

    record: ChangeRecord
    log: SharedLog


def undo_in(log: SharedLog, *, actor: str, now: datetime) -> Change:
    """Take back the newest change of this actor in a log that is not undone yet; return the new change. See `undoable`.

    NotFoundError `change.none` where there is none, ConflictError `document.conflict` where the same was changed
    since, `change.archived` where maintenance archived its entries, `change.thinned` where its bytes are no longer
    kept, MemdeckError `change.log_failed` where the log cannot be read.
    """
    record = undoable(log, actor) or next(iter(_own(log, actor, 1)), None)
    if record is None:
        raise NotFoundError("change.none", f"there is no change by {actor} to undo")
    found = FoundChange(record, log)
    try:
        return _turn(found, actor, now, "undo")
    except ConflictError as error:
        if log.history.get(record.id).undone_by is not None:
            return undo_in(log, actor=actor, now=now)  # Another process took it back while this one waited.
        by = _archived_by(found)
        if by is None:
            raise
        raise _pass_over(found, by, actor, now) from error


def redo_in(log: SharedLog, *, actor: str, now: datetime) -> Change:
    """Bring back the change of this actor in a log that was undone last; a new change in between ends that.

    Errors as `undo_in`.
    """
    record = redoable(log, actor)
    if record is None:
        raise NotFoundError("change.none", f"there is no undone change by {actor} to redo")
    try:
        return _turn(FoundChange(record, log), actor, now, REDO)
    except ConflictError:
        if log.history.get(record.id).undone_by is not None:
            raise
        return redo_in(log, actor=actor, now=now)  # Another process brought it back while this one waited.


def undoable(log: SharedLog, actor: str) -> ChangeRecord | None:
    """Return the change that `undo_in` would take back, None where there is none or the log cannot be read."""
    passed = _passed(log)
    for record in _own(log, actor, len(passed) + 1):
        # What was passed over counts again once maintenance's change is taken back.
        if record.id not in passed or _archived_by(FoundChange(record, log)) is None:
            return record
    return None


def redoable(log: SharedLog, actor: str) -> ChangeRecord | None:
    """Return the change that `redo_in` would bring back: what the last undo of an actor took back, unless the actor
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
    return next(iter(log.history.records(f"id = ({last})", [*values, *values], 1)), None)


def revert_in(log: SharedLog, change_id: str, *, actor: str, now: datetime, take: Take | None = None) -> Change:
    """Take back one change of any actor; errors as `ChangeLog.get` and `undo_in`, `change.undone` if it is already.

    `take` chooses a side where the same was changed since.
    """
    try:
        return _turn(_revertible(log, change_id), actor, now, REVERT, take)
    except ConflictError:
        _revertible(log, change_id)  # It says so where another process took the change back meanwhile.
        raise


def rehearse_revert(log: SharedLog, change_id: str, *, now: datetime) -> MergedChange:
    """Return what `revert_in` would do to the files, and the conflicts that would prevent it; nothing is written.

    Other errors as `revert_in`.
    """
    found = _revertible(log, change_id)
    _store_of(found)
    return _merged(found, log.bytes_of, now, None, back=True)


def bring_back_in(log: SharedLog, change_id: str, *, actor: str, now: datetime) -> Change:
    """Bring back the entries that another program's change removed; what else it did stays.

    ConflictError `change.nothing_removed` where it removed none; other errors as `revert_in`.
    """
    found = _revertible(log, change_id)
    record = found.record
    if record.actor != OUTSIDE:
        raise ConflictError("change.nothing_removed", f"change {record.id} was made with memdeck", "revert it")
    removed = [_removed(found, file, regions) for file, regions in _whole_regions(found)]
    titles = [title for _, names in removed for title in names]
    if not titles:
        said = f"change {record.id} removed no entry"
        raise ConflictError("change.nothing_removed", said, "`changes revert` reverts all of it", id=record.id)
    more = f" and {len(titles) - 1} more" if len(titles) > 1 else ""

    def merged(read: Read) -> MergedChange:
        change = merge_change(log, [file for file, _ in removed], read, now)
        return change if change.state == "gone" else _agreed(record, change)

    done = _carry_out(found, merged, actor, now, REVERT, f"brought back {titles[0]!r}{more}")
    if not done.files:
        log.history.note(KEEP, "it is already back", actor=actor, now=now, undoes=record.id)
    return done


def unturned(summary: str) -> str:
    """Return what a change did in the first place: the summary without the `undid: ` and `redid: ` before it."""
    return _TURNED.sub("", summary)


# -- which change ----------------------------------------------------------------------------------------------------


def _own(log: SharedLog, actor: str, limit: int) -> Sequence[ChangeRecord]:
    """Return the newest changes of an actor that can be undone."""
    whose, values = _whose(actor)
    return log.history.records(f"{whose} AND {_UNDOABLE}", values, limit)


def _whose(actor: str) -> tuple[str, Sequence[str]]:
    """Return the condition of changes of an actor, with its values."""
    if actor not in PERSONS:
        return "actor = ?", [actor]
    # A person in the application and at the command line is one; what a person accepted is the person's change as
    # much as the agent's who proposed it.
    names = sorted(PERSONS)
    marks = ", ".join("?" * len(names))
    return f"(actor IN ({marks}) OR reviewer IN ({marks}))", [*names, *names]


def _passed(log: SharedLog) -> set[str | None]:
    """Return the ids of the changes that undo passed over."""
    return {record.undoes for record in log.history.records("operation = ?", [_SKIP], 0)}


def _archived_by(found: FoundChange) -> ChangeRecord | None:
    """Return the change of maintenance that put away what a change touched, None where there is none."""
    record, log = found
    refs = sorted({ref for one in record.touched for ref in (one.ref, one.old_ref) if ref is not None})
    paths = [key(path) for path in record.paths]
    entries, files = (", ".join("?" * len(names)) for names in (refs, paths))
    made = log.history.records(
        "seq > ? AND actor = 'maintain' AND undoes IS NULL AND undone_by IS NULL"
        f" AND (seq IN (SELECT seq FROM touched WHERE ref IN ({entries}) AND kind = 'removed')"
        f" OR seq IN (SELECT seq FROM file WHERE path IN ({files}) AND after_size IS NULL))",
        [record.seq, *refs, *paths],
        1,
    )
    return made[0] if made else None


def _pass_over(found: FoundChange, by: ChangeRecord, actor: str, now: datetime) -> ConflictError:
    """Note that undo passes a change over, with older ones in the same state; return the error that says so."""
    record, log = found
    older: ChangeRecord | None = None
    passed = [record]
    for one in _own(log, actor, _MOST_PASSED):
        if one.seq >= record.seq:
            continue
        if _archived_by(FoundChange(one, log)) is None:
            older = one
            break
        passed.append(one)
    known = _passed(log)
    for one in [one for one in passed if one.id not in known]:
        log.history.note(_SKIP, f"skipped: {one.summary}", actor=actor, now=now, undoes=one.id)
    newest = next(iter(_own(log, "maintain", 1)), None)
    first = "undo --actor maintain" if newest is not None and newest.id == by.id else f"changes revert {by.id[:16]}"
    rest = "nothing older can be undone" if older is None else f"the next `memdeck undo` undoes: {older.summary}"
    return ConflictError(
        "change.archived",
        f"what {record.summary or record.operation!r} changed was archived by maintenance",
        f"`memdeck {first}` reverts that first; {rest}",
        id=record.id,
        archived_by=by.id,
        next=None if older is None else older.id,
    )


def _revertible(log: SharedLog, change_id: str) -> FoundChange:
    record = log.history.get(change_id)
    if record.undone_by is not None:
        raise ConflictError(
            "change.undone",
            f"change {record.id} was already reverted",
            "see it with `memdeck changes show`",
            id=record.id,
        )
    _refuse_thinned(record)
    return FoundChange(record, log)


def _store_of(found: FoundChange) -> Store:
    """Return the store whose files a change is of; ConflictError `change.note` if it has none, RefusedError
    `change.path` if they are not memory files of one store.
    """
    record, log = found
    if not record.files:
        raise ConflictError(
            "change.note",
            f"change {record.id} changed no file",
            "`memdeck trust revoke` revokes an approval",
            id=record.id,
        )
    store = log.of_all(record.paths)
    if store is None:
        words = f"{record.summary or record.operation!r} wrote more than memory files, so it cannot be reverted"
        raise RefusedError("change.path", words, id=record.id)
    return store


# -- turning it ------------------------------------------------------------------------------------------------------


def _turn(found: FoundChange, actor: str, now: datetime, name: str, take: Take | None = None) -> Change:
    """Take a change back, or bring it back, in one transaction over all its files."""
    record = found.record
    _refuse_thinned(record)

    def merged(read: Read) -> MergedChange:
        return _agreed(record, _merged(found, read, now, take, back=name != REDO))

    return _carry_out(found, merged, actor, now, name, f"{_DONE[name]}: {unturned(record.summary) or record.operation}")


def _carry_out(
    found: FoundChange, merged: Callable[[Read], MergedChange], actor: str, now: datetime, name: str, summary: str
) -> Change:
    """Write what `merged` returns for the files as they are under the lock, and return the change."""
    number = found.record.id
    undoes, redoes = (None, number) if name == REDO else (number, None)
    transaction = _store_of(found).transaction(name, actor=actor, now=now, undoes=undoes, redoes=redoes, recorded=True)
    with transaction:
        transaction.take(merged(transaction.bytes_of).files)
        return transaction.commit(summary)


def _merged(found: FoundChange, read: Read, now: datetime, take: Take | None, *, back: bool) -> MergedChange:
    """Return what taking a change back, or bringing it back, would write."""
    record, log = found
    # A file that comes back has the mode with which it went: by this change, or by the one that took it back.
    gone_by = record.id if back else record.undone_by
    gone = () if gone_by is None else log.history.get(gone_by).files
    modes = {file.path: file.mode for file in gone}
    with log.glance():
        files = []
        for file, regions in _whole_regions(found):
            left, wanted = (file.after, file.before) if back else (file.before, file.after)
            current = read(file.path)
            if identity(current) == left:
                # What other changes did to the file does not matter, not even whether their bytes are kept.
                turned = inverted(regions) if back else regions
                sides = current, None if wanted is None else apply(turned, current or b"")
            else:
                before, after = _known_versions(found, file)
                sides = (after, before) if back else (before, after)
            files.append(FileChange(file.path, *sides, modes.get(file.path)))
        return merge_change(log, files, read, now, take, stamped=False)


def _known_versions(found: FoundChange, file: RecordedFile) -> tuple[bytes | None, bytes | None]:
    """Return a file before and after a change; ConflictError `change.thinned` where that is not known any more."""
    versions = found.log.history.versions(found.record, file)
    if versions is None:
        raise _thinned(found.record)
    return versions


def _whole_regions(found: FoundChange) -> Iterator[tuple[RecordedFile, Sequence[Region]]]:
    """Yield the files of a change with all that was different in each, or MemdeckError `change.log_failed`."""
    known = found.log.history.regions_by_file(found.record)
    for file in found.record.files:
        regions = known.get(file.path, ())
        if sum(region.size for region in regions) != file.kept:
            # The log failed just now: with a part of a change, or none, nothing must be called done.
            raise MemdeckError(
                "change.log_failed",
                f"what change {found.record.id} did to {file.path} cannot be read from the change log",
                "see `memdeck doctor`, and try again",
                id=found.record.id,
                file=file.path,
            )
        yield file, regions


def _removed(found: FoundChange, file: RecordedFile, regions: Sequence[Region]) -> tuple[FileChange, Sequence[str]]:
    """Return the change that adds what a change removed from a file, and the titles of that."""
    log = found.log
    data = _known_versions(found, file)[0] or b""
    if is_lines(file.path):
        gone = log.history.removed_lines(file.path, regions)
        left = Counter(line for line, _ in gone)
        kept = []
        for line in lines_of(data):
            if left[line]:
                left[line] -= 1
            else:
                kept.append(line)
        return FileChange(file.path, b"".join(kept), data), [title for _, title in gone]
    document = log.document(file.path, data)
    if document is None:
        return FileChange(file.path, data, data), ()
    units = [one.before for one in units_of(regions, by_place=False) if one.before and one.after is None]
    sources = Counter(bare(entry) for entry in units)
    less = document
    for index, part in document.all_sections():
        places = set()
        for number, entry in enumerate(part.entries):
            if sources[bare(entry)]:
                sources[bare(entry)] -= 1
                places.add(number)
        if places:
            less = less.remove_entry(index, *places)
    return FileChange(file.path, less.dump(), data), [plain_name(entry) for entry in units]


# -- what prevents it ------------------------------------------------------------------------------------------------


def _agreed(record: ChangeRecord, merged: MergedChange) -> MergedChange:
    """Return what a merge would write; `document.conflict` for a conflict, or if nothing is left to do."""
    if merged.state in ("ready", "moved"):
        return merged
    if merged.state == "gone":
        raise ConflictError(
            "document.conflict",
            f"the text that {record.summary or record.operation!r} changed is gone or was already restored",
            "check the entry and make the change by hand",
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
        "check the entry and make the change by hand",
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


def _refuse_thinned(record: ChangeRecord) -> None:
    if not record.kept:
        raise _thinned(record)


def _thinned(record: ChangeRecord) -> ConflictError:
    said = f"the old content of change {record.id} is no longer kept"
    return ConflictError("change.thinned", said, "undo it by hand", id=record.id)
