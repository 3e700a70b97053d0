"""Publishing the workspaces of a host: only changed files, and of those only the entries that are new or removed."""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from hashlib import blake2b
from pathlib import Path
from time import monotonic
from typing import Any, NamedTuple

from memory.errors import BusyError, MemdeckError
from memory.fleet.local import LocalWorkspaces, Stamp, WorkspaceFailure, stamp_of, watched_of
from memory.search.index import tags_of
from memory.search.rank import day_number
from memory.search.records import FileRecords, Record
from memory.system import System
from memory.systems.at_rest import TRIES, UNSETTLED, read_at_rest
from memory.workspace import Workspace

from .connect import Database
from .outgoing import are_clean, cleared, cleared_json, plain, together, without_quotes
from .words import vector_of

LONGEST = 100_000
"""Characters of an entry that are published; a deep search also reads the rest."""
REFRESH_SECONDS = 300
"""Seconds after which a workspace that could not be opened is tried again."""
UNREAD_SECONDS, STATUS_SECONDS = 0.3, 0.1
"""How long a round reads workspaces that were not read since the start, and how long it works out states: so long an
edit elsewhere may have to wait.
"""
_COLUMNS = "file, digest, host, kind, title, text, date, day, ref, tags, words"
_PUT_ENTRY = f"INSERT INTO entry ({_COLUMNS}) VALUES ({', '.join(['%s'] * 11)}) ON CONFLICT DO NOTHING"
_PUT_FILE = """
INSERT INTO file (host, workspace, name, stamp, digests, lines) VALUES (%s, %s, %s, %s, %s, %s)
ON CONFLICT (workspace, name) DO UPDATE
SET stamp = excluded.stamp, digests = excluded.digests, lines = excluded.lines RETURNING id
"""


@dataclass(slots=True)
class _File:
    """The published entries of a file; `raw` has the digests by the entries as they were read: the hash, and how many
    equal ones come before.
    """

    stamp: str
    digests: list[int]
    raw: dict[tuple[int, int], int] = field(default_factory=dict)


class _Change(NamedTuple):
    """A file that changed: its new state, the lines of its entries, the new entries, and the digests that are gone."""

    file: _File
    lines: list[int]
    new: dict[int, Record]
    gone: list[int]


@dataclass(slots=True)
class _Workspace:
    id: int
    mode: str
    files: dict[str, _File]
    watched: tuple[str, ...] = ()
    stamp: Stamp = ()
    until: datetime | None = None
    """When its status changes although no file does; None: its status is not known yet."""
    broken: bool = False
    """Whether it could not be read the last time."""
    problems: int | None = None
    """The number of problems in its current files, if known: the check is most of the cost of a status."""
    unsettled: int = 0
    """In how many refreshes in a row it was written to while it was read."""


class Published(NamedTuple):
    """The result of one round: workspaces that changed, entries that were new, and entries that were removed."""

    workspaces: int
    added: int
    removed: int
    left: int
    """How many workspaces were not read since the start."""


