"""Publishing the workspaces of a host: only changed files, and of those only the entries that are new or removed."""

from __future__ import annotations

import heapq
import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields
from datetime import datetime, timedelta
from hashlib import blake2b
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple

from memory.errors import MemdeckError, UsageError
from memory.fleet.local import LocalWorkspaces, Stamp, WorkspaceFailure, stamp_of, watched_of
from memory.registry import registered
from memory.search.index.inventory import FileRecords
from memory.search.match import day_number, tags_of
from memory.search.records import Record
from memory.system import System
from memory.systems.at_rest import TRIES, UNSETTLED, read_at_rest
from memory.workspace import Workspace

from .connect import lock_of
from .outgoing import are_clean, cleared, cleared_json, plain, together, without_quotes
from .words import vector_of

if TYPE_CHECKING:
    import psycopg


BATCH = 5_000
"""Entries after which the data is sent, in one transaction for many files and many small workspaces."""
SKETCH = 32
"""How many of a workspace's smallest digests are stored, to recognise copies of it."""
LONGEST = 100_000
"""Characters of an entry that are published; a deep search also reads the rest."""
REFRESH_SECONDS = 300
"""Seconds after which a workspace that could not be opened is tried again."""


class Pace(NamedTuple):
    """How long a round spends on workspaces without an edit, in seconds that an edit elsewhere may have to wait.

    `first` for those not read since the start, `again` for those whose files did not change; at least one of them is
    read.
    """

    first: float
    again: float


WHILE_SERVING = Pace(0.3, 0.1)
"""The pace of a running agent: edits are found within two seconds, even with eight agents on two cores."""
TO_THE_END = Pace(math.inf, math.inf)
"""Everything in one round."""

_COLUMNS = "id, host, file, kind, title, text, date, day, ref, tags, words"
_STAGED = "CREATE TEMP TABLE IF NOT EXISTS staged (LIKE memdeck.entry) ON COMMIT DELETE ROWS"
_INSERT = f"INSERT INTO entry ({_COLUMNS}) SELECT {_COLUMNS} FROM pg_temp.staged"
_PUT_FILE = """
INSERT INTO file (id, host, workspace, name, stamp, ids, digests, lines) OVERRIDING SYSTEM VALUE
VALUES (%s, %s, %s, %s, %s, %s, %s, %s) ON CONFLICT (id) DO UPDATE
SET stamp = excluded.stamp, ids = excluded.ids, digests = excluded.digests, lines = excluded.lines
"""
_PUT_WORKSPACE = """
INSERT INTO workspace (id, host, path, place, mode) OVERRIDING SYSTEM VALUE VALUES (%s, %s, %s, %s, %s)
"""
# The results of jobs contain titles and texts, too.
_FORGET_RESULTS = """
DELETE FROM result WHERE host = %s AND (
    job IN (SELECT id FROM procrastinate_jobs WHERE lock = ANY (%s))
    OR job IN (SELECT job FROM approval WHERE workspace = ANY (%s))
)
"""
_STANDS = "UPDATE workspace SET overview = %s, sketch = %s, place = coalesce(nullif(%s, ''), place) WHERE id = %s"
_BLOCK = {"entry_id": BATCH, "file_id_seq": 200, "workspace_id_seq": 50}
"""How many numbers of each sequence are reserved at once; unused ones are lost, which does no harm."""


@dataclass(slots=True)
class _File:
    """The published entries of a file; `raw` are hashes of the entries as read, to recognise unchanged ones."""

    id: int
    stamp: str
    ids: list[int]
    digests: list[int]
    raw: list[int] = field(default_factory=list)


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


class _Emptied(Exception):
    """The catalogue was emptied since it was read."""


