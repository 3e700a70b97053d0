"""Memories by what they mean: vectors of a sentence model, kept in the catalogue by the hash of a content.

Only where the setting `recall.semantic` is on, and only for a text of which the words find little.
"""

from __future__ import annotations

import math
import sqlite3
from array import array
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import NamedTuple

from memory.curated.curated import Curated
from memory.curated.index.catalog import COLUMNS, memory_of
from memory.curated.model import DREAM, Memory, Root
from memory.curated.providers import minilm
from memory.curated.providers.calls import active, ask
from memory.curated.sides import Side
from memory.storage.database import in_transaction


class Embedder(NamedTuple):
    """What makes vectors: the name of its model, and a function that gives one for each text, None where it fails."""

    model: str
    embed: Callable[[list[str]], Sequence[Sequence[float]] | None]


NEAR, NEAR_MESSAGE = 0.35, 0.45
"""The least cosine with which a memory is about a question, and about a message."""
NO_DREAM = f"""e.filename NOT GLOB '{DREAM}[0-9]*' AND instr(e.header, '"source_actor": "dreaming"') = 0"""
"""The SQL condition of a memory that is recalled: a dream says again what its sources say, and would displace them."""
_AT_ONCE = 16
"""How many memories without a vector one recall embeds; `memdeck curated reindex` embeds all."""
_MISSING = (
    f"SELECT content_hash, name, description, body FROM memory_catalog_entries e WHERE error IS NULL AND {NO_DREAM}"
    " AND content_hash NOT IN (SELECT content_hash FROM memory_vectors WHERE model = ?) ORDER BY mtime_ns DESC LIMIT ?"
)
_UNUSED = "DELETE FROM memory_vectors WHERE content_hash NOT IN (SELECT content_hash FROM memory_catalog_entries)"


def embedder(curated: Curated, now: datetime) -> Embedder | None:
    """Return what makes vectors: the active provider if it does, else the installed model; None without either."""
    if not curated.settings["recall.semantic"]:
        return None
    if ask(curated, "embed", now, [""]):
        return Embedder(active(curated).name, lambda texts: ask(curated, "embed", now, texts))
    with suppress(ImportError):
        return Embedder(minilm.NAME, minilm.model().embed)
    return None


def embed_some(side: Side, roots: Sequence[Root], by: Embedder) -> int:
    """Embed the newest memories of one side that have no vector, `_AT_ONCE` of them; return how many that were."""
    rows = side.catalog.read(roots, lambda db: db.execute(_MISSING, (by.model, _AT_ONCE)).fetchall())
    vectors = by.embed([f"{name}. {description}. {body}" for _, name, description, body in rows]) if rows else None
    if vectors is None or len(vectors) != len(rows):
        return 0
    values = [(by.model, row[0], array("f", vector).tobytes()) for row, vector in zip(rows, vectors, strict=True)]
    insert = "INSERT OR REPLACE INTO memory_vectors VALUES (?, ?, ?)"
    side.catalog.read((), lambda db: in_transaction(db, lambda db: db.executemany(insert, values)))
    return len(rows)


def embed_all(side: Side, roots: Sequence[Root], by: Embedder) -> None:
    """Embed every memory of one side, and forget the vectors of contents that are gone."""
    while embed_some(side, roots, by):
        pass
    side.catalog.read((), lambda db: in_transaction(db, lambda db: db.execute(_UNUSED)))


def near(side: Side, roots: Sequence[Root], text: str, by: Embedder, *, least: float) -> list[tuple[Memory, float]]:
    """Return the memories of one side that mean nearly the same as a text, with the cosine of each."""
    embed_some(side, roots, by)
    asked = by.embed([text])
    if not asked:
        return []
    known = {root.key: root for root in roots}
    return side.catalog.read(roots, lambda db: _near(db, known, by.model, asked[0], least))


def _near(
    db: sqlite3.Connection, roots: Mapping[str, Root], model: str, asked: Sequence[float], least: float
) -> list[tuple[Memory, float]]:
    columns = ", ".join(f"e.{name}" for name in COLUMNS.split(", "))
    rows = db.execute(
        f"SELECT {columns}, vector FROM memory_catalog_entries e JOIN memory_vectors USING (content_hash)"
        f" WHERE error IS NULL AND model = ? AND {NO_DREAM} AND e.root IN ({','.join('?' * len(roots))})",
        (model, *roots),
    )
    found = []
    for *row, vector in rows:
        values = array("f", vector)
        cosine = sum(map(float.__mul__, values, asked)) if len(values) == len(asked) else 0.0
        if cosine >= least and not math.isnan(cosine):
            found.append((memory_of(row, dict(roots)), min(cosine, 1.0)))
    return found
