"""The catalogue of one side: the content of its files, kept up to date, and rebuilt when it is missing or damaged."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from hashlib import sha256
from typing import TypeVar

from memory.curated.files import UNREADABLE, ListedFile, read_file, seen_in
from memory.curated.model import Header, Invalid, Json, Memory, Provenance, Root
from memory.search.word_index import TABLES, VERSION, IndexedText, WordIndex
from memory.storage import Store
from memory.storage.database import Derived, in_transaction
from memory.storage.own_folders import StateFolder

CATALOG_VERSION = f"7/{VERSION}"
CATALOG = f"""
CREATE TABLE memory_catalog_entries (
    id INTEGER PRIMARY KEY, root TEXT NOT NULL, filename TEXT NOT NULL, type TEXT, slug TEXT, name TEXT,
    description TEXT, body TEXT, header TEXT, content_hash TEXT, body_hash TEXT, edited_ns INTEGER,
    mtime_ns INTEGER NOT NULL, seen_size INTEGER NOT NULL, seen_inode INTEGER NOT NULL,
    error_line INTEGER, error_code TEXT, error TEXT, UNIQUE (root, filename));
CREATE INDEX entries_by_body ON memory_catalog_entries (body_hash);
CREATE INDEX entries_by_time ON memory_catalog_entries (root, mtime_ns);
CREATE INDEX entries_by_slug ON memory_catalog_entries (type, slug);
CREATE TABLE memory_vectors (
    model TEXT, content_hash TEXT, vector BLOB NOT NULL, PRIMARY KEY (model, content_hash)) WITHOUT ROWID;
{TABLES}
"""
COLUMNS = "id, root, filename, header, body, content_hash, mtime_ns, edited_ns"


def memory_of(row: Sequence[object], roots: dict[str, Root]) -> Memory:
    """Return the memory of a row of `COLUMNS`."""
    header = header_of(json.loads(str(row[3])))
    return Memory(roots[str(row[1])], str(row[2]), header, str(row[4]), str(row[5]), *row[6:])  # type: ignore[arg-type]


def header_of(values: Json) -> Header:
    """Return the header from the result of `Header.json`."""
    source = dict(values["provenance"])
    sessions = tuple(source.pop("source_session_ids"))
    rest = {key: value for key, value in values.items() if key not in ("agent_name", "provenance")}
    return Header(**rest, agent=values["agent_name"], provenance=Provenance(**source, source_sessions=sessions))


def memories(
    db: sqlite3.Connection, roots: Iterable[Root], where: str = "1", values: Sequence[object] = ()
) -> list[Memory]:
    """Return the memories of some folders that match a condition, the newest first, then by name."""
    known = {root.key: root for root in roots}
    # A folder holds many memories and few match a condition: the plus keeps SQLite from scanning the folder.
    inside = f"{'root' if where == '1' else '+root'} IN ({','.join('?' * len(known))})"
    rows = db.execute(
        f"SELECT {COLUMNS} FROM memory_catalog_entries WHERE error IS NULL AND {inside}"
        f" AND {where} ORDER BY mtime_ns DESC, filename",
        [*known, *values],
    )
    return [memory_of(row, known) for row in rows]


def invalid_files(db: sqlite3.Connection, roots: Iterable[Root]) -> list[Invalid]:
    """Return the files of some folders that are not memories."""
    known = {root.key: root for root in roots}
    rows = db.execute(
        "SELECT root, filename, error_line, error_code, error FROM memory_catalog_entries WHERE error IS NOT NULL"
        f" AND root IN ({','.join('?' * len(known))}) ORDER BY root, filename",
        [*known],
    )
    return [Invalid(known[row[0]], *row[1:]) for row in rows]


def known_files(db: sqlite3.Connection, root: Root) -> dict[str, tuple[int, ListedFile]]:
    """Return the files of a folder that the catalogue has, by their name: the number of the entry, and the listing."""
    text = "SELECT id, filename, mtime_ns, seen_size, seen_inode FROM memory_catalog_entries WHERE root = ?"
    return {row[1]: (row[0], ListedFile(*row[1:])) for row in db.execute(text, (root.key,))}


# -- writing, in the transaction of the caller ----------------------------------------------------------------------


def body_hash(body: str) -> str:
    """Return a hash that is equal for two bodies that differ only in case and spaces."""
    return str(sha256(" ".join(body.split()).casefold().encode("utf-8", "surrogatepass")).hexdigest())


def text_of(memory: Memory) -> str:
    """Return the text of a memory that is searched beside its name."""
    return f"{memory.header.description}\n{memory.body}"


def take_out(db: sqlite3.Connection, numbers: Iterable[int]) -> None:
    """Remove some entries."""
    held = "SELECT id, name, description || char(10) || body FROM memory_catalog_entries"
    for number in numbers:
        rows = db.execute(f"{held} WHERE id = ? AND error IS NULL", (number,)).fetchall()
        WordIndex(db).remove([IndexedText(*row) for row in rows])
        db.execute("DELETE FROM memory_catalog_entries WHERE id = ?", (number,))


def edited_at(db: sqlite3.Connection, number: int | None, found: Memory) -> int:
    """Return when a memory was changed by hand, in nanoseconds; 0 for never. `number` is that of its earlier entry."""
    text = "SELECT content_hash, edited_ns, json_extract(header, '$.provenance.updated_at') FROM memory_catalog_entries"
    row = db.execute(f"{text} WHERE id = ? AND error IS NULL", (number,)).fetchone()
    # The controller writes a new time into the header; any other change of a text was by hand.
    if row is None or (row[0] != found.hash and row[2] != found.header.provenance.updated_at):
        return 0
    return int(row[1]) if row[0] == found.hash else found.mtime_ns


def put_in(db: sqlite3.Connection, found: Memory | Invalid, seen: ListedFile, edited_ns: int) -> None:
    """Insert a file; `edited_ns` is when it was changed by hand, 0 for never."""
    insert = f"INSERT INTO memory_catalog_entries VALUES (NULL{',?' * 17})"
    head, stamps = (found.root.key, found.filename), (edited_ns, *seen[1:])
    if isinstance(found, Invalid):
        db.execute(insert, (*head, *(None,) * 8, *stamps, found.line, found.code, found.reason))
        return
    header = found.header
    made = json.dumps(header.json(), ensure_ascii=False)
    about = (header.type, found.slug, header.name, header.description, found.body, made, found.hash)
    number = db.execute(insert, (*head, *about, body_hash(found.body), *stamps, None, None, None)).lastrowid
    assert number is not None
    WordIndex(db).add([IndexedText(number, header.name, text_of(found))])


T = TypeVar("T")


class Catalog:
    """A database of the content of one side's files; without a folder it is in memory. Threads use it one at a time."""

    def __init__(self, store: Store, folder: StateFolder | None, name: str = "") -> None:
        """Keep the places; nothing is opened or read yet."""
        self._store = store
        file = f"catalog{f'-{name}' if name else ''}.sqlite"
        self._database = Derived(folder, file, CATALOG_VERSION, CATALOG)

    def close(self) -> None:
        """Close the database; later queries open it again."""
        self._database.close()

    def read(self, roots: Sequence[Root], work: Callable[[sqlite3.Connection], T]) -> T:
        """Return `work(connection)` on a catalogue that is up to date for some folders: each is listed.

        A damaged database is thrown away; one that cannot be used now is replaced by one in memory.
        """
        try:
            return self._database.write(lambda connection: self._read(connection, roots, work))
        except sqlite3.Error:
            self._database.close()
            self._database = Derived(None, "", CATALOG_VERSION, CATALOG)
        return self._database.write(lambda connection: self._read(connection, roots, work))

    def _read(
        self, connection: sqlite3.Connection, roots: Sequence[Root], work: Callable[[sqlite3.Connection], T]
    ) -> T:
        for root in roots:
            self._sync(connection, root)
        return work(connection)

    def rebuild(self, roots: Sequence[Root]) -> dict[str, int]:
        """Read every file of some folders again and return how many memories each holds, by the folder's key.

        Other processes see the old catalogue until the new one is complete.
        """

        def again(db: sqlite3.Connection) -> dict[str, int]:
            for root in roots:
                take_out(db, [number for number, _ in known_files(db, root).values()])
                self._sync(db, root)
            count = "SELECT root, count(*) FROM memory_catalog_entries WHERE error IS NULL GROUP BY root"
            return dict.fromkeys([root.key for root in roots], 0) | dict(db.execute(count).fetchall())

        return self.read((), lambda db: in_transaction(db, again))

    # -- keeping it up to date with the files --------------------------------------------------------------------------

    def _sync(self, db: sqlite3.Connection, root: Root) -> None:
        """Read the files of a folder that changed; in the caller's transaction, or in one of its own."""
        known = known_files(db, root)
        seen = {one.filename: one for one in seen_in(self._store, root)}
        gone = [number for name, (number, _) in known.items() if name not in seen]
        changed = [one for name, one in seen.items() if name not in known or known[name][1] != one]

        def write(db: sqlite3.Connection) -> None:
            take_out(db, gone)
            for one in changed:
                self._put(db, root, one, known.get(one.filename, (None,))[0])

        if db.in_transaction:
            write(db)
        elif gone or changed:
            in_transaction(db, write)

    def _put(self, db: sqlite3.Connection, root: Root, seen: ListedFile, known: int | None) -> None:
        """Read a file and replace its entry; the next look tries again a file that cannot be read now."""
        found = read_file(self._store, root, seen.filename)
        if found is None:
            return
        if isinstance(found, Invalid) and found.code == UNREADABLE:
            seen = seen._replace(mtime_ns=0, inode=0)
        edited = edited_at(db, known, found) if isinstance(found, Memory) else 0
        take_out(db, () if known is None else (known,))
        put_in(db, found, seen, edited)
