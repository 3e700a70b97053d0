"""Publishing what a host holds: only files that changed, and of those only the entries that are new or gone."""

from __future__ import annotations

import heapq
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from memory.errors import MemdeckError
from memory.fleet.local import Failure, Local
from memory.fleet.watch import Stamp, stamp_of, watched_of
from memory.search.match import day_number, tags_of

from .outgoing import cleared, cleared_json, plain
from .words import vector_of

if TYPE_CHECKING:
    import psycopg

    from memory.search import Record
    from memory.search.index.inventory import Shelf
    from memory.workspace import Workspace

BATCH = 5_000
"""Entries that are sent at once."""
SKETCH = 32
"""The smallest digests of a workspace that are kept to tell copies of it."""
LONGEST = 100_000
"""Characters of an entry that are published; a search in depth reads the others."""
REFRESH_SECONDS = 300
"""After how long the counts of a workspace are looked at anew: tasks become overdue by themselves."""

_COLUMNS = "id, host, file, kind, title, text, date, day, ref, tags, words"
_STAGED = "CREATE TEMP TABLE IF NOT EXISTS staged (LIKE memdeck.entry) ON COMMIT DELETE ROWS"


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
    looked: datetime | None = None


class Published(NamedTuple):
    """What one round sent: workspaces that changed, entries that were new, and entries that were gone."""

    workspaces: int
    added: int
    removed: int


