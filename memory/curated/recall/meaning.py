"""Memories by what they mean: vectors of a sentence model, kept in the catalogue by the hash of a content.

Only where the setting `recall.semantic` is on, and only for a text of which the words find little.
"""

from __future__ import annotations

import math
import sqlite3
from array import array
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from memory.curated.catalog import COLUMNS, memory_of
from memory.curated.curated import Curated
from memory.curated.model import DREAM, Memory, Root
from memory.curated.providers import active, ask
from memory.curated.recall import minilm
from memory.curated.sides import Side
from memory.storage.database import in_transaction

if TYPE_CHECKING:
    Vector: TypeAlias = array[float]


class Embedder(NamedTuple):
    """What makes vectors: the name of its model, its vector of the question, and a function for more texts.

    The function returns a vector of the same size for each text, None where it fails.
    """

    model: str
    asked: Vector
    embed: Callable[[list[str]], list[Vector] | None]


NEAR, NEAR_MESSAGE = 0.35, 0.45
"""The least cosine with which a memory is about a question, and about a message."""
NO_DREAM = f"""e.filename NOT GLOB '{DREAM}[0-9]*' AND instr(e.header, '"source_actor": "dreaming"') = 0"""
"""The SQL condition of a memory that is recalled: a dream says again what its sources say, and would displace them."""
_LONGEST = 8192
"""The most numbers in a vector of a provider."""
_AT_ONCE = 16
"""How many memories without a vector one recall embeds; `memdeck curated reindex` embeds all."""
_MISSING = (
    f"SELECT content_hash, name, description, body FROM memory_catalog_entries e WHERE error IS NULL AND {NO_DREAM}"
    " AND content_hash NOT IN (SELECT content_hash FROM memory_vectors WHERE model = ?) ORDER BY mtime_ns DESC LIMIT ?"
)
_UNUSED = (
    "DELETE FROM memory_vectors WHERE content_hash NOT IN"
    " (SELECT content_hash FROM memory_catalog_entries WHERE error IS NULL)"
)


def embedder(curated: Curated, text: str, now: datetime) -> Embedder | None:
    """Return what makes vectors, with that of a question: the active provider if it does, else the installed model.

    None without either, and where the settings do not want it.
    """
    if not curated.settings["recall.semantic"]:
        return None

    def provided(texts: list[str], size: int = 0) -> list[Vector] | None:
        return _vectors(ask(curated, "embed", now, texts), len(texts), size)

    if found := provided([text]):
        size = len(found[0])
        # A provider may change its model, and vectors of two sizes cannot be compared.
        return Embedder(f"{active(curated).name} {size}", found[0], lambda texts: provided(texts, size))
    with suppress(ImportError):
        model = minilm.model()
        if found := _vectors(model.embed([text]), 1):
            return Embedder(minilm.NAME, found[0], lambda texts: _vectors(model.embed(texts), len(texts)))
    return None


def _vectors(answer: Any, count: int, size: int = 0) -> list[Vector] | None:
    """Return an answer as vectors of length 1, all of a size (0: that of the first); None if it is anything else."""
    try:
        vectors = [array("f", one) for one in answer if len(one) <= _LONGEST] if len(answer) == count else []
        lengths = [math.hypot(*one) for one in vectors]
        size = size or len(vectors[0])
    except Exception:  # It may be any object of another package.
        return None
    if len(vectors) != count or {len(one) for one in vectors} != {size} or not all(map(math.isfinite, lengths)):
        return None
    return [array("f", (value / (length or 1) for value in one)) for one, length in zip(vectors, lengths, strict=True)]


def embed_some(side: Side, roots: Sequence[Root], by: Embedder) -> int:
    """Embed the newest memories of one side that have no vector, `_AT_ONCE` of them; return how many that were."""
    rows = side.catalog.read(roots, lambda db: db.execute(_MISSING, (by.model, _AT_ONCE)).fetchall())
    vectors = by.embed([f"{name}. {description}. {body}" for _, name, description, body in rows]) if rows else None
    if vectors is None:
        return 0
    values = [(by.model, row[0], vector.tobytes()) for row, vector in zip(rows, vectors, strict=True)]
    insert = "INSERT OR REPLACE INTO memory_vectors VALUES (?, ?, ?)"
    side.catalog.read((), lambda db: in_transaction(db, lambda db: db.executemany(insert, values)))
    return len(rows)


def embed_all(side: Side, roots: Sequence[Root], by: Embedder) -> None:
    """Embed every memory of one side, and forget the vectors of contents that are gone."""
    while embed_some(side, roots, by):
        pass
    side.catalog.read((), lambda db: in_transaction(db, lambda db: db.execute(_UNUSED)))


def near(side: Side, roots: Sequence[Root], by: Embedder, *, least: float) -> list[tuple[Memory, float]]:
    """Return the memories of one side that mean nearly the same as the question, with the cosine of each."""
    embed_some(side, roots, by)
    known = {root.key: root for root in roots}
    return side.catalog.read(roots, lambda db: _near(db, known, by, least))


def _near(db: sqlite3.Connection, known: dict[str, Root], by: Embedder, least: float) -> list[tuple[Memory, float]]:
    columns = ", ".join(f"e.{name}" for name in COLUMNS.split(", "))
    rows = db.execute(
        f"SELECT {columns}, vector FROM memory_catalog_entries e JOIN memory_vectors USING (content_hash)"
        f" WHERE error IS NULL AND model = ? AND {NO_DREAM} AND e.root IN ({','.join('?' * len(known))})",
        (by.model, *known),
    )
    found = []
    for *row, vector in rows:
        cosine = sum(map(float.__mul__, array("f", vector), by.asked))
        if cosine >= least:
            found.append((memory_of(row, known), min(cosine, 1.0)))
    return found
