"""Publishing what a host holds: only files that changed, and of those only the entries that are new or gone."""

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
from memory.fleet.local import LocalWorkspaces, WorkspaceFailure
from memory.fleet.watch import Stamp, stamp_of, watched_of
from memory.registry import registered
from memory.search.match import day_number, tags_of
from memory.systems import systems_of
from memory.systems.at_rest import TRIES, UNSETTLED, read_at_rest

from .connect import lock_of
from .outgoing import are_clean, cleared, cleared_json, plain, together, without_quotes
from .words import vector_of

if TYPE_CHECKING:
    import psycopg

    from memory.search import Record
    from memory.search.index.inventory import Shelf
    from memory.systems import System
    from memory.workspace import Workspace

BATCH = 5_000
"""Entries after which what was read is sent: of many files, and of many small workspaces, in one transaction."""
SKETCH = 32
"""The smallest digests of a workspace that are kept to tell copies of it."""
LONGEST = 100_000
"""Characters of an entry that are published; a search in depth reads the others."""
REFRESH_SECONDS = 300
"""After how long a workspace that could not be opened is tried again."""


class Pace(NamedTuple):
    """How long a round goes on with workspaces that are no edit, in seconds of which an edit elsewhere may wait.

    `first` for those that were not looked at since the start, `again` for those whose files did not change; at least
    one of them is looked at.
    """

    first: float
    again: float


WHILE_SERVING = Pace(0.3, 0.1)
"""How an agent goes on that runs: edits are found within two seconds, also while eight of them share two cores."""
TO_THE_END = Pace(math.inf, math.inf)
"""All in one round."""

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
# What jobs came to holds titles and texts, too.
_FORGET_RESULTS = """
DELETE FROM result WHERE host = %s AND (
    job IN (SELECT id FROM procrastinate_jobs WHERE lock = ANY (%s))
    OR job IN (SELECT job FROM approval WHERE workspace = ANY (%s))
)
"""
_STANDS = "UPDATE workspace SET overview = %s, sketch = %s, place = coalesce(nullif(%s, ''), place) WHERE id = %s"
_BLOCK = {"entry_id": BATCH, "file_id_seq": 200, "workspace_id_seq": 50}
"""How many numbers of each sequence are taken at once; those that are left over when it ends are not missed."""


class Going(NamedTuple):
    """An entry as it leaves the host."""

    kind: str
    title: str
    text: str
    date: str
    ref: str | None
    tags: tuple[str, ...]

    @property
    def digest(self) -> int:
        """A number that differs where anything of it does."""
        data = "\0".join((self.kind, self.title, self.text, self.date, self.ref or "", *self.tags))
        return int.from_bytes(blake2b(data.encode("utf-8", "replace"), digest_size=8).digest(), "big", signed=True)


@dataclass(slots=True)
class _File:
    """What is published of a file, entry by entry; `raw` tells whether an entry is as it was when it was read."""

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
    """When it stands otherwise although no file changed; None: it was not looked at yet."""
    broken: bool = False
    """Whether it could not be read the last time."""
    problems: int | None = None
    """What a check of its files found as they are now, where that is known: it is most of a look."""
    unsettled: int = 0
    """At how many looks, one after the other, somebody wrote to it while it was read."""


class _Emptied(Exception):
    """The catalogue was emptied since it was read."""


@dataclass(slots=True)
class _Parcel:
    """What is sent in one transaction."""

    workspaces: list[tuple[Any, ...]] = field(default_factory=list)
    entries: list[tuple[Any, ...]] = field(default_factory=list)
    files: list[tuple[Any, ...]] = field(default_factory=list)
    gone_entries: list[int] = field(default_factory=list)
    gone_files: list[int] = field(default_factory=list)
    gone_workspaces: list[int] = field(default_factory=list)
    standing: list[tuple[Any, ...]] = field(default_factory=list)

    def add(self, other: _Parcel) -> None:
        """Add what is in another one."""
        for one in fields(self):
            getattr(self, one.name).extend(getattr(other, one.name))


