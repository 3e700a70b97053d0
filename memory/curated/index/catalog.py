"""The catalogue of one side: what its files say, kept up with them and made anew whenever it is missing or damaged."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, TypeVar

from memory.curated.files.index_file import Line
from memory.curated.files.listing import PASSING, Seen, read_file, seen_in
from memory.curated.model import Header, Invalid, Json, Memory, Provenance, Root, changed_at

from .schema import CATALOG, CATALOG_VERSION
from .words import fold, grams, spaced

if TYPE_CHECKING:
    import sqlite3

    from memory.storage import Store
    from memory.storage.private.places import StateFolder

T = TypeVar("T")
_SETTLED_NS = 50_000_000
"""How old a folder's time must be before an equal one means that nothing changed: stamps are that coarse."""
_LONGEST = 40
"""Letters of the longest word that a typo may have been made of."""


def body_hash(body: str) -> str:
    """Return what is equal for two bodies that differ in case and spaces only."""
    return hashlib.sha256(" ".join(body.split()).casefold().encode("utf-8", "surrogatepass")).hexdigest()


class Catalog:
    """What the files of one side say; without a folder it lives in memory."""

    def __init__(self, store: Store, folder: StateFolder | None, name: str = "") -> None:
        """Keep where things are; nothing is opened or read yet."""
        from memory.storage.private.derived import Derived

        self._store = store
        ending = f"-{name}" if name else ""
        self._derived = None if folder is None else Derived(folder, f"catalog{ending}.sqlite", CATALOG_VERSION, CATALOG)
        self._connection: sqlite3.Connection | None = None
        self._identity: tuple[int, int] | None = None
        self._swept: dict[str, int] = {}

    def close(self) -> None:
        """Close the database; what is asked later opens it again."""
        connection, self._connection = self._connection, None
        self._swept.clear()
        if connection is not None:
            connection.close()

    def read(self, roots: Sequence[Root], work: Callable[[sqlite3.Connection], T], *, whole: bool = False) -> T:
        """Return `work(connection)` on a catalogue that is up to date for some folders.

        `whole` looks at every file again. A database that fails is thrown away; where none can be had, memory serves.
        """
        import sqlite3

        for attempt in range(2):
            try:
                connection = self._open()
                for root in roots:
                    self._sync(connection, root, whole)
                return work(connection)
            except sqlite3.Error as error:
                self.close()
                if attempt or self._derived is None:
                    self._derived = None
                elif not isinstance(error, sqlite3.OperationalError):
                    self._derived.discard()
        connection = self._open()
        for root in roots:
            self._sync(connection, root, whole)
        return work(connection)

    def rebuild(self, root: Root) -> int:
        """Read every file of a folder again and return how many memories it holds."""

        def forget(connection: sqlite3.Connection) -> None:
            connection.execute("BEGIN IMMEDIATE")
            rows = connection.execute("SELECT id FROM memory_catalog_entries WHERE root = ?", (root.key,)).fetchall()
            for (entry,) in rows:
                _remove(connection, entry)
            connection.execute("COMMIT")

        self.read((), forget)
        self._swept.pop(root.key, None)
        count = "SELECT count(*) FROM memory_catalog_entries WHERE root = ? AND error IS NULL"
        return int(self.read((root,), lambda db: db.execute(count, (root.key,)).fetchone()[0], whole=True))

    # -- keeping it up with the files ---------------------------------------------------------------------------------

    def _open(self) -> sqlite3.Connection:
        import sqlite3

        if self._connection is not None and (self._derived is None or self._identity == self._derived.identity()):
            return self._connection
        self.close()
        connection = None if self._derived is None else self._derived.open()
        if connection is None:
            self._derived = None
            connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
            for statement in CATALOG.split(";"):
                connection.execute(statement)
        else:
            connection.execute("PRAGMA cache_size = -64000")
            connection.execute("PRAGMA mmap_size = 268435456")
        self._connection = connection
        self._identity = None if self._derived is None else self._derived.identity()
        return connection

    def _sync(self, db: sqlite3.Connection, root: Root, whole: bool) -> None:
        try:
            stamp = os.stat(self._store.root / root.folder).st_mtime_ns
        except OSError:
            stamp = 0
        if not whole and self._swept.get(root.key) == stamp:
            return
        import time

        begun = time.time_ns()
        seen = {one.filename: one for one in seen_in(self._store, root)}
        known = {
            row[1]: (row[0], Seen(row[1], row[2], row[3], row[4]))
            for row in db.execute(
                "SELECT id, filename, seen_mtime, seen_size, seen_inode FROM memory_catalog_entries WHERE root = ?",
                (root.key,),
            )
        }
        settled = True
        gone = [entry for name, (entry, _) in known.items() if name not in seen]
        changed = [one for one in seen.values() if one.filename not in known or known[one.filename][1] != one]
        if gone or changed:
            db.execute("BEGIN IMMEDIATE")
            try:
                for entry in gone:
                    _remove(db, entry)
                for one in changed:
                    found = read_file(self._store, root, one.filename)
                    if isinstance(found, Invalid) and found.line == 0:
                        # No fault of its text: what failed once may be readable now.
                        found = read_file(self._store, root, one.filename)
                    if isinstance(found, Invalid) and found.code == PASSING:
                        # What was known of it stays; the next look tries again.
                        settled = False
                        if one.filename not in known:
                            _put(db, found, one._replace(mtime_ns=0, inode=0))
                    elif found is not None:
                        _put(db, found, one)
                db.execute("COMMIT")
            except BaseException:
                if db.in_transaction:
                    db.execute("ROLLBACK")
                raise
        if settled and begun - stamp > _SETTLED_NS:
            self._swept[root.key] = stamp
        else:
            self._swept.pop(root.key, None)