class Publisher:
    """Publishes the workspaces of one host over one connection, for one thread.

    It keeps its cursor in the catalogue: the stamp and the digests of each file.
    """

    def __init__(self, connection: psycopg.Connection[tuple[Any, ...]], local: Local, host: int) -> None:
        """Nothing is read yet."""
        self._connection = connection
        self._local = local
        self._host = host
        self._known: dict[Path, _Workspace] | None = None
        self.generation = 0

    def round(self, wanted: Mapping[Path, str], now: datetime, go_on: Callable[[], bool] = lambda: True) -> Published:
        """Bring the catalogue up to date with the workspaces that are `wanted` (path → `full` or `names`).

        psycopg.Error; what was sent before stays, and the next round goes on from there.
        """
        generation = self._one("SELECT generation FROM catalogue")
        if self._known is None or generation != self.generation:
            self._known = self._cursor()
            self.generation = generation
        known = self._known
        changed = added = removed = 0
        self._follow_moves(known, wanted)
        for path in [path for path in known if path not in wanted]:
            removed += sum(len(one.ids) for one in known[path].files.values())
            self._connection.execute("DELETE FROM workspace WHERE id = %s", (known[path].id,))
            del known[path]
        for path, mode in wanted.items():
            if not go_on():
                break
            held = known.get(path)
            if held is None or held.mode != mode:
                held = known[path] = self._register(path, mode, held)
            stamp = stamp_of(held.watched)
            stale = held.looked is None or (now - held.looked).total_seconds() >= REFRESH_SECONDS
            if held.watched and stamp == held.stamp and not stale:
                continue
            new, gone = self._publish(path, held, now, whole=not held.watched or stamp != held.stamp)
            changed += bool(new or gone)
            added += new
            removed += gone
        return Published(changed, added, removed)

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
            self._connection.execute("DELETE FROM workspace WHERE id = %s", (held.id,))
        number = self._one(
            "INSERT INTO workspace (host, path, place, mode) VALUES (%s, %s, %s, %s) RETURNING id",
            (self._host, os.fsencode(path), _place(path), mode),
        )
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
                known[moved].watched, known[moved].looked = (), None
                new.remove(moved)

    # -- one workspace ----------------------------------------------------------------------------------------

    def _publish(self, path: Path, held: _Workspace, now: datetime, *, whole: bool) -> tuple[int, int]:
        counts = [0, 0]

        def send(workspace: Workspace) -> dict[str, Any]:
            watched = watched_of(workspace)
            # Before the files are read: what changes meanwhile is seen in the next round.
            stamp = stamp_of(watched)
            if whole:
                counts[:] = self._send(workspace, held)
            overview = self._local.look(workspace, now).json()
            held.watched, held.stamp = watched, stamp
            return overview

        import psycopg

        error: list[psycopg.Error] = []

        def guarded(workspace: Workspace) -> dict[str, Any]:
            try:
                return send(workspace)
            except psycopg.Error as raised:
                error.append(raised)
                raise

        done = self._local.one(path, guarded)
        if error:
            held.files = self._cursor().get(path, held).files
            raise error[0]
        overview = {"error": dict(done)} if isinstance(done, Failure) else done
        overview = {key: value for key, value in cleared_json(overview).items() if key not in ("path", "host")}
        from psycopg.types.json import Jsonb

        digests = (one for name, file in held.files.items() if name != "config.md" for one in file.digests)
        self._connection.execute(
            "UPDATE workspace SET overview = %s, sketch = %s, place = %s WHERE id = %s",
            (Jsonb(overview), heapq.nsmallest(SKETCH, set(digests)), _place(path), held.id),
        )
        held.looked = now
        if isinstance(done, Failure):
            held.watched, held.stamp = (str(path),), stamp_of((str(path),))
        return counts[0], counts[1]

    def _send(self, workspace: Workspace, held: _Workspace) -> tuple[int, int]:
        from memory.systems import systems_of

        added = removed = 0
        refused: dict[str, MemdeckError] = {}
        names = set()
        with self._connection.transaction():
            self._connection.execute(_STAGED)
            for system in systems_of(workspace):
                for shelf in system.shelves(refused):
                    names.add(shelf.file)
                    known = held.files.get(shelf.file)
                    if known is not None and shelf.stamp and shelf.stamp == known.stamp:
                        continue
                    try:
                        records = [group.record(at) for group in shelf.groups() for at in range(group.size)]
                    except MemdeckError:  # what is published of it stays; the overview names the problem
                        continue
                    new, gone = self._send_file(held, shelf, records)
                    added += new
                    removed += gone
            if not refused:
                for name in [name for name in held.files if name not in names]:
                    removed += len(held.files[name].ids)
                    self._connection.execute("DELETE FROM file WHERE id = %s", (held.files[name].id,))
                    del held.files[name]
        return added, removed

    def _send_file(self, held: _Workspace, shelf: Shelf, records: Sequence[Record]) -> tuple[int, int]:
        known = held.files.get(shelf.file)
        if known is None:
            number = self._one(
                "INSERT INTO file (host, workspace, name, stamp) VALUES (%s, %s, %s, '') RETURNING id",
                (self._host, held.id, plain(shelf.file)),
            )
            known = _File(number, "", [], [])
        before = dict(zip(known.raw, known.digests, strict=False))
        names_only = held.mode == "names"
        raw = [hash((one.kind, one.title, one.text, one.date, one.tags, one.ref)) for one in records]
        going: dict[int, Going] = {}
        digests = []
        for at, record in enumerate(records):
            digest = before.get(raw[at])
            if digest is None:
                going[at] = _going(record, names_only)
                digest = going[at].digest
            digests.append(digest)
        left: dict[int, list[int]] = {}
        for number, digest in zip(reversed(known.ids), reversed(known.digests), strict=True):
            left.setdefault(digest, []).append(number)
        ids = [found.pop() if (found := left.get(digest)) else 0 for digest in digests]
        new = [at for at, number in enumerate(ids) if not number]
        gone = [number for found in left.values() for number in found]
        if gone:
            self._connection.execute("DELETE FROM entry WHERE id = ANY (%s)", (gone,))
        for at, number in zip(new, self._numbers(len(new)), strict=True):
            ids[at] = number
        for start in range(0, len(new), BATCH):
            part = new[start : start + BATCH]
            self._copy(known.id, [(ids[at], going.get(at) or _going(records[at], names_only)) for at in part])
        self._connection.execute(
            "UPDATE file SET stamp = %s, ids = %s, digests = %s, lines = %s WHERE id = %s",
            (shelf.stamp, ids, digests, [one.line for one in records], known.id),
        )
        held.files[shelf.file] = _File(known.id, shelf.stamp, ids, digests, raw)
        return len(new), len(gone)

    def _copy(self, file: int, rows: Sequence[tuple[int, Going]]) -> None:
        # COPY does not go into a table with policies, so the rows take a way around.
        with (
            self._connection.cursor() as cursor,
            cursor.copy(f"COPY pg_temp.staged ({_COLUMNS}) FROM STDIN") as copy,
        ):
            for number, one in rows:
                copy.write_row(
                    (
                        number,
                        self._host,
                        file,
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
        self._connection.execute(f"INSERT INTO entry ({_COLUMNS}) SELECT {_COLUMNS} FROM pg_temp.staged")
        self._connection.execute("DELETE FROM pg_temp.staged")

    def _numbers(self, count: int) -> Iterator[int]:
        if not count:
            return iter(())
        found = self._connection.execute("SELECT nextval('entry_id') FROM generate_series(1, %s)", (count,))
        return (number for (number,) in found.fetchall())

    def _one(self, words: str, values: Sequence[Any] = ()) -> int:
        row = self._connection.execute(words.encode(), values).fetchone()
        assert row is not None
        return int(row[0])


def _going(record: Record, names_only: bool) -> Going:
    """Return a record as it leaves the host: without secrets, and with `names_only` without what it says."""
    text = "" if names_only else record.text[:LONGEST]
    # The whole text is looked at, also where it stays: a value may stand beside its name there only.
    title, text, *tags = cleared(record.title, text, *tags_of(record.tags), record.text)[:-1]
    return Going(record.kind, title, text, plain(record.date), record.ref, tuple(tags))


def _place(path: Path) -> str:
    try:
        found = os.stat(path)
    except OSError:
        return ""
    return f"{found.st_dev}.{found.st_ino}"