class Published(NamedTuple):
    """What one round sent: workspaces that changed, entries that were new, and entries that were gone."""

    workspaces: int
    added: int
    removed: int
    left: int
    """How many workspaces were not looked at since the start."""


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
        """Bring the catalogue up to date with the workspaces that are `wanted` (path → `full` or `names`).

        What changed comes first, and is sent; then those that were not looked at since the start, what was written last
        before all others, and those whose files did not change, for as long as `pace` says.
        psycopg.Error; what was sent before stays, and the next round goes on from there.
        """
        while True:
            self._parcel = _Parcel()
            try:
                done = self._round(wanted, now, go_on, pace)
                self._send()
            except BaseException as error:
                # What is known here may not have arrived.
                self._known = None
                if isinstance(error, _Emptied):
                    continue
                raise
            return done

    def _round(self, wanted: Mapping[Path, str], now: datetime, go_on: Callable[[], bool], pace: Pace) -> Published:
        generation = self._one("SELECT generation FROM catalogue")
        if self._known is None or generation != self.generation:
            if self._connection.execute("SELECT 1 FROM host WHERE id = %s", (self._host,)).fetchone() is None:
                # The catalogue was made anew since the host was looked for.
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
        # An edit in one that was not looked at yet is found sooner where nothing else is done first.
        looked = changed if left else [*changed, *first]
        new = [path for path in looked if known[path].until is None]
        self._some(new if left else [*new, *again], pace.again, now, go_on, counts)
        return Published(counts[0], counts[1], removed + counts[2], left)

    def _some(
        self, paths: Sequence[Path], seconds: float, now: datetime, go_on: Callable[[], bool], counts: list[int]
    ) -> int:
        """Look at some workspaces for so many seconds, at least at one; return at how many."""
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
            # What is published now may say more than it may from now on.
            self._parcel.gone_workspaces.append(held.id)
            self._send()
        number = self._number("workspace_id_seq")
        self._parcel.workspaces.append((number, self._host, os.fsencode(path), _place(path), mode))
        return _Workspace(number, mode, {})

    def _follow_moves(self, known: dict[Path, _Workspace], wanted: Mapping[Path, str]) -> None:
        """Let a workspace that lies at another path now keep its number and what is published of it."""
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
        error: list[psycopg.Error] = []
        # How it stands takes longer than to read what changed: edits shall not wait for that, here or elsewhere.
        known = bool(held.files) and not held.broken

        def read(workspace: Workspace) -> dict[str, Any] | None:
            for _ in range(TRIES):
                watched = (*watched_of(workspace), *self._local.beside(workspace))
                # Before the files are read: what changes meanwhile is seen in the next round.
                stamp = stamp_of(watched)
                same = stamp == held.stamp
                try:
                    if same or self._read_at_rest(workspace, held, counts):
                        break
                except psycopg.Error as raised:
                    error.append(raised)
                    raise
            else:
                held.unsettled += 1
                return None
            held.unsettled = 0
            held.watched, held.stamp, held.until = watched, stamp, None
            if not same:
                held.problems = None
                if known:
                    return None
            standing = self._local.stand(workspace, now, held.problems)
            held.until, held.problems = standing.until, standing.overview.problems
            return standing.overview.json()

        done = self._local.one(path, read)
        if error:
            raise error[0]
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
        """Put what is new in a workspace into the parcel, and tell whether all of it stood there at one moment.

        What did not is left out: an entry that is moved meanwhile would be in two files, or in none.
        """
        files, parcel = dict(held.files), self._parcel
        patient = held.unsettled < UNSETTLED - 1
        self._parcel = _Parcel()
        found = None
        try:
            systems = systems_of(workspace)
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
        """Put what is new in the systems of a workspace into the parcel."""
        added = removed = 0
        refused: dict[str, MemdeckError] = {}
        names = set()
        for system in systems:
            for shelf in system.shelves(refused):
                names.add(shelf.file)
                known = held.files.get(shelf.file)
                if known is not None and shelf.stamp and shelf.stamp == known.stamp:
                    continue
                try:
                    records = [group.record(at) for group in shelf.groups() for at in range(group.size)]
                except MemdeckError:  # what is published of it stays; the overview names the problem
                    continue
                new, gone = self._read_file(held, shelf, records)
                added += new
                removed += gone
        if not refused:
            for name in [name for name in held.files if name not in names]:
                removed += len(held.files[name].ids)
                self._parcel.gone_files.append(held.files[name].id)
                del held.files[name]
        return added, removed

    def _read_file(self, held: _Workspace, shelf: Shelf, records: Sequence[Record]) -> tuple[int, int]:
        known = held.files.get(shelf.file)
        if known is None:
            known = _File(self._number("file_id_seq"), "", [], [])
        before = dict(zip(known.raw, known.digests, strict=False))
        names_only = held.mode == "names"
        raw = [hash((one.kind, one.title, one.text, one.date, one.tags, one.ref)) for one in records]
        going = _going([(at, record) for at, record in enumerate(records) if raw[at] not in before], names_only)
        digests = [going[at].digest if at in going else before[one] for at, one in enumerate(raw)]
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
            (known.id, self._host, held.id, plain(shelf.file), shelf.stamp, ids, digests, lines),
        )
        held.files[shelf.file] = _File(known.id, shelf.stamp, ids, digests, raw)
        return len(new), len(gone)

    # -- sending ----------------------------------------------------------------------------------------------

    def _send(self) -> None:
        """Send what was read so far, all of it or nothing."""
        parcel, self._parcel = self._parcel, _Parcel()
        if parcel == _Parcel():
            return
        connection = self._connection
        with connection.transaction():
            # Whoever empties the catalogue waits for this, or was before it.
            connection.execute("LOCK TABLE file IN ROW EXCLUSIVE MODE")
            if self._one("SELECT generation FROM catalogue") != self.generation:
                raise _Emptied
            if parcel.entries:
                connection.execute(_STAGED)
                # COPY does not go into a table with policies, so the rows take a way around.
                with (
                    connection.cursor() as cursor,
                    cursor.copy(f"COPY pg_temp.staged ({_COLUMNS}) FROM STDIN") as copy,
                ):
                    for row in parcel.entries:
                        copy.write_row(row)
            # One way there and back for all of it, however many files and workspaces it is about.
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
        """Return a number of a sequence that nobody else gets; they are taken in blocks."""
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


def _going(records: Sequence[tuple[int, Record]], names_only: bool) -> dict[int, Going]:
    """Return records as they leave the host: without secrets, and with `names_only` without what they say."""
    found = {}
    parts = []
    for _, record in records:
        text = "" if names_only else record.text[:LONGEST]
        # The whole text is looked at, also where it stays: a value may stand beside its name there only.
        parts.append((record.title, text, *tags_of(record.tags), record.text))
    for (at, record), texts, clean in zip(records, parts, are_clean([*map(together, parts)]), strict=True):
        title, text, *tags = (tuple(map(plain, texts)) if clean else cleared(*texts))[:-1]
        found[at] = Going(record.kind, title, text, plain(record.date), record.ref, tuple(tags))
    return found


def written_last(path: Path) -> int:
    """Return when something in the memory of a workspace was written last, as far as a glance at its folders tells."""
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