def _remove(db: sqlite3.Connection, entry: int) -> None:
    db.execute("DELETE FROM memory_catalog_entries WHERE id = ?", (entry,))
    db.execute("DELETE FROM memory_chunks WHERE entry = ?", (entry,))
    db.execute("DELETE FROM memory_chunks_fts WHERE rowid = ?", (entry,))
    db.execute("DELETE FROM memory_chunks_fts_trigram WHERE rowid = ?", (entry,))


def _put(db: sqlite3.Connection, found: Memory | Invalid, seen: Seen) -> None:
    row = db.execute(
        "SELECT id FROM memory_catalog_entries WHERE root = ? AND filename = ?", (found.root.key, found.filename)
    ).fetchone()
    if row is not None:
        _remove(db, row[0])
    entry = None if row is None else row[0]
    head = (entry, found.root.key, found.filename)
    if isinstance(found, Invalid):
        bad = (found.line, found.code, found.reason)
        values: tuple[object, ...] = (*head, *(None,) * 8, seen.mtime_ns, *seen[1:], *bad)
    else:
        made = json.dumps(found.header.json(), ensure_ascii=False)
        about = (found.header.type, found.slug, found.header.name, found.header.description, found.body, made)
        values = (*head, *about, found.hash, body_hash(found.body), found.mtime_ns, *seen[1:], None, None, None)
    made_id = db.execute(f"INSERT INTO memory_catalog_entries VALUES ({','.join('?' * 18)})", values).lastrowid
    if isinstance(found, Memory):
        name, description, body = found.header.name, found.header.description, found.body
        content = f"{name}\n{description}\n{body}"
        said = f"{spaced(name)}\n{spaced(description)}\n{spaced(body)}"
        db.execute(
            "INSERT INTO memory_chunks VALUES (?, ?, ?, ?, 1, ?)",
            (
                found.id,
                made_id,
                f"{spaced(name)}\n{spaced(description)}\n{spaced(body)}",
                found.hash,
                content.count("\n") + 1,
            ),
        )
        db.execute(
            "INSERT INTO memory_chunks_fts (rowid, name, description, body, grams) VALUES (?, ?, ?, ?, ?)",
            (made_id, fold(name), fold(description), fold(body), grams(content)),
        )
        terms = {(term,) for term in said.split() if len(term) <= _LONGEST}
        db.executemany("INSERT OR IGNORE INTO memory_terms VALUES (?)", terms)
        db.execute("INSERT INTO memory_chunks_fts_trigram (rowid, content) VALUES (?, ?)", (made_id, fold(content)))


# -- reading it back --------------------------------------------------------------------------------

COLUMNS = "id, root, filename, header, body, content_hash, mtime_ns"


