"""A view of curated memory at one moment: memories, those they hide, and decisions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from memory.errors import MemdeckError

from .curated import Curated
from .model import Invalid, Json, Memory, OperationCall
from .operations.memories import summaries
from .operations.records import decisions_list, health
from .records import UNAVAILABLE


@dataclass(frozen=True, slots=True)
class Shadow:
    """A memory that a deeper one hides; `reader` is the agent for whom it is hidden, None for everyone."""

    memory: Memory
    winner: Memory
    reader: str | None


@dataclass(frozen=True, slots=True)
class CuratedOverview:
    """A snapshot of everything; each part as the operation of that name returns it. `error` says why it is empty."""

    memories: tuple[Memory, ...] = ()
    shadows: tuple[Shadow, ...] = ()
    recalls: Mapping[str, Json] = field(default_factory=dict)
    invalid: tuple[Invalid, ...] = ()
    health: Json = field(default_factory=dict)
    decisions: tuple[Json, ...] = ()
    error: MemdeckError | None = None


def overview(curated: Curated, now: datetime) -> CuratedOverview:
    """Return a snapshot of everything; what changed memories without the controller gets its decisions first."""
    call = OperationCall(now)
    try:
        curated.finish_interrupted(now)
        roots = curated.all_roots()
        memories = tuple(curated.memories(roots))
        rows = summaries(curated, list(memories), now)
        return CuratedOverview(
            memories,
            _shadows(curated),
            {memory.key: row for memory, row in zip(memories, rows, strict=True)},
            tuple(curated.invalid(roots)),
            health(curated, {}, call),
            _decisions(curated, call),
        )
    except MemdeckError as error:
        return CuratedOverview(error=error)


def _decisions(curated: Curated, call: OperationCall) -> tuple[Json, ...]:
    """Return the newest decisions; empty if the records cannot be read, which the health reports."""
    try:
        return tuple(decisions_list(curated, {"limit": 200}, call)["decisions"])
    except MemdeckError as error:
        if error.code != UNAVAILABLE:
            raise
        return ()


def _shadows(curated: Curated) -> tuple[Shadow, ...]:
    """Return the memories hidden for everyone, then those hidden only for the readers of one agent."""
    found: list[Shadow] = []
    for reader in (None, *sorted({root.agent for root in curated.all_roots() if root.agent})):
        seen = {one.key: one for one in curated.memories(curated.visible(reader))}
        everywhere = {one.memory.key for one in found if one.reader is None}
        for key, winner in curated.shadowed([*seen.values()]).items():
            if reader is None or (winner.root.agent and key not in everywhere):
                found.append(Shadow(seen[key], winner, reader))
    return tuple(found)