@dataclass(slots=True)
class _Parcel:
    """The data that is sent in one transaction."""

    workspaces: list[tuple[Any, ...]] = field(default_factory=list)
    entries: list[tuple[Any, ...]] = field(default_factory=list)
    files: list[tuple[Any, ...]] = field(default_factory=list)
    gone_entries: list[int] = field(default_factory=list)
    gone_files: list[int] = field(default_factory=list)
    gone_workspaces: list[int] = field(default_factory=list)
    standing: list[tuple[Any, ...]] = field(default_factory=list)

    def add(self, other: _Parcel) -> None:
        """Add the content of another one."""
        for one in fields(self):
            getattr(self, one.name).extend(getattr(other, one.name))


class Published(NamedTuple):
    """The result of one round: workspaces that changed, entries that were new, and entries that were removed."""

    workspaces: int
    added: int
    removed: int
    left: int
    """How many workspaces were not read since the start."""


class Publisher:
    """Publishes the workspaces of one host over one connection, for one thread.

    It keeps its cursor in the catalogue: the stamp and the digests of each file.
    """

    def __init__(self, connection: psycopg.Connection[tuple[Any, ...]], local: LocalWorkspaces, host: int) -> None:
        """Nothing is read yet."""
        self._connection = connection
        self._local = local
        self._host = host
        self._known: dict[Path, _Workspace] | None = None
        self._parcel = _Parcel()
        self._free: dict[str, Iterator[int]] = {}
        self.generation = 0

    def round(
        self,
        wanted: Mapping[Path, str],
        now: datetime,
        go_on: Callable[[], bool] = lambda: True,
        *,
        pace: Pace = TO_THE_END,
    ) -> Published:
        """Update the catalogue with the workspaces that are `wanted` (path → `full` or `names`).

        Changed workspaces come first, and are sent. Then, for as long as `pace` allows, come those that were not read
        since the start, the last written first, and those whose files did not change. psycopg.Error; what was sent
        before stays, and the next round continues from there.
        """
        while True:
            self._parcel = _Parcel()
            try:
                done = self._round(wanted, now, go_on, pace)
                self._send()
            except BaseException as error:
                # The data may not have arrived.
                self._known = None
                if isinstance(error, _Emptied):
                    continue
                raise
            return done

    def _round(self, wanted: Mapping[Path, str], now: datetime, go_on: Callable[[], bool], pace: Pace) -> Published:
        generation = self._one("SELECT generation FROM catalogue")
        if self._known is None or generation != self.generation:
            if self._connection.execute("SELECT 1 FROM host WHERE id = %s", (self._host,)).fetchone() is None:
                # The catalogue was created again since the host was looked up.
                raise UsageError(
                    "fleet.unknown_host", "the catalogue does not know this host", "see memdeck fleet init"
                )
            self._known = self._cursor()
            self.generation = generation
        known = self._known
        removed = 0
        self._follow_moves(known, wanted)
        for path in [path for path in known if path not in wanted]:
            removed += sum(len(one.ids) for one in known[path].files.values())
            self._parcel.gone_workspaces.append(known[path].id)
            del known[path]
        first: list[Path] = []
        again: list[Path] = []
        changed: list[Path] = []
        for path, mode in wanted.items():
            held = known.get(path)
            if held is None or held.mode != mode:
                held = known[path] = self._register(path, mode, held)
            if not held.watched:
                first.append(path)
            elif stamp_of(held.watched) != held.stamp:
                changed.append(path)
            elif held.until is None or now >= held.until:
                again.append(path)
        if len(first) > 1 and pace.first < math.inf:
            first.sort(key=written_last, reverse=True)
        counts = [0, 0, 0]
        self._some(changed, math.inf, now, go_on, counts)
        if any(counts):
            self._send()
        begun = self._some(first, pace.first, now, go_on, counts)
        left = len(first) - begun
        # While some are unread, do nothing else, so that an edit in one of them is found sooner.
        looked = changed if left else [*changed, *first]
        new = [path for path in looked if known[path].until is None]
        self._some(new if left else [*new, *again], pace.again, now, go_on, counts)
        return Published(counts[0], counts[1], removed + counts[2], left)

    def _some(
        self, paths: Sequence[Path], seconds: float, now: datetime, go_on: Callable[[], bool], counts: list[int]
    ) -> int:
        """Read some workspaces for so many seconds, at least one; return how many."""
        assert self._known is not None
        start = monotonic()
        for done, path in enumerate(paths):
            if not go_on() or (done and monotonic() - start >= seconds):
                return done
            new, gone = self._publish(path, self._known[path], now)
            counts[0] += bool(new or gone)
            counts[1] += new
            counts[2] += gone
            if len(self._parcel.entries) >= BATCH:
                self._send()
        return len(paths)

    # -- the cursor -------------------------------------------------------------------------------------------

    def _cursor(self) -> dict[Path, _Workspace]:
        found: dict[Path, _Workspace] = {}
        by_id: dict[int, _Workspace] = {}
        rows = self._connection.execute("SELECT id, path, mode FROM workspace WHERE host = %s", (self._host,))
        for number, path, mode in rows.fetchall():
            found[Path(os.fsdecode(path))] = by_id[number] = _Workspace(number, mode, {})
        files = self._connection.execute(
            "SELECT workspace, name, id, stamp, ids, digests FROM file WHERE host = %s", (self._host,)
        )
        for workspace, name, number, stamp, ids, digests in files:
            by_id[workspace].files[name] = _File(number, stamp, ids, digests)
        return found

    def _register(self, path: Path, mode: str, held: _Workspace | None) -> _Workspace:
        if held is not None:
            # The published data may contain more than the new mode allows.
            self._parcel.gone_workspaces.append(held.id)
            self._send()
        number = self._number("workspace_id_seq")
        self._parcel.workspaces.append((number, self._host, os.fsencode(path), _place(path), mode))
        return _Workspace(number, mode, {})

    def _follow_moves(self, known: dict[Path, _Workspace], wanted: Mapping[Path, str]) -> None:
        """Let a workspace that moved to another path keep its number and its published data."""
        new = [path for path in wanted if path not in known]
        if not new:
            return
        places = dict(
            self._connection.execute("SELECT id, place FROM workspace WHERE host = %s", (self._host,)).fetchall()
        )
        for old in [path for path in known if not os.path.isdir(path)]:
            place = places.get(known[old].id)
            moved = next((path for path in new if place and _place(path) == place), None)
            if moved is not None and wanted[moved] == known[old].mode:
                self._connection.execute(
                    "UPDATE workspace SET path = %s WHERE id = %s", (os.fsencode(moved), known[old].id)
                )
                known[moved] = known.pop(old)
                known[moved].watched, known[moved].until = (), None
                new.remove(moved)

    # -- one workspace ----------------------------------------------------------------------------------------

    def _publish(self, path: Path, held: _Workspace, now: datetime) -> tuple[int, int]:
        import psycopg
        from psycopg.types.json import Jsonb

        counts = [0, 0]
        # Its status takes longer than reading what changed: edits must not wait for that, here or elsewhere.
        known = bool(held.files) and not held.broken

        def read(workspace: Workspace) -> dict[str, Any] | None:
            for _ in range(TRIES):
                watched = (*watched_of(workspace), *self._local.beside(workspace))
                # Taken before the files are read: changes meanwhile are noticed in the next round.
                stamp = stamp_of(watched)
                same = stamp == held.stamp
                if same or self._read_at_rest(workspace, held, counts):
                    break
            else:
                held.unsettled += 1
                return None
            held.unsettled = 0
            held.watched, held.stamp, held.until = watched, stamp, None
            if not same:
                held.problems = None
                if known:
                    return None
            found, held.until = self._local.stand(workspace, now, held.problems)
            held.problems = found.problems
            return found.json()

        done = self._local.one(path, read, (psycopg.Error,))
        if done is None:
            return counts[0], counts[1]
        overview = {"error": dict(done)} if isinstance(done, WorkspaceFailure) else done
        if held.mode == "names":
            overview = without_quotes(overview)
        overview = {key: value for key, value in cleared_json(overview).items() if key not in ("path", "host")}
        digests = (one for name, file in held.files.items() if name != "config.md" for one in file.digests)
        self._parcel.standing.append(
            (Jsonb(overview), heapq.nsmallest(SKETCH, set(digests)), _place(path), held.id),
        )
        held.broken = isinstance(done, WorkspaceFailure)
        if held.broken:
            held.until = now + timedelta(seconds=REFRESH_SECONDS)
            held.watched, held.stamp = (str(path),), stamp_of((str(path),))
        return counts[0], counts[1]

    def _read_at_rest(self, workspace: Workspace, held: _Workspace, counts: list[int]) -> bool:
        """Add the changes of a workspace to the parcel, and return whether all of it was in the files at one moment.

        If not, nothing is added: an entry that is moved meanwhile would be in two files, or in none.
        """
        files, parcel = dict(held.files), self._parcel
        patient = held.unsettled < UNSETTLED - 1
        self._parcel = _Parcel()
        found = None
        try:
            systems = workspace.systems()
            found = read_at_rest(workspace, systems, lambda: self._read(systems, held), patient=patient)
            if found is not None:
                parcel.add(self._parcel)
                counts[:] = found
        finally:
            self._parcel = parcel
            if found is None:
                held.files = files
        return found is not None

    def _read(self, systems: Iterable[System], held: _Workspace) -> tuple[int, int]:
        """Add the changes in the systems of a workspace to the parcel; return how many entries are new and removed."""
        added = removed = 0
        refused: dict[str, MemdeckError] = {}
        names = set()
        for system in systems:
            for source in system.records_by_file(refused):
                names.add(source.file)
                known = held.files.get(source.file)
                if known is not None and source.stamp and source.stamp == known.stamp:
                    continue
                try:
                    records = [group.record(at) for group in source.groups() for at in range(group.size)]
                except MemdeckError:  # its published data stays; the overview reports the problem
                    continue
                new, gone = self._read_file(held, source, records)
                added += new
                removed += gone
        if not refused:
            for name in [name for name in held.files if name not in names]:
                removed += len(held.files[name].ids)
                self._parcel.gone_files.append(held.files[name].id)
                del held.files[name]
        return added, removed

    def _read_file(self, held: _Workspace, source: FileRecords, records: Sequence[Record]) -> tuple[int, int]:
        known = held.files.get(source.file)
        if known is None:
            known = _File(self._number("file_id_seq"), "", [], [])
        before = dict(zip(known.raw, known.digests, strict=False))
        names_only = held.mode == "names"
        raw = [hash((one.kind, one.title, one.text, one.date, one.tags, one.ref)) for one in records]
        going = _going([(at, record) for at, record in enumerate(records) if raw[at] not in before], names_only)
        digests = [_digest_of(going[at]) if at in going else before[one] for at, one in enumerate(raw)]
        left: dict[int, list[int]] = {}
        for number, digest in zip(reversed(known.ids), reversed(known.digests), strict=True):
            left.setdefault(digest, []).append(number)
        ids = [found.pop() if (found := left.get(digest)) else 0 for digest in digests]
        new = [at for at, number in enumerate(ids) if not number]
        gone = [number for found in left.values() for number in found]
        for at in new:
            ids[at] = self._number("entry_id")
            one = going.get(at) or _going([(at, records[at])], names_only)[at]
            self._parcel.entries.append(
                (
                    ids[at],
                    self._host,
                    known.id,
                    one.kind,
                    one.title,
                    one.text,
                    one.date,
                    day_number(one.date),
                    one.ref,
                    list(one.tags),
                    vector_of(one.title, one.text),
                )
            )
        self._parcel.gone_entries += gone
        lines = [one.line for one in records]
        self._parcel.files.append(
            (known.id, self._host, held.id, plain(source.file), source.stamp, ids, digests, lines),
        )
        held.files[source.file] = _File(known.id, source.stamp, ids, digests, raw)
        return len(new), len(gone)

    # -- sending ----------------------------------------------------------------------------------------------

    def _send(self) -> None:
        """Send the data read so far, all of it or nothing."""
        parcel, self._parcel = self._parcel, _Parcel()
        if parcel == _Parcel():
            return
        connection = self._connection
        with connection.transaction():
            # A process that empties the catalogue waits for this lock, or was first.
            connection.execute("LOCK TABLE file IN ROW EXCLUSIVE MODE")
            if self._one("SELECT generation FROM catalogue") != self.generation:
                raise _Emptied
            if parcel.entries:
                connection.execute(_STAGED)
                # COPY does not work on a table with policies, so the rows go through a temporary table.
                with (
                    connection.cursor() as cursor,
                    cursor.copy(f"COPY pg_temp.staged ({_COLUMNS}) FROM STDIN") as copy,
                ):
                    for row in parcel.entries:
                        copy.write_row(row)
            # One round trip for all of it, for any number of files and workspaces.
            with connection.pipeline(), connection.cursor() as cursor:
                if parcel.gone_workspaces:
                    gone = parcel.gone_workspaces
                    cursor.execute(_FORGET_RESULTS.encode(), (self._host, [lock_of(one) for one in gone], gone))
                for table, gone in (
                    ("workspace", parcel.gone_workspaces),
                    ("file", parcel.gone_files),
                    ("entry", parcel.gone_entries),
                ):
                    if gone:
                        cursor.execute(f"DELETE FROM {table} WHERE id = ANY (%s)".encode(), (gone,))
                for words, rows in (
                    (_PUT_WORKSPACE, parcel.workspaces),
                    (_PUT_FILE, parcel.files),
                    (_STANDS, parcel.standing),
                ):
                    if rows:
                        cursor.executemany(words.encode(), rows)
                if parcel.entries:
                    cursor.execute(_INSERT.encode())

    def _number(self, sequence: str) -> int:
        """Return a number of a sequence that no one else gets; they are reserved in blocks."""
        free = self._free.get(sequence)
        number = None if free is None else next(free, None)
        if number is None:
            words = b"SELECT nextval(%s::regclass) FROM generate_series(1, %s)"
            found = self._connection.execute(words, (sequence, _BLOCK[sequence])).fetchall()
            free = self._free[sequence] = iter([one for (one,) in found])
            number = next(free)
        return number

    def _one(self, words: str, values: Sequence[Any] = ()) -> int:
        row = self._connection.execute(words.encode(), values).fetchone()
        assert row is not None
        return int(row[0])