def memory_of(row: Sequence[object], roots: dict[str, Root]) -> Memory:
    """Return the memory of a row of `COLUMNS`."""
    header = header_of(json.loads(str(row[3])))
    return Memory(roots[str(row[1])], str(row[2]), header, str(row[4]), str(row[5]), int(row[6]))  # type: ignore[call-overload]


def header_of(values: Json) -> Header:
    """Return a header that `Header.json` gave."""
    source = values["provenance"]
    return Header(
        values["name"],
        values["description"],
        values["type"],
        values["scope"],
        values["agent_name"],
        values["agent_tier"],
        Provenance(
            source["source_actor"],
            tuple(source["source_session_ids"]),
            source["confidence"],
            source["superseded_by"],
            source["created_at"],
            source["updated_at"],
        ),
    )


def memories(
    db: sqlite3.Connection, roots: Iterable[Root], where: str = "1", values: Sequence[object] = ()
) -> list[Memory]:
    """Return the memories of some folders that a condition fits, the newest first, then by name."""
    known = {root.key: root for root in roots}
    rows = db.execute(
        f"SELECT {COLUMNS} FROM memory_catalog_entries WHERE error IS NULL AND root IN ({','.join('?' * len(known))})"
        f" AND {where} ORDER BY mtime_ns DESC, filename",
        [*known, *values],
    )
    return [memory_of(row, known) for row in rows]


def same_slug(
    db: sqlite3.Connection, roots: Iterable[Root], keys: Sequence[tuple[str, str]]
) -> list[tuple[tuple[str, str], Memory]]:
    """Return the memories of some folders that have one of these types and slugs, each with both."""
    known = {root.key: root for root in roots}
    columns = ", ".join(f"e.{name}" for name in COLUMNS.split(", "))
    rows = db.execute(
        f"WITH k(type, slug) AS (VALUES {','.join(['(?, ?)'] * len(keys))}) SELECT e.type, e.slug, {columns} FROM k"
        " JOIN memory_catalog_entries e ON e.type = k.type AND e.slug = k.slug WHERE e.error IS NULL"
        f" AND e.root IN ({','.join('?' * len(known))})",
        [*(part for key in keys for part in key), *known],
    )
    return [((row[0], row[1]), memory_of(row[2:], known)) for row in rows]


def index_lines(db: sqlite3.Connection, root: Root) -> list[Line]:
    """Return what the index of a folder says of its memories, the newest first."""
    rows = db.execute(
        "SELECT name, filename, description FROM memory_catalog_entries WHERE error IS NULL AND root = ?"
        " ORDER BY mtime_ns DESC, filename",
        (root.key,),
    )
    return [Line(*row) for row in rows]


def newest_change(db: sqlite3.Connection, root: Root) -> float:
    """Return when a memory of a folder was changed last, in seconds as `Memory.changed`; 0 where there is none."""
    rows = db.execute(
        "SELECT mtime_ns, json_extract(header, '$.provenance.updated_at') FROM memory_catalog_entries"
        " WHERE error IS NULL AND root = ? ORDER BY mtime_ns DESC",
        (root.key,),
    )
    newest = 0.0
    for mtime_ns, updated in rows:
        # No older file can have been changed later.
        if mtime_ns / 1e9 <= newest:
            break
        newest = max(newest, changed_at(mtime_ns, updated))
    return newest


def roots_in(db: sqlite3.Connection) -> list[str]:
    """Return the keys of all folders in the catalogue."""
    found: list[str] = []
    while True:
        after = found[-1] if found else ""
        (key,) = db.execute("SELECT min(root) FROM memory_catalog_entries WHERE root > ?", (after,)).fetchone()
        if key is None:
            return found
        found.append(key)


def invalid_files(db: sqlite3.Connection, roots: Iterable[Root]) -> list[Invalid]:
    """Return the files of some folders that are no memories."""
    known = {root.key: root for root in roots}
    rows = db.execute(
        "SELECT root, filename, error_line, error_code, error FROM memory_catalog_entries WHERE error IS NOT NULL"
        f" AND root IN ({','.join('?' * len(known))}) ORDER BY root, filename",
        [*known],
    )
    return [Invalid(known[row[0]], *row[1:]) for row in rows]
