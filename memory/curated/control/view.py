"""The controller's view of one folder of memories while it decides."""

from __future__ import annotations

import unicodedata
from heapq import merge
from typing import TYPE_CHECKING, TypeVar

from memory.curated.files.header import body_of
from memory.curated.files.listing import read_file, read_first
from memory.curated.files.names import slug, spellings
from memory.curated.index.entries import body_hash, memories
from memory.curated.index.words import content_words, fold, is_unspaced
from memory.curated.model import AUTONOMOUS, Invalid, Memory, Root

from .candidate import slot
from .decision import of_root

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterator

    from memory.curated.index.catalog import Catalog
    from memory.curated.index.records import Records
    from memory.storage import Store

T = TypeVar("T")
SHARED_WORDS = 2
"""How many content words two memories must share before one may be meant by the other."""
_MOST = 200
_AT_ONCE = 50
"""How many words are looked up side by side."""
_LETTERS = unicodedata.ucd_3_2_0.category
"""The category of a character in Unicode 3.2, which every version of the full-text index knows."""


class View:
    """One folder as it is now; create it while the lock is held."""

    def __init__(self, store: Store, catalog: Catalog, records: Records, root: Root) -> None:
        """Keep where to look."""
        self._store, self._catalog, self._records, self._root = store, catalog, records, root

    def file(self, name: str) -> Memory | Invalid | None:
        """Return a file by its name, also where it is written with underscores; None where there is none."""
        return read_first(self._store, self._root, spellings(name))

    def same_body(self, body: str) -> list[Memory]:
        """Return the memories with the same body, ignoring case and spaces."""
        return self._select("body_hash = ?", (body_hash(body),))

    def was_deleted(self, body: str) -> bool:
        """Return whether a memory with that body was deleted otherwise than by an autonomous origin, in any scope."""
        marks = ",".join("?" * len(AUTONOMOUS))
        text = (
            "SELECT prior_content FROM memory_decisions WHERE op = 'delete' AND applied_at IS NOT NULL AND"
            f" (origin NOT IN ({marks}) OR reverts IS NOT NULL) AND prior_content IS NOT NULL"
        )
        rows: list[tuple[bytes]] = self._records.look(lambda db: db.execute(text, AUTONOMOUS).fetchall(), [])
        wanted = body_hash(body)
        return any(body_hash(body_of(data)) == wanted for (data,) in rows)

    def slot(self, entity: str, attribute: str) -> list[Memory]:
        """Return the memories about an entity and an attribute: as they were written, or by name and type."""
        where, values = of_root(self._root)
        rows: list[tuple[str]] = self._records.look(
            lambda db: db.execute(
                f"SELECT target_filename FROM memory_decisions WHERE {where} AND entity = ? AND attribute = ? AND"
                " op IN ('add', 'update') AND applied_at IS NOT NULL",
                [*values, slot(entity), slot(attribute)],
            ).fetchall(),
            [],
        )
        named = {row[0] for row in rows}
        found = self._select("type = ? AND slug = ?", (slot(attribute), slug(entity)))
        for name in sorted(named - {one.filename for one in found}):
            one = read_file(self._store, self._root, name)
            if isinstance(one, Memory):
                found.append(one)
        return found

    def has_name(self, name: str) -> bool:
        """Return whether a memory has a name, ignoring case and spaces; also True for a name that no index can find."""
        folded = fold(name)
        if not any(_LETTERS(letter)[0] in "LN" for letter in folded):
            return True
        query = '{name} : "' + folded.replace('"', '""') + '"'
        text = (
            "SELECT e.name FROM memory_chunks_fts f JOIN memory_catalog_entries e ON e.id = f.rowid"
            " WHERE memory_chunks_fts MATCH ? AND +e.root = ?"
        )
        root, wanted = self._root, slot(name)
        return self._look(lambda db: any(slot(row[0]) == wanted for row in db.execute(text, (query, root.key))))

    def has_several_alike(self, content: str) -> bool:
        """Return whether `alike` finds two memories or more, without reading all that share a word."""
        wanted = content_words(content)
        if len(wanted) < SHARED_WORDS:
            return False
        ordered = sorted(_indexed(wanted))
        root = self._root.key

        def ids(db: sqlite3.Connection, word: str) -> Iterator[tuple[int]]:
            text = "SELECT rowid FROM memory_chunks_fts WHERE memory_chunks_fts MATCH ?"
            return db.execute(text, (f'{{body grams}} : "{word}"',))

        def several(db: sqlite3.Connection) -> bool:
            body = "SELECT body FROM memory_catalog_entries WHERE id = ? AND root = ?"
            once: set[int] = set()
            found: set[int] = set()
            for at in range(0, len(ordered), _AT_ONCE):
                # Sorted by number, a memory with two of the words comes twice in a row.
                for (number,) in merge(*(ids(db, word) for word in ordered[at : at + _AT_ONCE])):
                    if number not in once:
                        once.add(number)
                    elif number not in found:
                        row = db.execute(body, (number, root)).fetchone()
                        if row is not None and len(wanted & content_words(row[0])) >= SHARED_WORDS:
                            found.add(number)
                            if len(found) > 1:
                                return True
            return False

        return self._look(several)

    def alike(self, content: str) -> list[Memory]:
        """Return the memories whose body shares at least two content words with a text, by file name."""
        wanted = content_words(content)
        if len(wanted) < SHARED_WORDS:
            return []
        query = " OR ".join(f'"{word}"' for word in sorted(_indexed(wanted)))

        def near(db: sqlite3.Connection) -> list[int]:
            rows = db.execute(
                "SELECT e.id, e.body FROM (SELECT f.rowid AS number FROM memory_chunks_fts f JOIN"
                " memory_catalog_entries e ON e.id = f.rowid WHERE memory_chunks_fts MATCH ? AND e.root = ?"
                " ORDER BY bm25(memory_chunks_fts) LIMIT ?) JOIN memory_catalog_entries e ON e.id = number",
                (query, self._root.key, _MOST),
            )
            return [number for number, body in rows if len(wanted & content_words(body)) >= SHARED_WORDS]

        numbers = self._look(near)
        found = self._select(f"id IN ({','.join('?' * len(numbers))})", numbers) if numbers else []
        return sorted(found, key=lambda one: one.filename)

    def _select(self, where: str, values: object) -> list[Memory]:
        return self._look(lambda db: memories(db, (self._root,), where, values))  # type: ignore[arg-type]

    def _look(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Return a query's result; the file to write is read separately, so its folder need not be listed."""
        return self._catalog.read((self._root,), work, unlisted=True)


def _indexed(wanted: frozenset[str]) -> list[str]:
    """Return the words that the full-text index can look up."""
    return [word for word in wanted if not is_unspaced(word) or len(word) == 2]
