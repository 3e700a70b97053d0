"""The rows of the curated pane: how it stands, memories by scope and type, inbox, dreams, decisions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from widgets.list.rows import Heading, Note

if TYPE_CHECKING:
    from memory.curated.model import Invalid, Memory
    from memory.systems.curated_overview import CuratedOverview

Json: TypeAlias = "dict[str, Any]"


@dataclass(frozen=True, slots=True)
class HealthRow:
    """How memory stands."""

    overview: CuratedOverview

    ref = "curated#health"
    title = "How it stands"
    part = "health"


@dataclass(frozen=True, slots=True)
class MemoryRow:
    """A memory; `recalls` is what the lists of the command line say of it, `hides` how many memories it hides."""

    memory: Memory
    recalls: Json
    hides: int

    part = "memories"

    @property
    def ref(self) -> str:
        """Its side and id."""
        return f"curated#{self.memory.root.side}:{self.memory.id}"

    @property
    def title(self) -> str:
        """Its name."""
        return self.memory.header.name


@dataclass(frozen=True, slots=True)
class ShadowRow:
    """A memory below the one that hides it; `reader` is the agent for whom it does, None for everyone."""

    memory: Memory
    winner: Memory
    reader: str | None

    part = "memories"

    @property
    def ref(self) -> str:
        """Its id and that of the one that hides it."""
        return f"curated#{self.winner.root.side}:{self.winner.id}>{self.memory.root.side}:{self.memory.id}"

    @property
    def title(self) -> str:
        """Its name."""
        return self.memory.header.name


@dataclass(frozen=True, slots=True)
class InvalidRow:
    """A file that is no memory."""

    invalid: Invalid

    part = "invalid"

    @property
    def ref(self) -> str:
        """Its folder and name."""
        return f"curated#invalid:{self.invalid.root.key}/{self.invalid.filename}"

    @property
    def title(self) -> str:
        """Its name."""
        return self.invalid.filename


@dataclass(frozen=True, slots=True)
class InboxRow:
    """A file that waits in an inbox, or (`failed`) a candidate that could not be taken."""

    record: Json
    failed: bool

    part = "inbox"

    @property
    def ref(self) -> str:
        """Its session and file, or its id."""
        name = self.record.get("failure_id") or self.record.get("id") or self.record.get("file")
        return f"curated#{'failure' if self.failed else 'inbox'}:{self.session}/{name}"

    @property
    def session(self) -> str:
        """The session that it comes from."""
        return str(self.record.get("session") or self.record.get("session_id") or "")

    @property
    def title(self) -> str:
        """The reason of a failure without its code, how much a file holds."""
        if self.failed:
            code, sign, words = str(self.record.get("reason") or "").partition(": ")
            return words if sign and " " not in code else code
        count = int(self.record.get("candidates") or 0)
        return f"{count:,} {'candidate' if count == 1 else 'candidates'}"


@dataclass(frozen=True, slots=True)
class GateRow:
    """The gates of dreaming of one side."""

    gates: Json

    part = "dreams"

    @property
    def ref(self) -> str:
        """Its side."""
        return f"curated#gates:{self.title}"

    @property
    def title(self) -> str:
        """The side: global or workspace."""
        return str(self.gates["scope"])


@dataclass(frozen=True, slots=True)
class DreamRow:
    """One run of dreaming."""

    run: Json

    part = "dreams"

    @property
    def ref(self) -> str:
        """Its id."""
        return f"curated#dream:{self.title}"

    @property
    def title(self) -> str:
        """Its id."""
        return str(self.run["id"])


@dataclass(frozen=True, slots=True)
class DecisionRow:
    """One decision of the controller."""

    decision: Json

    part = "decisions"

    @property
    def ref(self) -> str:
        """Its id."""
        return f"curated#{self.title}"

    @property
    def title(self) -> str:
        """Its id."""
        return str(self.decision["id"])

    @property
    def rule(self) -> str:
        """The rule that decided."""
        trace = self.decision["rule_trace"]
        return str(trace[-1]["name"]) if trace else ""

    @property
    def changes(self) -> bool:
        """Whether it changed a file, so that it may be taken back."""
        return self.decision["op"] in ("add", "update", "delete") and self.decision["applied_at"] is not None


def rows_of(found: CuratedOverview) -> Iterator[Any]:
    """Yield all rows; none where there is nothing yet."""
    if found.error is None and not (found.memories or found.invalid or found.decisions):
        return
    yield HealthRow(found)
    yield from _memories(found)
    if found.invalid:
        yield from (Note(number=1), Heading("NOT READ", f"{len(found.invalid):,}"))
        yield from (InvalidRow(one) for one in found.invalid)
    if found.inbox or found.failures:
        failed = f", {len(found.failures):,} failed" if found.failures else ""
        yield from (Note(number=2), Heading("INBOX", f"{len(found.inbox):,} waiting{failed}"))
        yield from (InboxRow(one, failed=True) for one in found.failures)
        yield from (InboxRow(one, failed=False) for one in found.inbox)
    if found.gates:
        yield from (Note(number=3), Heading("DREAMS", f"{len(found.dreams):,}" if found.dreams else ""))
        yield from (GateRow(one) for one in found.gates)
        yield from (DreamRow(one) for one in found.dreams)
    if found.decisions:
        yield from (Note(number=4), Heading("DECISIONS", f"{len(found.decisions):,}"))
        yield from (DecisionRow(one) for one in found.decisions)


def _memories(found: CuratedOverview) -> Iterator[Any]:
    from memory.curated.model import TYPES
    from memory.systems.curated_overview import key_of

    everywhere = {key_of(one.memory) for one in found.shadows if one.reader is None}
    below: dict[str, list[ShadowRow]] = {}
    for one in found.shadows:
        below.setdefault(key_of(one.winner), []).append(ShadowRow(one.memory, one.winner, one.reader))
    scopes: dict[tuple[int, str], list[Memory]] = {}
    for memory in found.memories:
        scopes.setdefault((-memory.root.depth, memory.root.key), []).append(memory)
    for number, (_, some) in enumerate(sorted(scopes.items())):
        root = some[0].root
        shown = [memory for memory in some if key_of(memory) not in everywhere]
        hidden = f", {len(some) - len(shown):,} hidden" if len(some) > len(shown) else ""
        tier = f", tier {root.tier}" if root.tier else ""
        yield Note(number=10 + number)
        yield Heading(f"AGENT {root.agent}" if root.agent else root.scope.upper(), f"{len(shown):,}{hidden}{tier}")
        shown.sort(key=lambda memory: (TYPES.index(memory.header.type), -memory.changed, memory.filename))
        for memory in shown:
            key = key_of(memory)
            yield MemoryRow(memory, found.recalls.get(key, {}), len(below.get(key, ())))
            yield from below.get(key, ())
