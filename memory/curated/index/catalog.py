"""The catalogue of one side: the content of its files, kept up to date and rebuilt when it is missing or damaged."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import NamedTuple, TypeVar

from memory.curated.files.listing import PASSING, ListedFile, read_file, seen_in
from memory.curated.model import Invalid, Root
from memory.storage import Store
from memory.storage.own_folders import StateFolder
from memory.storage.private.derived import Derived

from .entries import (
    CATALOG,
    CATALOG_VERSION,
    CatalogRow,
    make_tables,
    next_number,
    put_in,
    roots_in,
    take_out,
)

T = TypeVar("T")


_BATCH = 500
"""How many files are read before their rows are written."""
_CHECKPOINT = 512
"""Pages (8 MB) after which the write-ahead log goes into the database; with few pages each write waits for the disk."""


_Rows = dict[str, tuple[str, int, int, int, int]]
"""The rows of a folder by file name: the file as it was listed, and the number of its entry."""


class _Known(NamedTuple):
    """The rows of one folder, and the state of the database for which they are valid."""

    state: int
    rows: _Rows


class Catalog:
    """A database of the content of one side's files; without a folder it is in memory."""

    def __init__(self, store: Store, folder: StateFolder | None, name: str = "") -> None:
        """Keep the places; nothing is opened or read yet."""
        self._store = store
        self._derived = None if folder is None else _database(folder, name)
        self._connection: sqlite3.Connection | None = None
        self._identity: tuple[int, int] | None = None
        self._known: dict[str, _Known] = {}

    def close(self) -> None:
        """Close the database; later queries open it again."""
        connection, self._connection = self._connection, None
        self._forget()
        if connection is not None:
            connection.close()

    def read(self, roots: Sequence[Root], work: Callable[[sqlite3.Connection], T]) -> T:
        """Return `work(connection)` on a catalogue that is up to date for some folders: each is listed.

        While another process rebuilds the catalogue, its old state is used. A database that fails is thrown away; where
        none can be made, one in memory is used.
        """
        for attempt in range(2):
            try:
                return self._read(roots, work)
            except sqlite3.Error as error:
                self.close()
                if attempt or self._derived is None:
                    self._derived = None
                elif not isinstance(error, sqlite3.OperationalError):
                    self._derived.discard()
        return self._read(roots, work)

    def _read(self, roots: Sequence[Root], work: Callable[[sqlite3.Connection], T]) -> T:

        connection = self._open()
        for root in roots:
            try:
                self._sync(connection, root)
            except sqlite3.OperationalError as error:
                # Another process rebuilds it: until then its old state is valid, and files are checked when they are
                # read.
                busy = getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_BUSY
                if not busy or not roots_in(connection):
                    raise
        return work(connection)

    def rebuild(self, roots: Sequence[Root]) -> dict[str, int]:
        """Read every file of some folders again and return how many memories each holds, by the folder's key.

        Other processes see the old catalogue until the new one is complete.
        """

        def again(db: sqlite3.Connection) -> dict[str, int]:
            keys = [root.key for root in roots]
            inside = f"root IN ({','.join('?' * len(keys))})"
            with self._writing(db):
                rows = db.execute(f"SELECT id FROM memory_catalog_entries WHERE {inside}", keys)
                take_out(db, [number for (number,) in rows.fetchall()])
                self._forget()
                for root in {one.key: one for one in roots}.values():
                    self._sync(db, root)
            count = f"SELECT root, count(*) FROM memory_catalog_entries WHERE error IS NULL AND {inside} GROUP BY root"
            return dict.fromkeys(keys, 0) | dict(db.execute(count, keys).fetchall())

        return self.read((), again)

    # -- keeping it up to date with the files --------------------------------------------------------------------------

    def _open(self) -> sqlite3.Connection:

        if self._connection is not None and (self._derived is None or self._identity == self._derived.identity()):
            return self._connection
        self.close()
        connection = None if self._derived is None else self._derived.open()
        if connection is None:
            self._derived = None
            connection = self._connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
            make_tables(connection)
        else:
            self._connection = connection
            connection.execute("PRAGMA cache_size = -64000")
            connection.execute("PRAGMA mmap_size = 268435456")
            connection.execute(f"PRAGMA wal_autocheckpoint = {_CHECKPOINT}")
        self._identity = None if self._derived is None else self._derived.identity()
        return connection

    def _forget(self) -> None:
        self._known.clear()

    @contextmanager
    def _writing(self, db: sqlite3.Connection) -> Iterator[None]:
        """Make one transaction, or a part of the open one; a failure rolls all of it back."""
        outer = db.in_transaction
        if not outer:
            db.execute("BEGIN IMMEDIATE")
        try:
            yield
            if not outer:
                db.execute("COMMIT")
        except BaseException:
            self._forget()
            if db.in_transaction:
                db.execute("ROLLBACK")
            raise

    def _sync(self, db: sqlite3.Connection, root: Root) -> None:
        known = self._rows(db, root)
        seen = {one.filename: one for one in seen_in(self._store, root)}
        gone = [name for name in known if name not in seen]
        changed = [one for name, one in seen.items() if name not in known or known[name][:4] != one]
        if gone or changed:
            with self._writing(db):
                take_out(db, [known.pop(name)[4] for name in gone])
                for some in _batches(self._found(root, changed), _BATCH):
                    self._put(db, known, some)

    def _found(self, root: Root, some: Sequence[ListedFile]) -> Iterator[CatalogRow]:
        for one in some:
            found = read_file(self._store, root, one.filename)
            if isinstance(found, Invalid) and found.line == 0:
                # Not a fault of its text: what failed once may be readable now.
                found = read_file(self._store, root, one.filename)
            if found is not None:
                yield CatalogRow(0, found, one)

    def _put(self, db: sqlite3.Connection, known: _Rows, some: Sequence[CatalogRow]) -> None:
        """Insert files; the next refresh tries again those that could not be read."""
        number = next_number(db)
        old: list[int] = []
        new: list[CatalogRow] = []
        for _, found, seen in some:
            name = found.filename
            if isinstance(found, Invalid) and found.code == PASSING:
                # Its earlier row stays.
                if name in known:
                    continue
                seen = seen._replace(mtime_ns=0, inode=0)
            if name in known:
                old.append(known[name][4])
                new.append(CatalogRow(known[name][4], found, seen))
            else:
                new.append(CatalogRow(number, found, seen))
                number += 1
            known[name] = (*seen, new[-1].number)
        take_out(db, old)
        put_in(db, new)

    def _rows(self, db: sqlite3.Connection, root: Root) -> _Rows:
        """Return the rows of a folder; the last ones are reused where no other process wrote since."""
        (state,) = db.execute("PRAGMA data_version").fetchone()
        known = self._known.get(root.key)
        if known is None or known.state != state:
            text = "SELECT filename, seen_mtime, seen_size, seen_inode, id FROM memory_catalog_entries WHERE root = ?"
            rows: _Rows = {row[0]: row for row in db.execute(text, (root.key,))}
            known = self._known[root.key] = _Known(state, rows)
        return known.rows


def _database(folder: StateFolder, name: str) -> Derived:

    return Derived(folder, f"catalog{f'-{name}' if name else ''}.sqlite", CATALOG_VERSION, CATALOG)


def _batches(entries: Iterator[CatalogRow], size: int) -> Iterator[list[CatalogRow]]:
    while some := list(islice(entries, size)):
        yield some
