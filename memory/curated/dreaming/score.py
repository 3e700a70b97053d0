"""The score of memories that may be promoted: how often, how well, how lately and since when they were recalled."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from memory.curated.index.records import milliseconds
from memory.curated.model import Json, Memory

if TYPE_CHECKING:
    from memory.curated.curated import Curated
    from memory.curated.sides import Side

MOST = 20
"""Memories that one run promotes at most."""
ENOUGH = 2
"""Recalls that count as often."""
_DAY = 86_400_000
_ROWS = (
    "SELECT chunk_id, recall_count, recall_score, last_recalled_at, freshness_started_at FROM memory_recall_signals"
    " WHERE promoted_at IS NULL AND recall_count > 0"
)


@dataclass(frozen=True, slots=True)
class Weighed:
    """A memory that was not promoted yet: how often it was recalled, and its score with the terms it is the sum of."""

    memory: Memory
    count: int
    score: float
    terms: tuple[tuple[str, float], ...]

    def json(self) -> Json:
        """Return it for programs, without its text."""
        memory = self.memory
        return {
            "id": memory.id, "filename": memory.filename, "name": memory.header.name, **memory.root.json(),
            "recall_count": self.count, "score": round(self.score, 4),
            "terms": {name: round(value, 4) for name, value in self.terms},
        }  # fmt: skip


def weighed(curated: Curated, side: Side, now: datetime) -> list[Weighed]:
    """Return the memories of a side that were recalled and not promoted yet, the best first.

    What dreaming wrote itself and what another memory has taken the place of is none of them.
    """
    rows = {
        row[0]: row[1:]
        for row in side.records.look(lambda db: db.execute(_ROWS).fetchall(), list[tuple[str, int, float, int, int]]())
    }
    if not rows:
        return []
    settings = curated.settings
    at, half = milliseconds(now), settings["dream.scoring.recency_half_life_days"] * _DAY
    weights = {name: settings[f"dream.scoring.weights.{name}"] for name in _TERMS}
    found = []
    for memory in curated.memories([root for root in curated.all_roots() if root.side == side.name]):
        source = memory.header.provenance
        if memory.id not in rows or source.source_actor == "dreaming" or source.superseded_by:
            continue
        count, signal, last, first = rows[memory.id]
        values = (
            min(1.0, count / ENOUGH),
            min(max(signal, 0.0), 1.0),
            0.5 ** (max(at - (last or at), 0) / half),
            0.5 ** (max(at - (first or at), 0) / half),
        )
        terms = tuple((name, weights[name] * value) for name, value in zip(_TERMS, values, strict=True))
        found.append(Weighed(memory, count, sum(value for _, value in terms), terms))
    return sorted(found, key=lambda one: (-one.score, one.memory.id))


_TERMS = ("frequency", "relevance", "recency", "freshness")


def candidates(curated: Curated, found: list[Weighed]) -> list[Weighed]:
    """Return those that were recalled often and well enough to be promoted."""
    count, least = curated.settings["dream.gates.min_recall_count"], curated.settings["dream.gates.min_score"]
    return [one for one in found if one.count >= count and one.score >= least]
