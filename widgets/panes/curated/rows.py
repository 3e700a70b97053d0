"""The rows of the curated pane: health, memories by scope and type, inbox, dreams, decisions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from widgets.list.rows import Heading, Note
from widgets.panes.titled_row import TitledRow
from widgets.text.styled_text import Tone

if TYPE_CHECKING:
    from memory.curated.model import Invalid, Memory
    from memory.curated.overview import CuratedOverview

Json: TypeAlias = "dict[str, Any]"


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
class RecordRow(TitledRow):
    """A record that is only shown: its part of the pane, the name of its sign, tone, first words, text and time."""

    part: str
    record: Json
    sign: str
    tone: Tone
    lead: str = ""
    text: str = ""
    when: str | None = None


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
    """Yield all rows with their headings; nothing while there is no memory at all, so that the pane says what it is."""
    if found.error is None and not (found.memories or found.invalid or found.decisions):
        return
    yield _health(found)
    yield from _memories(found)
    if found.invalid:
        yield from (Note(number=1), Heading("NOT READ", f"{len(found.invalid):,}"))
        yield from map(_invalid, found.invalid)
    if found.inbox or found.failures:
        failed = f", {len(found.failures):,} failed" if found.failures else ""
        yield from (Note(number=2), Heading("INBOX", f"{len(found.inbox):,} waiting{failed}"))
        yield from (_inbox(one, failed=True) for one in found.failures)
        yield from (_inbox(one, failed=False) for one in found.inbox)
    if found.gates:
        yield from (Note(number=3), Heading("DREAMS", f"{len(found.dreams):,}" if found.dreams else ""))
        yield from map(_gates, found.gates)
        yield from map(_dream, found.dreams)
    if found.decisions:
        yield from (Note(number=4), Heading("DECISIONS", f"{len(found.decisions):,}"))
        yield from (DecisionRow(f"curated#{one['id']}", str(one["id"]), one) for one in found.decisions)


def _count(number: int, one: str, many: str) -> str:
    return f"{number:,} {one if number == 1 else many}"


def _health(found: CuratedOverview) -> RecordRow:
    ref, health = "curated#health", found.health
    if found.error is not None:
        return RecordRow(
            ref, "Health", "health", {"error": str(found.error)}, "alert", "alert", "", found.error.message
        )
    hidden = sum(one.reader is None for one in found.shadows)
    words = _count(health["indexed_files"], "memory", "memories") + (f", {hidden:,} hidden" if hidden else "")
    sign, tone, lead = {
        "ok": ("check", "good", "Healthy"),
        "disabled": ("circle", "muted", "Switched off"),
    }.get(health["status"], ("alert", "alert", _count(len(health["problems"]), "problem", "problems")))
    return RecordRow(ref, "Health", "health", health, sign, tone, lead, words)  # type: ignore[arg-type]


def _invalid(bad: Invalid) -> RecordRow:
    record = {"reason": bad.reason, "line": bad.line, "code": bad.code, "folder": bad.root.folder}
    ref = f"curated#invalid:{bad.root.key}/{bad.filename}"
    text = f"{bad.filename}:{bad.line}  {bad.reason}"
    return RecordRow(ref, bad.filename, "invalid", record, "alert", "alert", bad.root.label, text)


def _inbox(record: Json, *, failed: bool) -> RecordRow:
    session = str(record.get("session") or record.get("session_id") or "")
    name = record.get("failure_id") or record.get("id") or record.get("file")
    when = record.get("recorded_at") or record.get("at")
    if failed:
        code, sign, words = str(record.get("reason") or "").partition(": ")
        title = words if sign and " " not in code else code
        return RecordRow(
            f"curated#failure:{session}/{name}", title, "inbox", record, "cross", "alert", session, title, when
        )
    title = _count(int(record.get("candidates") or 0), "candidate", "candidates")
    return RecordRow(f"curated#inbox:{session}/{name}", title, "inbox", record, "circle", "plain", session, title, when)


def _gates(gates: Json) -> RecordRow:
    scope, is_open = str(gates["scope"]), gates["open"]
    text = f"{gates['words']}  open" if is_open else gates["words"]
    sign, tone = ("check", "good") if is_open else ("circle", "muted")
    record = {"gates": gates["gates"], "candidates": gates["candidates"]}
    title = f"Dreaming of {scope}"
    return RecordRow(f"curated#gates:{scope}", title, "dreams", record, sign, tone, scope, text)  # type: ignore[arg-type]


def _dream(run: Json) -> RecordRow:
    tones = {"promoted": ("check", "good"), "failed": ("cross", "alert"), "running": ("circle", "accent")}
    sign, tone = tones.get(run["state"], ("circle", "muted"))
    text = run["error"] or f"{run['promoted_count']:,} of {run['input_count']:,} memories gathered"
    ref, title = f"curated#dream:{run['id']}", f"Dream of {run['scope']}"
    return RecordRow(ref, title, "dreams", run, sign, tone, run["state"], text, run["started_at"])  # type: ignore[arg-type]


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