def _digest_of(one: Record) -> int:
    """Return a number that changes with any part of an entry that leaves the host."""
    data = "\0".join((one.kind, one.title, one.text, one.date, one.ref or "", *one.tags))
    return int.from_bytes(blake2b(data.encode("utf-8", "replace"), digest_size=8).digest(), "big", signed=True)


def _going(records: Sequence[tuple[int, Record]], names_only: bool) -> dict[int, Record]:
    """Return records as they leave the host: without secrets, and with `names_only` without their text."""
    found = {}
    parts = []
    for _, record in records:
        # The whole text is scanned even if it is not sent: only there a value may be next to its name.
        parts.append((record.title, *record.tags, record.text))
    for (at, record), texts, clean in zip(records, parts, are_clean([*map(together, parts)]), strict=True):
        title, *tags, text = tuple(map(plain, texts)) if clean else cleared(*texts)
        # Tags are scanned as they are written: in the form in which they are compared, nobody recognises a secret.
        whole = tuple(tag for tag, raw in zip(tags, record.tags, strict=True) if tag == plain(raw))
        sent = "" if names_only else text[:LONGEST]
        found[at] = record._replace(title=title, text=sent, date=plain(record.date), tags=tags_of(whole))
    return found


def written_last(path: Path) -> int:
    """Return when the memory of a workspace was last written, as far as the times of its folders show."""
    found = 0
    for system in registered():
        place = f"{path}/{system.mark}"
        with suppress(OSError):
            found = max(found, os.stat(place).st_mtime_ns)
            with os.scandir(place) as within:
                found = max([found, *(one.stat().st_mtime_ns for one in within)])
    return found


def _place(path: Path) -> str:
    try:
        found = os.stat(path)
    except OSError:
        return ""
    return f"{found.st_dev}.{found.st_ino}"
