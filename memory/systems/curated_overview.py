"""Everything that a person may want to see of curated memory at one moment: memories, decisions, dreams, failures."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from memory.curated.index.records import UNAVAILABLE
from memory.curated.model import INBOX, Invalid, Json, Memory
from memory.curated.operations.memories import OperationCall, summaries
from memory.curated.operations.registry import BY_NAME
from memory.errors import MemdeckError

if TYPE_CHECKING:
    from memory.curated.curated import Curated

DECISIONS = 200
"""The most decisions that are shown, the newest."""


@dataclass(frozen=True, slots=True)
class Shadow:
    """A memory that a deeper one hides; `reader` is the agent for whom it does, None for everyone."""

    memory: Memory
    winner: Memory
    reader: str | None


@dataclass(frozen=True, slots=True)
class CuratedOverview:
    """One look at everything; each part as the operation of that name gives it. `error` says why there is none."""

    memories: tuple[Memory, ...] = ()
    shadows: tuple[Shadow, ...] = ()
    recalls: Mapping[str, Json] = field(default_factory=dict)
    invalid: tuple[Invalid, ...] = ()
    health: Json = field(default_factory=dict)
    decisions: tuple[Json, ...] = ()
    gates: tuple[Json, ...] = ()
    dreams: tuple[Json, ...] = ()
    inbox: tuple[Json, ...] = ()
    failures: tuple[Json, ...] = ()
    error: MemdeckError | None = None


def overview(curated: Curated, now: datetime) -> CuratedOverview:
    """Return everything at one time; nothing is written."""
    call = OperationCall(now)

    def ask(name: str, **values: object) -> Json:
        operation = BY_NAME.get(name)
        return {} if operation is None else operation.run(curated, values, call)

    try:
        roots = curated.all_roots()
        memories = tuple(curated.memories(roots))
        dreaming = ask("dream status")
        return CuratedOverview(
            memories,
            _shadows(curated),
            {
                key_of(memory): row
                for memory, row in zip(memories, summaries(curated, list(memories), now), strict=True)
            },
            tuple(curated.invalid(roots)),
            ask("health"),
            _decisions(curated, call),
            tuple(dreaming.get("scopes", ())),
            tuple(ask("dream list").get("dreams", ())),
            tuple(_inbox(curated)),
            tuple(ask("extractor list-pending").get("failures", ())),
        )
    except MemdeckError as error:
        return CuratedOverview(error=error)


def _decisions(curated: Curated, call: OperationCall) -> tuple[Json, ...]:
    """Return the newest decisions; none where the records cannot be read, of which the health tells."""
    try:
        return tuple(BY_NAME["decisions list"].run(curated, {"limit": DECISIONS}, call).get("decisions", ()))
    except MemdeckError as error:
        if error.code != UNAVAILABLE:
            raise
        return ()


def key_of(memory: Memory) -> str:
    """Return what names a memory among those of both sides."""
    return f"{memory.root.side}:{memory.id}"


def _shadows(curated: Curated) -> tuple[Shadow, ...]:
    """Return what is hidden for everyone, then what is hidden besides for the readers of one agent each."""
    everyone = curated.memories(curated.visible())
    by_key = {key_of(one): one for one in everyone}
    hidden = curated.shadowed(everyone)
    found = [Shadow(by_key[key], winner, None) for key, winner in hidden.items()]
    for agent in sorted({root.agent for root in curated.all_roots() if root.agent}):
        seen = curated.memories(curated.visible(agent))
        by_key = {key_of(one): one for one in seen}
        found += [
            Shadow(by_key[key], winner, agent)
            for key, winner in curated.shadowed(seen).items()
            if winner.root.agent and key not in hidden
        ]
    return tuple(found)


def _inbox(curated: Curated) -> list[Json]:
    """Return the files that wait in the inboxes, by session, with their sizes in bytes."""
    found: list[Json] = []
    for root in curated.all_roots():
        top = f"{curated.side_of(root).store.root}/{root.folder}/{INBOX}"
        for folder, _, names in os.walk(top):
            for name in sorted(names):
                try:
                    size = os.lstat(f"{folder}/{name}").st_size
                except OSError:
                    continue
                session = os.path.relpath(folder, top)
                found.append({"session": session, "file": name, "size": size, **root.json()})
    return found
