"""What the controller sees of one folder of memories when it decides."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memory.curated.files.listing import read_file
from memory.curated.files.names import spellings
from memory.curated.index.entries import memories
from memory.curated.index.fill import body_hash
from memory.curated.index.words import content_words, is_unspaced
from memory.curated.model import Invalid, Memory, Root, slug_of_file

from .candidate import slot
from .decision import of_root

if TYPE_CHECKING:
    import sqlite3

    from memory.curated.index.catalog import Catalog
    from memory.curated.index.records import Records
    from memory.storage import Store

SHARED_WORDS = 2
"""Content words that two memories have in common before one may be meant by the other."""
_MOST = 200


class View:
    """One folder as it is now; make it while the lock is held."""

    def __init__(self, store: Store, catalog: Catalog, records: Records, root: Root) -> None:
        """Keep where to look."""
        self._store, self._catalog, self._records, self._root = store, catalog, records, root

    def file(self, name: str) -> Memory | Invalid | None:
        """Return a file by its name, also where it is spelled with underscores; None where there is none."""
        for spelling in spellings(name):
            found = read_file(self._store, self._root, spelling)
            if found is not None:
                return found
        return None

    def same_body(self, body: str) -> list[Memory]:
        """Return the memories with the same body but for case and spaces."""
        return self._select("body_hash = ?", (body_hash(body),))

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
        from memory.curated.files.names import slug

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
        query = " OR ".join(f'"{word}"' for word in sorted(wanted) if not is_unspaced(word) or len(word) == 2)

        def near(db: sqlite3.Connection) -> list[int]:
            rows = db.execute(
                "SELECT e.id, e.body FROM (SELECT f.rowid AS number FROM memory_chunks_fts f JOIN"
                " memory_catalog_entries e ON e.id = f.rowid WHERE memory_chunks_fts MATCH ? AND e.root = ?"
                " ORDER BY bm25(memory_chunks_fts) LIMIT ?) JOIN memory_catalog_entries e ON e.id = number",
                (query, self._root.key, _MOST),
            )
            return [number for number, body in rows if len(wanted & content_words(body)) >= SHARED_WORDS]

        numbers = self._catalog.read((self._root,), near)
        found = self._select(f"id IN ({','.join('?' * len(numbers))})", numbers) if numbers else []
        return sorted(found, key=lambda one: one.filename)

    def _select(self, where: str, values: object) -> list[Memory]:
        root = self._root
        return self._catalog.read((root,), lambda db: memories(db, (root,), where, values))  # type: ignore[arg-type]


def slug_of(memory: Memory) -> str:
    """Return the slug of a memory's file."""
    return slug_of_file(memory.filename, memory.header.type)