class Publisher:
    """Publishes the workspaces of one host over one connection, for one thread; after an error it is unusable.

    It keeps its cursor in the catalogue: the stamp and the digests of each file.
    """

    def __init__(self, connection: Database, local: LocalWorkspaces, host: int) -> None:
        """Read the published workspaces. psycopg.Error."""
        self._connection = connection
        self._local = local
        self._host = host
        self._generation = self._one("SELECT generation FROM catalogue")
        self._known: dict[Path, _Workspace] = {}
        by_id: dict[int, _Workspace] = {}
        rows = connection.execute("SELECT id, path, mode FROM workspace WHERE host = %s", (host,))
        for number, path, mode in rows.fetchall():
            self._known[Path(os.fsdecode(path))] = by_id[number] = _Workspace(number, mode, {})
        files = connection.execute("SELECT workspace, name, stamp, digests FROM file WHERE host = %s", (host,))
        for workspace, name, stamp, digests in files:
            by_id[workspace].files[name] = _File(stamp, digests)

    def round(
        self, wanted: Mapping[Path, str], now: datetime, go_on: Callable[[], bool] = lambda: True, *, whole: bool = True
    ) -> Published:
        """Update the catalogue with the workspaces that are `wanted` (path → `full` or `names`).

        Changed workspaces come first. Then come those that were not read since the start, and the states that are not
        known: all of them if `whole`, else for a moment, at least one of each. BusyError `fleet.anew`: the catalogue
        was made anew. psycopg.Error; what was sent before stays.
        """
        self._check_generation()
        known, counts = self._known, Counter[str]()
        for path in [path for path in known if path not in wanted]:
            counts["removed"] += sum(len(one.digests) for one in known[path].files.values())
            self._forget(path)
        unread, changed, again = [], [], []
        for path, mode in wanted.items():
            held = known.get(path)
            if held is None or held.mode != mode:
                held = self._register(path, mode)
            if not held.watched:
                unread.append(path)
            elif stamp_of(held.watched) != held.stamp:
                changed.append(path)
            elif held.until is None or now >= held.until:
                again.append(path)
        self._some(changed, math.inf, now, go_on, counts)
        read = self._some(unread, math.inf if whole else UNREAD_SECONDS, now, go_on, counts)
        left = len(unread) - read
        # While some are unread, do nothing else, so that an edit in one of them is found sooner.
        new = [path for path in (changed if left else [*changed, *unread]) if known[path].until is None]
        states = new if left else [*new, *again]
        self._some(states, math.inf if whole else STATUS_SECONDS, now, go_on, counts)
        return Published(counts["workspaces"], counts["added"], counts["removed"], left)

    def _some(
        self, paths: Sequence[Path], seconds: float, now: datetime, go_on: Callable[[], bool], counts: Counter[str]
    ) -> int:
        """Publish some workspaces for so many seconds, at least one; return how many."""
        start = monotonic()
        for done, path in enumerate(paths):
            if not go_on() or (done and monotonic() - start >= seconds):
                return done
            added, removed = self._publish(path, self._known[path], now)
            counts.update(workspaces=bool(added or removed), added=added, removed=removed)
        return len(paths)

    def _register(self, path: Path, mode: str) -> _Workspace:
        if path in self._known:
            self._forget(path)  # the published data may contain more than the new mode allows
        words = "INSERT INTO workspace (host, path, mode) VALUES (%s, %s, %s) RETURNING id"
        self._known[path] = _Workspace(self._one(words, (self._host, os.fsencode(path), mode)), mode, {})
        return self._known[path]

    def _forget(self, path: Path) -> None:
        """Delete a workspace, with its files, entries and jobs: their answers contain titles and texts, too."""
        self._connection.execute("DELETE FROM workspace WHERE id = %s", (self._known.pop(path).id,))

    # -- one workspace ----------------------------------------------------------------------------------------

    def _publish(self, path: Path, held: _Workspace, now: datetime) -> tuple[int, int]:
        """Send what changed in a workspace, or its status; return how many entries are new, and how many are gone."""
        import psycopg

        counts = (0, 0)
        # Its status takes longer than reading what changed: edits must not wait for that, here or elsewhere.
        known = bool(held.files) and not held.broken

        def read(workspace: Workspace) -> dict[str, Any] | None:
            nonlocal counts
            for _ in range(TRIES):
                watched = (*watched_of(workspace), *self._local.beside(workspace))
                # Taken before the files are read: changes meanwhile are noticed in the next round.
                stamp = stamp_of(watched)
                if stamp == held.stamp:
                    break
                systems = workspace.systems()
                patient = held.unsettled < UNSETTLED - 1
                found = read_at_rest(workspace, systems, lambda: self._read(systems, held), patient=patient)  # noqa: B023
                if found is not None:
                    counts = self._send(held, *found)
                    held.problems = None
                    break
            else:
                held.unsettled += 1
                return None
            same = stamp == held.stamp
            held.unsettled = 0
            held.watched, held.stamp, held.until = watched, stamp, None
            if not same and known:
                return None
            overview, held.until = self._local.overview(workspace, now, held.problems)
            held.problems = overview.problems
            return overview.json()

        done = self._local.one(path, read, (psycopg.Error, BusyError))
        if done is not None:
            self._put_status(path, held, done, now)
        return counts

    def _put_status(self, path: Path, held: _Workspace, done: dict[str, Any], now: datetime) -> None:
        from psycopg.types.json import Jsonb

        held.broken = isinstance(done, WorkspaceFailure)
        if held.broken:
            done = {"error": dict(done)}
            held.until = now + timedelta(seconds=REFRESH_SECONDS)
            held.watched, held.stamp = (str(path),), stamp_of((str(path),))
        if held.mode == "names":
            done = without_quotes(done)
        overview = {key: value for key, value in cleared_json(done).items() if key not in ("path", "host")}
        self._connection.execute("UPDATE workspace SET overview = %s WHERE id = %s", (Jsonb(overview), held.id))

    def _read(self, systems: Iterable[System], held: _Workspace) -> tuple[dict[str, _Change], list[str]]:
        """Return the changed files of a workspace, and the names of those that are gone."""
        changes: dict[str, _Change] = {}
        refused: dict[str, MemdeckError] = {}
        names = set()
        for system in systems:
            for source in system.records_by_file(refused):
                if source.file.startswith(("~", "/")):
                    continue  # A file outside of the workspace is its person's own, and stays on this host.
                names.add(source.file)
                known = held.files.get(source.file)
                if known is not None and source.stamp and source.stamp == known.stamp:
                    continue
                try:
                    records = source.records()
                except MemdeckError:  # its published data stays; the overview reports the problem
                    continue
                changes[source.file] = _change(known, source, records, names_only=held.mode == "names")
        return changes, [] if refused else [name for name in held.files if name not in names]

    def _send(self, held: _Workspace, changes: dict[str, _Change], gone: list[str]) -> tuple[int, int]:
        """Send the changes of a workspace, all of them or none; return how many entries are new, and how many gone."""
        removed = sum(len(held.files[name].digests) for name in gone)
        with self._connection.transaction(), self._connection.cursor() as cursor:
            self._check_generation()
            if gone:
                words = "DELETE FROM file WHERE workspace = %s AND name = ANY (%s)"
                cursor.execute(words, (held.id, [plain(name) for name in gone]))
            for name, change in changes.items():
                file = change.file
                row = (self._host, held.id, plain(name), file.stamp, file.digests, change.lines)
                number = self._one(_PUT_FILE, row)
                if change.gone:
                    cursor.execute("DELETE FROM entry WHERE file = %s AND digest = ANY (%s)", (number, change.gone))
                if change.new:
                    rows = [_row(number, self._host, digest, one) for digest, one in change.new.items()]
                    cursor.executemany(_PUT_ENTRY.encode(), rows)
        for name in gone:
            del held.files[name]
        held.files |= {name: change.file for name, change in changes.items()}
        removed += sum(len(change.gone) for change in changes.values())
        return sum(len(change.new) for change in changes.values()), removed

    def _check_generation(self) -> None:
        """Raise BusyError `fleet.anew` if the catalogue was made anew; in a transaction, that has to wait from now."""
        if self._one("SELECT generation FROM catalogue") != self._generation:
            raise BusyError("fleet.anew", "the catalogue was made anew", "everything is published again")

    def _one(self, words: str, values: Sequence[Any] = ()) -> int:
        row = self._connection.execute(words.encode(), values).fetchone()
        assert row is not None
        return int(row[0])


