"""The rows of the curated pane: health, memories by scope and type, inbox, dreams, decisions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from widgets.list.rows import Heading, Note
from widgets.panes.titled_row import TitledRow

if TYPE_CHECKING:
    from memory.curated.model import Invalid, Memory
    from memory.curated.overview import CuratedOverview

Json: TypeAlias = "dict[str, Any]"


@dataclass(frozen=True, slots=True)
class HealthRow:
    """The health of curated memory."""

    overview: CuratedOverview

    ref = "curated#health"
    title = "How it stands"
    part = "health"


@dataclass(frozen=True, slots=True)
class MemoryRow(TitledRow):
    """A memory; `recalls` is its record in the lists of the command line, `hides` how many memories it hides."""

    memory: Memory
    recalls: Json
    hides: int

    part = "memories"


@dataclass(frozen=True, slots=True)
class ShadowRow(TitledRow):
    """A memory below `winner`, which hides it; `reader` is the agent for whom it is hidden, None for everyone."""

    memory: Memory
    winner: Memory
    reader: str | None

    part = "memories"


@dataclass(frozen=True, slots=True)
class InvalidRow(TitledRow):
    """A file that is not a memory."""

    invalid: Invalid

    part = "invalid"


@dataclass(frozen=True, slots=True)
class InboxRow(TitledRow):
    """A file that waits in an inbox of a session, or (`failed`) a candidate that could not be accepted."""

    record: Json
    session: str
    failed: bool

    part = "inbox"


@dataclass(frozen=True, slots=True)
class GateRow(TitledRow):
    """The gates of dreaming of one side, global or workspace."""

    gates: Json

    part = "dreams"


@dataclass(frozen=True, slots=True)
class DreamRow(TitledRow):
    """One run of dreaming, titled by its id."""

    run: Json

    part = "dreams"


@dataclass(frozen=True, slots=True)
class DecisionRow(TitledRow):
    """One decision of the controller, titled by its id."""

    decision: Json

    part = "decisions"

    @property
    def rule(self) -> str:
        """The rule that decided."""
        trace = self.decision["rule_trace"]
        return str(trace[-1]["name"]) if trace else ""

    @property
    def changes(self) -> bool:
        """Whether it changed a file, so that it can be reverted."""
        return self.decision["op"] in ("add", "update", "delete") and self.decision["applied_at"] is not None


def rows_of(found: CuratedOverview) -> Iterator[Any]:
    """Yield all rows; none if there is nothing yet."""
    if found.error is None and not (found.memories or found.invalid or found.decisions):
        return
    yield HealthRow(found)
    yield from _memories(found)
    if found.invalid:
        yield from (Note(number=1), Heading("NOT READ", f"{len(found.invalid):,}"))
        for one in found.invalid:
            yield InvalidRow(f"curated#invalid:{one.root.key}/{one.filename}", one.filename, one)
    if found.inbox or found.failures:
        failed = f", {len(found.failures):,} failed" if found.failures else ""
        yield from (Note(number=2), Heading("INBOX", f"{len(found.inbox):,} waiting{failed}"))
        yield from (_inbox_row(one, failed=True) for one in found.failures)
        yield from (_inbox_row(one, failed=False) for one in found.inbox)
    if found.gates:
        yield from (Note(number=3), Heading("DREAMS", f"{len(found.dreams):,}" if found.dreams else ""))
        yield from (GateRow(f"curated#gates:{one['scope']}", str(one["scope"]), one) for one in found.gates)
        yield from (DreamRow(f"curated#dream:{one['id']}", str(one["id"]), one) for one in found.dreams)
    if found.decisions:
        yield from (Note(number=4), Heading("DECISIONS", f"{len(found.decisions):,}"))
        yield from (DecisionRow(f"curated#{one['id']}", str(one["id"]), one) for one in found.decisions)


def _inbox_row(record: Json, *, failed: bool) -> InboxRow:
    """Return the row of a failure, titled by its reason without the code, or of a file, by its count of candidates."""
    session = str(record.get("session") or record.get("session_id") or "")
    name = record.get("failure_id") or record.get("id") or record.get("file")
    if failed:
        code, sign, words = str(record.get("reason") or "").partition(": ")
        return InboxRow(
            f"curated#failure:{session}/{name}",
            words if sign and " " not in code else code,
            record,
            session,
            failed=True,
        )
    count = int(record.get("candidates") or 0)
    return InboxRow(
        f"curated#inbox:{session}/{name}",
        f"{count:,} {'candidate' if count == 1 else 'candidates'}",
        record,
        session,
        failed=False,
    )


def memory_ref(memory: Memory) -> str:
    """Return the ref of a memory's row: its side and id."""
    return f"curated#{memory.key}"


def _memories(found: CuratedOverview) -> Iterator[Any]:
    from memory.curated.model import TYPES

    everywhere = {one.memory.key for one in found.shadows if one.reader is None}
    below: dict[str, list[ShadowRow]] = {}
    for one in found.shadows:
        ref = f"{memory_ref(one.winner)}>{one.memory.key}"
        row = ShadowRow(ref, one.memory.header.name, one.memory, one.winner, one.reader)
        below.setdefault(one.winner.key, []).append(row)
    scopes: dict[tuple[int, str], list[Memory]] = {}
    for memory in found.memories:
        scopes.setdefault((-memory.root.depth, memory.root.key), []).append(memory)
    for number, (_, some) in enumerate(sorted(scopes.items())):
        root = some[0].root
        shown = [memory for memory in some if memory.key not in everywhere]
        hidden = f", {len(some) - len(shown):,} hidden" if len(some) > len(shown) else ""
        tier = f", tier {root.tier}" if root.tier else ""
        yield Note(number=10 + number)
        yield Heading(f"AGENT {root.agent}" if root.agent else root.scope.upper(), f"{len(shown):,}{hidden}{tier}")
        shown.sort(key=lambda memory: (TYPES.index(memory.header.type), -memory.changed, memory.filename))
        for memory in shown:
            key = memory.key
            hidden_rows = below.get(key, ())
            yield MemoryRow(
                memory_ref(memory), memory.header.name, memory, found.recalls.get(key, {}), len(hidden_rows)
            )
            yield from hidden_rows
