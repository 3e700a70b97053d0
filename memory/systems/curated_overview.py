"""Everything that a person may want to see of curated memory at one moment: memories, decisions, dreams, failures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from memory.base.clock import format_utc
from memory.curated.extract.inbox import LARGEST, waiting
from memory.curated.index.records import UNAVAILABLE
from memory.curated.model import Invalid, Json, Memory
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
    """Return the files that wait in the inboxes: how many candidates each holds, and since when."""
    found: list[Json] = []
    for one in waiting(curated):
        try:
            count = _lines(f"{one.side.store.root}/{one.path}")
        except OSError:
            continue
        at = _put_at(one.name) or format_utc(datetime.fromtimestamp(one.mtime_ns / 1e9, UTC))
        found.append(
            {"session": one.session, "file": one.name, "candidates": count, "size": one.size, "at": at,
             "scope": one.side.name}
        )  # fmt: skip
    return found


def _lines(path: str) -> int:
    with open(path, "rb") as file:
        return sum(1 for line in file.read(LARGEST).split(b"\n") if line.strip())


def _put_at(name: str) -> str | None:
    """Return the time that the name of a file of the inbox begins with."""
    try:
        return format_utc(datetime.strptime(name.partition("-")[0], "%Y%m%dT%H%M%S.%fZ").replace(tzinfo=UTC))
    except ValueError:
        return None