def _change(known: _File | None, source: FileRecords, records: Sequence[Record], *, names_only: bool) -> _Change:
    """Return how a file changed; entries that are as they were read before are not scanned again."""
    before = {} if known is None else known.raw
    seen: Counter[int] = Counter()
    raw = []
    for one in records:
        value = hash((one.kind, one.title, one.text, one.date, one.tags, one.ref))
        raw.append((value, seen[value]))
        seen[value] += 1
    new = [at for at, one in enumerate(raw) if one not in before]
    going = dict(zip(new, _going([records[at] for at in new], names_only=names_only), strict=True))
    digests = [_digest_of(going[at], one[1]) if at in going else before[one] for at, one in enumerate(raw)]
    old = set(() if known is None else known.digests)
    added = {digests[at]: one for at, one in going.items() if digests[at] not in old}
    file = _File(source.stamp, digests, dict(zip(raw, digests, strict=True)))
    return _Change(file, [one.line for one in records], added, list(old.difference(digests)))


def _digest_of(one: Record, place: int) -> int:
    """Return a number that changes with any part of an entry that leaves the host; `place` tells equal ones apart."""
    data = "\0".join((str(place), one.kind, one.title, one.text, one.date, one.ref or "", *one.tags))
    return int.from_bytes(blake2b(data.encode("utf-8", "replace"), digest_size=8).digest(), "big", signed=True)


def _row(file: int, host: int, digest: int, one: Record) -> tuple[Any, ...]:
    day, words = day_number(one.date), vector_of(one.title, one.text)
    return (file, digest, host, one.kind, one.title, one.text, one.date, day, one.ref, list(one.tags), words)


def _going(records: Sequence[Record], *, names_only: bool) -> list[Record]:
    """Return records as they leave the host: without secrets, and with `names_only` without their text."""
    # The whole text is scanned even if it is not sent: only there a value may be next to its name.
    parts = [(record.title, *record.tags, record.text) for record in records]
    found = []
    for record, texts, clean in zip(records, parts, are_clean([*map(together, parts)]), strict=True):
        title, *tags, text = tuple(map(plain, texts)) if clean else cleared(*texts)
        # Tags are scanned as they are written: in the form in which they are compared, no secret is recognised.
        whole = tuple(tag for tag, raw in zip(tags, record.tags, strict=True) if tag == plain(raw))
        sent = "" if names_only else text[:LONGEST]
        found.append(record._replace(title=title, text=sent, date=plain(record.date), tags=tags_of(whole)))
    return found
