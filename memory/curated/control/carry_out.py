"""Carrying out decisions: recorded first, then file and index in one transaction, then the stamp and the event.

Those that were recorded but not carried out, because the process ended in between, are finished by a replay. What
changed memories without the controller gets its decisions by a catch-up: accepted proposals, undo, redo, reverts, edits
by hand. The hash of the last decision on a file is compared with the file. What memdeck itself did in between is in the
change log, step by step; all other changes are the work of another program, with the origin `file`.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from functools import partial
from typing import NamedTuple

from memory.base.scan import rejecting
from memory.curated.catalog import memories
from memory.curated.files import BadFile, fault_of, index_line, index_lines, is_memory_name, read, rendered
from memory.curated.model import FOLDER, INDEX, ORIGINS, Json, Root
from memory.curated.records import UNAVAILABLE, add_event, keep_value, milliseconds, value_of
from memory.curated.sides import Side, root_of
from memory.errors import BusyError, ConflictError, MemdeckError
from memory.files.refs import short
from memory.storage import Change
from memory.storage.changes import ChangeRecord
from memory.storage.transaction import Transaction

from .decision import ABSENT, CHANGED, SEEN, Decision, Made, direct, hash_of, insert, of_root, select

WORDS = {"add": "added", "update": "updated", "delete": "deleted"}
"""The effect of each decision, in words for people."""
_EVENTS = {"reject": "memory.write.rejected", "noop": "memory.write.shadowed"}


def carry_out(
    side: Side, decision: Decision, transaction: Transaction, now: datetime, *, event: str | None = None
) -> Change | None:
    """Record a decision, change its files, then stamp it; the lock is held all the time.

    Where the files cannot be changed, the decision's row is deleted and the error is raised. A failure after the change
    does not fail the decision: a missing stamp is left to the next replay, which finds the decision's bytes in its
    file.
    """
    stamp = partial(recorded, side, decision, now, event=event)
    side.records.run(partial(insert, side, decision))
    if not decision.changes:
        side.records.run(stamp)
        return None
    try:
        change = _commit(side, decision, transaction)
    except BaseException:
        gone = "DELETE FROM memory_decisions WHERE id = ? AND applied_at IS NULL"
        side.records.run(lambda db: db.execute(gone, (decision.id,)))
        raise
    try:
        side.records.run(stamp)
    except Exception as error:
        if not (isinstance(error, MemdeckError) and error.code == UNAVAILABLE):
            side.store.history.warn(f"the change was made, but a later step failed: {type(error).__name__}")
    return change


def _commit(side: Side, decision: Decision, transaction: Transaction) -> Change:
    """Change the files: the memory, and the index with it at the top, then all others, the newest first."""
    root = decision.root
    mine = (decision.target_filename, decision.source_file)
    target, source, index = (f"{root.folder}/{name}" for name in (*mine, INDEX))
    transaction.read(target)
    if decision.prior is not None and (decision.post is None or source != target):
        transaction.remove(source, base=decision.prior)
    if decision.post is not None:
        transaction.write(target, decision.post, base=decision.prior if source == target else None)
    stored = transaction.read(index)
    known = side.catalog.read((root,), partial(memories, roots=(root,)))
    lines = index_lines(one for one in known if one.filename not in mine)
    if decision.op != "delete":
        line = index_line(decision.header["name"], decision.target_filename, decision.header["description"])
        lines = {decision.target_filename: line, **lines}
    data = rendered(stored.data, lines, mine)
    if data:
        transaction.write(index, data, base=stored.base)
    elif stored.base is not None:
        transaction.remove(index, base=stored.base)
    title = short(decision.title) if decision.title else decision.target_filename
    change = transaction.commit(f"{WORDS[decision.op]} memory {title} ({root.label})")
    side.store.forget(target)  # Otherwise thousands of files would stay in memory.
    return change


def recorded(
    side: Side,
    decision: Decision,
    now: datetime,
    db: sqlite3.Connection,
    *,
    event: str | None = None,
    replayed: bool = False,
) -> None:
    """Record that a decision is carried out, with its event; a memory that moved to another file keeps its signals."""
    target = decision.target_filename
    facts: Json = {"decision_id": decision.id, "target_id": target, "operation": decision.op, "target_filename": target,
                   "reason": decision.reason, "applied": decision.changes,
                   "rule_ids": ",".join(one.name for one in decision.trace)}  # fmt: skip
    if replayed:
        facts["replayed"] = True
    at = milliseconds(now)
    if not db.execute("UPDATE memory_decisions SET applied_at = ? WHERE id = ?", (at, decision.id)).rowcount:
        # The records were damaged since and started again: the bytes before and after are kept all the same.
        insert(side, decision._replace(applied_at=at), db)
    if decision.op == "update" and decision.source_file != target:
        old, new = (f"{decision.root.key}/{name}" for name in (decision.source_file, target))
        db.execute("UPDATE OR REPLACE memory_recall_signals SET chunk_id = ? WHERE chunk_id = ?", (new, old))
    op = event or _EVENTS.get(decision.op, "memory.write.committed")
    add_event(db, side.records.workspace_id, op, now, decision.root, facts)


# -- after a crash --------------------------------------------------------------------------------------------------


def pending(side: Side) -> list[Decision]:
    """Return the decisions that are not carried out yet, the oldest first."""
    where = "applied_at IS NULL AND abandoned IS NULL ORDER BY seq"
    return side.records.look(lambda db: select(db, where, []), [])


def replay(side: Side, now: datetime) -> int:
    """Carry out the pending decisions in order, and return how many were handled.

    A file that already holds the decision's bytes is only stamped. A file that another program changed since stays as
    it is, and the decision is recorded as abandoned with its contents. Where another process holds the lock, the
    pending decisions are left to it.
    """
    done = 0
    for decision in pending(side):
        try:
            with side.store.transaction("curated.replay", actor="replay", now=now, wait=False) as transaction:
                if any(one.id == decision.id for one in pending(side)):
                    _finish(side, decision, transaction, now)
                    done += 1
        except BusyError:
            return done
        except ConflictError:
            continue
    return done


def _finish(side: Side, decision: Decision, transaction: Transaction, now: datetime) -> None:
    why = ""
    if decision.changes:
        names = (decision.target_filename, decision.source_file)
        if any(map(fault_of, names)):
            why = "a decision may not write a file of this name"
        else:
            target, source = (hash_of(transaction.read(f"{decision.root.folder}/{name}").base) for name in names)
            moves = names[0] != names[1]
            after = ABSENT if decision.op == "delete" else decision.post_hash
            if source == decision.prior_hash and (not moves or target == ABSENT) and target != after:
                _commit(side, decision, transaction)
            elif target != after or (moves and source != ABSENT):
                why = "another program changed the file before it was carried out"
    if why:
        text = "UPDATE memory_decisions SET abandoned = ? WHERE id = ?"
        side.records.run(lambda db: db.execute(text, (why, decision.id)))
    else:
        side.records.run(partial(recorded, side, decision, now, replayed=True))


# -- catching up -----------------------------------------------------------------------------------------------------

_OWN = ("curated.write", "curated.replay", "curated.revert")
"""The operations of the controller: what they change is decided, unless a person had to accept it."""
_RULES = {"undo": "controller.undone", "redo": "controller.redone", "revert": "controller.reverted"}
_BACK = ("undo", "revert", "curated.revert")
"""The operations that take something back."""


class _Last(NamedTuple):
    """The last decision on a file: its folder and id, the hash that it left, and whether it is carried out."""

    root: Root
    id: str
    hash: str
    applied: bool


_Lasts = Mapping[tuple[str, str], _Last]
"""The last decisions by the key of the folder and the name of the file."""


def catch_up(side: Side, roots: Sequence[Root], profile: str, now: datetime) -> None:
    """Record the decisions that are missing on the files of some folders of a side.

    What cannot be looked at or recorded now is left to the next look.
    """
    if not side.lasting:
        return
    with suppress(MemdeckError):
        none: dict[tuple[str, str], _Last] = {}
        lasts = side.records.look(_known, none)
        seen = side.records.look(lambda db: value_of(db, SEEN), None)
        if side.records.warnings:
            return  # First it is told that the records were damaged; they are not made again unnoticed.
        files = _differing(side, roots, lasts)
        if not files and not _changes(side, seen):
            return
        # What another program did to known memories is noted in the change log, so that it can be taken back.
        known = [side.store.shown(f"{lasts[file].root.folder}/{file[1]}") for file in files if file in lasts]
        side.store.together.notice(known, now)
        with side.store.transaction("curated.look", actor="replay", now=now, wait=False) as transaction:
            side.records.run(partial(_catch_up, side, roots, profile, transaction, now))


def _known(db: sqlite3.Connection) -> dict[tuple[str, str], _Last]:
    """Return the last decision on each file."""
    found: dict[tuple[str, str], _Last] = {}
    for number, scope, agent, tier, op, targets, name, after, applied in db.execute(
        "SELECT id, scope, agent_name, agent_tier, op, targets, target_filename, post_content_hash, applied_at"
        f" FROM memory_decisions WHERE {CHANGED} AND abandoned IS NULL ORDER BY seq"
    ):
        root = root_of(scope, agent, tier)
        for source in json.loads(targets) if op == "update" else ():
            found[root.key, source] = _Last(root, number, ABSENT, applied is not None)
        found[root.key, name] = _Last(root, number, ABSENT if op == "delete" else after, applied is not None)
    return found


def _differing(side: Side, roots: Sequence[Root], lasts: _Lasts) -> list[tuple[str, str]]:
    """Return the files that are not as their last decision left them; files that are not memories are left out."""
    text = "SELECT root, filename, content_hash FROM memory_catalog_entries"
    rows: list[tuple[str, str, str | None]] = side.catalog.read(roots, lambda db: db.execute(text).fetchall())
    # The catalogue still has the files of a folder that is gone.
    known = {*(root.key for root in roots), *(key for key, _ in lasts)}
    there = {(key, name): found for key, name, found in rows if key in known}
    differing = []
    for file in sorted({*there, *lasts}):
        last, found = lasts.get(file), there.get(file, ABSENT)
        if found is not None and found != (ABSENT if last is None else last.hash) and (last is None or last.applied):
            differing.append(file)
    return differing


def _changes(side: Side, seen: int | None) -> Sequence[ChangeRecord]:
    """Return the changes of memories that memdeck made past the controller since the last look, the oldest first."""
    marks = ",".join("?" * len(_OWN))
    paths = [f"{side.store.prefix}{folder}/*.md" for folder in (FOLDER, "agents")]
    found = side.store.history.records(
        f"seq > ? AND actor <> 'outside' AND (operation NOT IN ({marks}) OR proposal IS NOT NULL)"
        " AND seq IN (SELECT seq FROM file WHERE (path GLOB ? OR path GLOB ?) AND path NOT GLOB '*/_*')",
        [seen or 0, *_OWN, *paths],
        0,
    )
    return found[::-1]


def _catch_up(
    side: Side, roots: Sequence[Root], profile: str, transaction: Transaction, now: datetime, db: sqlite3.Connection
) -> None:
    """Add the missing decisions."""
    lasts = _known(db)
    newest = side.store.history.state()[0]
    add = _Adding(side, profile, lasts, db, now)
    folders = {root.folder: root for root in (*roots, *(last.root for last in lasts.values()))}
    for change in _changes(side, value_of(db, SEEN)):
        for step in _steps(side, change, folders):
            add(step.root, step.source, step.before)
            add(step.root, step.name, step.after, change, step.source)
    by_key = {root.key: root for root in folders.values()}
    for key, name in _differing(side, roots, lasts):
        add(by_key[key], name, transaction.read(f"{by_key[key].folder}/{name}").base)
    keep_value(db, SEEN, newest)


def _steps(side: Side, change: ChangeRecord, folders: Mapping[str, Root]) -> Sequence[Made]:
    """Return what a change did to memories, as far as the log still knows it; one that got another name was moved."""
    found = []
    for file in change.files:
        folder, _, name = file.path.removeprefix(side.store.prefix).rpartition("/")
        known = side.store.history.versions(change, file) if folder in folders and is_memory_name(name) else None
        if known is not None:
            found.append(Made(folders[folder], name, known[0], name, known[1], {}))
    gone, come = ([one for one in found if getattr(one, key) is None] for key in ("after", "before"))
    if len(found) == 2 and len(gone) == len(come) == 1 and gone[0].root == come[0].root:
        found = [come[0]._replace(source=gone[0].source, before=gone[0].before)]
    return found


class _Adding:
    """Adds the decisions of one look, in the transaction of the records."""

    def __init__(
        self, side: Side, profile: str, lasts: dict[tuple[str, str], _Last], db: sqlite3.Connection, now: datetime
    ) -> None:
        """`lasts` is kept up to date with the added decisions."""
        self._side, self._profile, self._lasts, self._db, self._now = side, profile, lasts, db, now

    def __call__(
        self, root: Root, name: str, data: bytes | None, change: ChangeRecord | None = None, source: str = ""
    ) -> None:
        """Add the decision on a file that is not as the last one left it: by a change of the log, else another program.

        A file that is no memory gets none. `source` is the name that it had before, "" for the same.
        """
        source = source or name
        last, there = (self._lasts.get((root.key, one)) for one in (source, name))
        if hash_of(data) == (ABSENT if there is None else there.hash):
            return
        before: bytes | None = None
        if last is not None and last.hash != ABSENT:
            text = "SELECT post_content FROM memory_decisions WHERE id = ?"
            (before,) = self._db.execute(text, (last.id,)).fetchone()
        did = "made" if before is None else "removed" if data is None else "changed"
        rule, origin, details, at, back = "controller.file", "file", "", self._now, False
        reason = f"another program {did} the file" if last else "the file was found; its author is unknown"
        if change is not None:
            rule = "controller.accepted" if change.proposal else _RULES.get(change.operation, rule)
            by = change.actor if change.reviewer is None else f"{change.actor}, accepted by {change.reviewer}"
            reason, details, origin, at = change.summary, f"by {by}, change {change.id}", "cli", change.time
            back = change.operation in _BACK
        header = {}
        if data is not None:
            try:
                found = read(data, root)[0]
            except BadFile:
                return
            if not rejecting((found.name, found.description), self._profile):
                header = found.json()
            if rule == "controller.accepted" and found.provenance.source_actor in ORIGINS:
                origin = str(found.provenance.source_actor)
        step = Made(root, source, before, name, data, header)
        made = direct(
            self._side, step, rule, reason[:240], details, origin, _reverted(step, self._db) if back else None
        )
        made = made.keyed("" if last is None else last.id, None, at)
        insert(self._side, made, self._db)
        recorded(self._side, made, self._now, self._db, event="memory.write.reverted" if back else None)
        self._lasts[root.key, source] = _Last(root, made.id, ABSENT, True)
        self._lasts[root.key, name] = _Last(root, made.id, hash_of(data), True)


def _reverted(step: Made, db: sqlite3.Connection) -> str | None:
    """Return the newest decision that did the opposite of a step."""
    where, values = of_root(step.root)
    row = db.execute(
        f"SELECT id FROM memory_decisions WHERE {where} AND target_filename = ? AND prior_hash = ?"
        " AND CASE op WHEN 'delete' THEN ? ELSE post_content_hash END = ? ORDER BY seq DESC LIMIT 1",
        [*values, step.source, hash_of(step.after), ABSENT, hash_of(step.before)],
    ).fetchone()
    return None if row is None else str(row[0])
