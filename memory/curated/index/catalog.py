"""The catalogue of one side: the content of its files, kept up to date and rebuilt when it is missing or damaged."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

from memory.curated.files.listing import PASSING, ListedFile, read_file, seen_in
from memory.curated.model import Invalid, Memory, Root
from memory.storage import Store
from memory.storage.database import Derived
from memory.storage.own_folders import StateFolder

from .entries import CATALOG, CATALOG_VERSION, edited_at, known_files, put_in, take_out

T = TypeVar("T")

_BATCH = 500
"""How many files are read before their rows are written."""


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
            with self._writing(db):
                for root in roots:
                    take_out(db, [number for number, _ in known_files(db, root).values()])
                    self._sync(db, root)
            count = "SELECT root, count(*) FROM memory_catalog_entries WHERE error IS NULL GROUP BY root"
            return dict.fromkeys([root.key for root in roots], 0) | dict(db.execute(count).fetchall())

        return self.read((), again)

    # -- keeping it up to date with the files --------------------------------------------------------------------------

    @contextmanager
    def _writing(self, db: sqlite3.Connection) -> Iterator[None]:
        """Make one transaction, or a part of the open one; a failure rolls all of it back."""
        if db.in_transaction:
            yield
            return
        db.execute("BEGIN IMMEDIATE")
        try:
            yield
            db.execute("COMMIT")
        except BaseException:
            db.rollback()
            raise

    def _sync(self, db: sqlite3.Connection, root: Root) -> None:
        known = known_files(db, root)
        seen = {one.filename: one for one in seen_in(self._store, root)}
        gone = [number for name, (number, _) in known.items() if name not in seen]
        changed = [one for name, one in seen.items() if name not in known or known[name][1] != one]
        for at in range(0, max(len(changed), bool(gone)), _BATCH):
            with self._writing(db):
                take_out(db, gone if at == 0 else ())
                for one in changed[at : at + _BATCH]:
                    self._put(db, root, one, known.get(one.filename, (None,))[0])

    def _put(self, db: sqlite3.Connection, root: Root, seen: ListedFile, known: int | None) -> None:
        """Read a file and replace its entry; the next look tries again a file that cannot be read now."""
        found = read_file(self._store, root, seen.filename)
        if found is None:
            return
        if isinstance(found, Invalid) and found.code == PASSING:
            if known is not None:  # Its earlier entry stays.
                return
            seen = seen._replace(mtime_ns=0, inode=0)
        edited = edited_at(db, known, found) if isinstance(found, Memory) else 0
        take_out(db, () if known is None else (known,))
        put_in(db, found, seen, edited)
