"""The controller's view of one folder of memories while it decides."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import TypeVar

from memory.curated.files.header import body_of
from memory.curated.files.listing import read_file, read_first
from memory.curated.files.names import slug, spellings
from memory.curated.index.catalog import Catalog
from memory.curated.index.entries import body_hash, memories
from memory.curated.index.records import Records
from memory.curated.index.words import content_words, is_unspaced
from memory.curated.model import AUTONOMOUS, Invalid, Memory, Root
from memory.storage import Store

from .candidate import slot
from .decision import of_root

T = TypeVar("T")
SHARED_WORDS = 2
"""How many content words two memories must share before one may be meant by the other."""
_MOST = 200


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
        """Return a query's result."""
        return self._catalog.read((self._root,), work)


def _indexed(wanted: frozenset[str]) -> list[str]:
    """Return the words that the full-text index can look up."""
    return [word for word in wanted if not is_unspaced(word) or len(word) == 2]
