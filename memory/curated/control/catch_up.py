"""Decisions on what changed memories without the controller: accepted proposals, undo, redo, reverts, edits by hand.

The hash of the last decision on a file is compared with the file. What memdeck itself did in between is in the change
log, step by step; what is left is the work of another program, with the origin `file`.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from functools import partial
from typing import NamedTuple

from memory.base.scan import scan
from memory.curated.files.header import BadFile, read
from memory.curated.files.listing import digest, is_memory_name
from memory.curated.files.names import is_agent
from memory.curated.index.records import milliseconds, read_number, write_number
from memory.curated.model import ORIGINS, Root
from memory.curated.sides import Side
from memory.document.compare import apply
from memory.errors import MemdeckError
from memory.storage.changes import ChangeRecord
from memory.storage.transaction import Transaction

from .carry_out import recorded
from .decision import ABSENT, CHANGED, SEEN, Decision, RuleTrace, insert, of_root

_OWN = ("curated.write", "curated.replay", "curated.revert")
"""The operations of the controller: what they change is decided, unless a person had to accept it."""
_RULES = {"undo": "controller.undone", "redo": "controller.redone", "revert": "controller.reverted"}
_BACK = ("undo", "revert", "curated.revert")
"""The operations that take something back."""
_AT_ONCE = 500
"""How many files are recorded while the lock is held."""
_File = tuple[str, str]
"""A file by the key of its folder and its name."""


class _Last(NamedTuple):
    """The last decision on a file: its id, the hash that it left, and whether it is carried out."""

    root: Root
    id: str
    hash: str
    applied: bool


class _Step(NamedTuple):
    """One memory that a change touched; `source` is its earlier name where the change moved it."""

    root: Root
    name: str
    before: bytes | None
    after: bytes | None
    source: str


def catch_up(side: Side, roots: Sequence[Root], profile: str, now: datetime) -> None:
    """Record the decisions that are missing on the files of some folders of a side.

    What cannot be looked at or recorded now is left to the next look.
    """
    if not side.lasting:
        return
    with suppress(MemdeckError):
        none: tuple[dict[_File, _Last], int | None] = {}, None
        lasts, seen = side.records.look(partial(_known, side), none)
        if side.records.warnings:
            return  # First it is told that the records were damaged; they are not made again unnoticed.
        files = _differing(side, roots, lasts)
        if not files and not _changes(side, lasts, seen) and (seen is not None or not lasts):
            return
        _notice(side, [file for file in files if file in lasts], lasts, now)
        more = True
        while more:
            with side.store.transaction("curated.look", actor="replay", now=now, wait=False) as transaction:
                more = side.records.run(partial(_catch_up, side, roots, profile, transaction, now))


def _known(side: Side, db: sqlite3.Connection) -> tuple[dict[_File, _Last], int | None]:
    """Return the last decision on each file, and the newest change that was looked at."""
    found: dict[_File, _Last] = {}
    roots: dict[tuple[str, str | None, str | None], Root] = {}
    for number, scope, agent, tier, op, targets, name, after, applied in db.execute(
        "SELECT id, scope, agent_name, agent_tier, op, targets, target_filename, post_content_hash, applied_at"
        f" FROM memory_decisions WHERE {CHANGED} AND abandoned IS NULL ORDER BY seq"
    ):
        chosen = (scope, agent, tier)
        root = roots[chosen] = roots.get(chosen) or side.root(*chosen)
        found[root.key, name] = _Last(root, number, ABSENT if op == "delete" else after, applied is not None)
        for source in json.loads(targets) if op == "update" else ():
            if source != name:
                found[root.key, source] = _Last(root, number, ABSENT, applied is not None)
    return found, read_number(db, SEEN)


def _differing(side: Side, roots: Sequence[Root], lasts: dict[_File, _Last]) -> list[_File]:
    """Return the files that are not as their last decision left them; files that are not memories are left out."""
    text = "SELECT root, filename, content_hash FROM memory_catalog_entries"
    rows: list[tuple[str, str, str | None]] = side.catalog.read(roots, lambda db: db.execute(text).fetchall())
    there = {(key, name): found for key, name, found in rows}
    differing = []
    for file in sorted({*there, *lasts}):
        last, found = lasts.get(file), there.get(file, ABSENT)
        if found is not None and found != (ABSENT if last is None else last.hash) and (last is None or last.applied):
            differing.append(file)
    return differing


def _changes(side: Side, lasts: dict[_File, _Last], seen: int | None) -> Sequence[ChangeRecord]:
    """Return the changes of memories that memdeck made past the controller since the last look, the oldest first."""
    if seen is None and lasts:
        return ()  # Older records name no place in the log: there the files alone tell what is missing.
    marks = ",".join("?" * len(_OWN))
    folders = (side.root(side.name).folder, "agents")
    paths = [f"{side.store.prefix}{folder}/*.md" for folder in folders]
    found = side.store.history.records(
        f"seq > ? AND actor <> 'outside' AND (operation NOT IN ({marks}) OR proposal IS NOT NULL)"
        " AND seq IN (SELECT seq FROM file WHERE (path GLOB ? OR path GLOB ?) AND path NOT GLOB '*/_*')",
        [seen or 0, *_OWN, *paths],
        0,
    )
    return found[::-1]


def _notice(side: Side, files: Sequence[_File], lasts: dict[_File, _Last], now: datetime) -> None:
    """Have the change log note what another program did to known memories, so that it can be taken back."""
    paths = [side.store.shown(f"{lasts[file].root.folder}/{file[1]}") for file in files]
    if paths:
        side.store.history.notice(paths, now)


def _catch_up(
    side: Side, roots: Sequence[Root], profile: str, transaction: Transaction, now: datetime, db: sqlite3.Connection
) -> bool:
    """Add what is missing, of many files some; return whether there are more: others wait for the lock meanwhile."""
    lasts, seen = _known(side, db)
    newest = side.store.history.state()[0]
    made = _Catching(side, profile, lasts, db, now)
    for record in _changes(side, lasts, seen):
        for step in _steps(side, record):
            made.add_step(record, step)
    folders = {root.key: root for root in roots}
    files = _differing(side, roots, lasts)
    for key, name in files[:_AT_ONCE]:
        last = lasts.get((key, name))
        root = folders[key] if last is None else last.root
        made.add_found(root, name, transaction.read(f"{root.folder}/{name}").base)
    write_number(db, SEEN, newest)
    return len(files) > _AT_ONCE and made.count > 0


def _steps(side: Side, record: ChangeRecord) -> Iterator[_Step]:
    """Yield what a change did to memories; one that took its name from another of the same change was moved."""
    found: list[_Step] = []
    for file in record.files:
        place = _place(side, file.path)
        if place is None or file.kept is None:
            continue
        history = side.store.history
        before = history.before(record.id, file.path)
        if before is None and file.before is not None:
            continue
        try:
            after = None if file.after is None else apply(history.regions(record, file), before or b"")
        except ValueError:  # rows that do not belong together
            continue
        found.append(_Step(*place, before, after, place[1]))
    gone, come = ([one for one in found if getattr(one, key) is None] for key in ("after", "before"))
    if len(found) == 2 and len(gone) == len(come) == 1 and gone[0].root == come[0].root:
        found = [come[0]._replace(before=gone[0].before, source=gone[0].name)]
    yield from found


def _place(side: Side, path: str) -> tuple[Root, str] | None:
    """Return the folder of memories and the name of a file of the change log, None for another file."""
    folder, _, name = path.removeprefix(side.store.prefix).rpartition("/")
    if not is_memory_name(name):
        return None
    own = side.root(side.name)
    if folder == own.folder:
        return own, name
    parts = folder.split("/")
    if len(parts) != 3 or (parts[0], parts[2]) != ("agents", "memory") or not is_agent(parts[1]):
        return None
    return side.root("agent", parts[1], side.name), name


class _Catching:
    """Adds the decisions of one look, in the transaction of the records."""

    def __init__(
        self, side: Side, profile: str, lasts: dict[_File, _Last], db: sqlite3.Connection, now: datetime
    ) -> None:
        """`lasts` is kept up to date with what is added, and `count` says how much that is."""
        self._side, self._lasts, self._db, self._now = side, lasts, db, now
        self._profile = profile
        self.count = 0

    def add_step(self, record: ChangeRecord, step: _Step) -> None:
        """Add the decision on what a change of the log did to a memory, unless it is known already."""
        if self._hash(step.root, step.name) == _hash_of(step.after):
            return
        if self._hash(step.root, step.source) != _hash_of(step.before):
            self.add_found(step.root, step.source, step.before)
        rule = "controller.accepted" if record.proposal else _RULES.get(record.operation, "controller.file")
        by = record.actor if record.reviewer is None else f"{record.actor}, accepted by {record.reviewer}"
        back = record.operation in _BACK
        self._add(step, rule, record.summary, f"by {by}, change {record.id}", "cli", record.time, back=back)

    def add_found(self, root: Root, name: str, data: bytes | None) -> None:
        """Add the decision on a memory that another program made, changed or removed."""
        last = self._lasts.get((root.key, name))
        before = None
        if last is not None and last.hash != ABSENT:
            text = "SELECT post_content FROM memory_decisions WHERE id = ?"
            (before,) = self._db.execute(text, (last.id,)).fetchone()
        words = "the file was found; nothing is recorded of who wrote it"
        if last is not None:
            words = f"another program {'made' if before is None else 'removed' if data is None else 'changed'} the file"
        self._add(_Step(root, name, before, data, name), "controller.file", words, "", "file", self._now, back=False)

    def _hash(self, root: Root, name: str) -> str:
        last = self._lasts.get((root.key, name))
        return ABSENT if last is None else last.hash

    def _add(self, step: _Step, rule: str, reason: str, details: str, origin: str, at: datetime, *, back: bool) -> None:
        root, name, before, after, source = step
        if _hash_of(before) == _hash_of(after) and source == name:
            return
        header = {}
        if after is not None:
            try:
                found = read(after, root)[0]
            except BadFile:
                return
            if not any(hit.action == "reject" for hit in scan((found.name, found.description), self._profile)):
                header = found.json()
            if rule == "controller.accepted" and found.provenance.source_actor in ORIGINS:
                origin = str(found.provenance.source_actor)
        op = "add" if before is None else "delete" if after is None else "update"
        reason = reason[:240]
        made = Decision(
            root, op, () if op == "add" else (source,), name, reason, (RuleTrace(rule, True, reason, name, details),),
            1.0, digest(f"{rule} {details}".encode()), origin, header, prior=before, prior_hash=_hash_of(before),
            post=after, post_hash="" if after is None else digest(after), workspace_id=self._side.workspace_id,
            reverts=self._reverted(step) if back else None,
        )  # fmt: skip
        last = self._lasts.get((root.key, source)) or self._lasts.get((root.key, name))
        made = made.keyed("" if last is None else last.id, None, self._now)._replace(decided_at=milliseconds(at))
        insert(self._db, made)
        self.count += 1
        event = "memory.write.reverted" if back else None
        recorded(self._side, made, self._now, self._db, event=event)
        if source != name:
            self._lasts[root.key, source] = _Last(root, made.id, ABSENT, True)
        self._lasts[root.key, name] = _Last(root, made.id, _hash_of(after), True)

    def _reverted(self, step: _Step) -> str | None:
        """Return the newest decision that did the opposite of a step."""
        where, values = of_root(step.root)
        row = self._db.execute(
            f"SELECT id FROM memory_decisions WHERE {where} AND target_filename = ? AND prior_hash = ?"
            " AND CASE op WHEN 'delete' THEN ? ELSE post_content_hash END = ? ORDER BY seq DESC LIMIT 1",
            [*values, step.source, _hash_of(step.after), ABSENT, _hash_of(step.before)],
        ).fetchone()
        return None if row is None else str(row[0])


def _hash_of(data: bytes | None) -> str:
    return ABSENT if data is None else digest(data)
