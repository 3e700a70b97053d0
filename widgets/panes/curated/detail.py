"""The entries of the curated pane in full: a memory with its history, a decision with its rules, dreams with gates."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from widgets.detail import Caption, DetailLine, Labelled, Lines, Prose, Spacer, Title
from widgets.text.styled_text import Line, Piece, line
from widgets.text.words import dated

from .lines import OPS, LineContext
from .rows import DecisionRow, DreamRow, GateRow, HealthRow, InboxRow, InvalidRow, Json, MemoryRow, ShadowRow

if TYPE_CHECKING:
    from memory.curated.model import Memory
    from memory.curated.recall.find import Scored

BAR = 20
"""Cells of a full bar."""
SHOWN = 10
"""The most memories that a search shows."""
NEWEST = 8
"""The most decisions that a memory's history shows."""
PLACES = {"agent/workspace": "agents", "agent/global": "your agents"}
"""Short words for scopes."""
TERMS = (("unicode", "words"), ("trigram", "letters"), ("recency", "age"), ("signal", "recalls"))
"""The terms of a score, with their shown names."""


def detail_lines(item: Any, seen: LineContext, decisions: Sequence[Json]) -> Iterator[DetailLine]:
    """Everything about a row; `decisions` are the newest ones."""
    if isinstance(item, MemoryRow):
        yield from _memory(item.memory, item.recalls, seen)
        yield from _history(item.memory, decisions, seen)
    else:
        yield from _DETAILS[type(item)](item, seen)


def _invalid(item: InvalidRow, _seen: LineContext) -> Iterator[DetailLine]:
    bad = item.invalid
    yield from (Title(bad.filename), Prose(bad.reason, tone="alert"), Spacer())
    yield from (Labelled("line", str(bad.line)), Labelled("code", bad.code), Labelled("folder", bad.root.folder))
    yield from (Spacer(), Prose("The file stays as it is, and its name is taken, until it is mended.", tone="muted"))


def _inbox(item: InboxRow, _seen: LineContext) -> Iterator[DetailLine]:
    yield Title(item.title)
    yield from (Labelled(key.replace("_", " "), str(value)) for key, value in item.record.items() if value)


def _health(item: HealthRow, seen: LineContext) -> Iterator[DetailLine]:
    found = item.overview
    yield Title(item.title)
    if found.error is not None:
        yield Prose(str(found.error), tone="alert")
        return
    health = found.health
    yield from (Prose(text, tone="alert") for text in health["problems"])
    yield Caption("FILES")
    yield from (Labelled(PLACES.get(scope, scope), f"{count:,}") for scope, count in health["files"].items())
    if not health["files"]:
        yield Prose("No memory yet.", tone="muted")
    yield from (Labelled("not read", f"{health['invalid_files']:,}"), Spacer(), Caption("CONTROLLER"))
    yield Labelled("changes", f"{health['decisions']:,}")
    yield Labelled("waiting", f"{health['pending_decisions']:,}")
    yield Labelled("last", dated(health["last_operation_at"], seen.now, seen.zone) or "never")
    yield from (Spacer(), Caption("PLACES"), Labelled("workspace", health["workspace_id"] or "no identity yet"))
    yield Labelled("person", health["global_dir"] or "no home folder")


def _memory(memory: Memory, recalls: Json, seen: LineContext) -> Iterator[DetailLine]:
    header, source = memory.header, memory.header.provenance
    yield Title(header.name)
    yield Prose(header.description, tone="muted")
    yield Spacer()
    yield Labelled("type", header.type, "accent")
    agent = f" of {memory.root.agent}" if memory.root.agent else ""
    yield Labelled("scope", f"{memory.root.label}{agent}")
    yield Labelled("file", memory.filename)
    changed = recalls.get("mod_time")
    if changed:
        yield Labelled("changed", dated(changed, seen.now, seen.zone))
    count = recalls.get("recall_count") or 0
    if count:
        last = dated(recalls["last_recalled_at"], seen.now, seen.zone)
        yield Labelled("recalled", f"{count:,} {'time' if count == 1 else 'times'}, last {last}")
    if source.source_actor:
        yield Labelled("from", source.source_actor + (f", {source.confidence}" if source.confidence else ""))
    if source.superseded_by:
        yield Labelled("replaced by", source.superseded_by, "warn")
    if recalls.get("staleness_banner"):
        yield Prose(recalls["staleness_banner"], tone="muted")
    yield from (Spacer(), Prose(memory.body, markdown=True))


def _history(memory: Memory, decisions: Sequence[Json], seen: LineContext) -> Iterator[DetailLine]:
    mine = [one for one in decisions if memory.filename in (one["target_filename"], *one["targets"])]
    mine = [one for one in mine if one["scope"] == memory.root.scope and one["agent_name"] == memory.root.agent]
    if mine:
        yield from (Spacer(), Caption("DECISIONS"))
        yield Lines(tuple(_decided(one, seen) for one in mine[:NEWEST]), 17)


def _decided(one: Json, seen: LineContext) -> Line:
    rule = one["rule_trace"][-1]["name"].removeprefix("controller.") if one["rule_trace"] else ""
    when = seen.when(one["decided_at"])
    return line(Piece(f"{when.text:<9}", "muted"), Piece(f"{one['op']:<8}", OPS.get(one["op"], "plain")), rule)


def _hidden(item: ShadowRow, seen: LineContext) -> Iterator[DetailLine]:
    for_whom = f" for {item.reader}" if item.reader else ""
    words = f"Hidden{for_whom} by {item.winner.root.label}/{item.winner.filename}: the same type and name, deeper."
    yield from _memory(item.memory, {}, seen)
    yield from (Spacer(), Prose(words, tone="warn"))


def _decision(item: DecisionRow, seen: LineContext) -> Iterator[DetailLine]:
    made = item.decision
    yield Title(f"{made['op']} {made['target_filename'] or ''}".strip())
    yield Prose(made["reason"])
    yield Spacer()
    yield Labelled("decided", dated(made["decided_at"], seen.now, seen.zone))
    applied = dated(made["applied_at"], seen.now, seen.zone) or made.get("abandoned") or "waits"
    yield Labelled("carried out", applied if item.changes or made["applied_at"] is None else "nothing to write")
    yield Labelled("scope", made["scope"] + (f" of {made['agent_name']}" if made["agent_name"] else ""))
    yield Labelled("from", str(made.get("origin") or ""))
    yield Labelled("sure", _bar(made["confidence"], seen, f"{made['confidence']:.2f}"))
    yield Labelled("by", "a model" if made["source"] == "llm" else "rules")
    yield from (Spacer(), Caption("RULES"))
    rules: list[Line] = []
    for one in made["rule_trace"]:
        sign = Piece(seen.glyphs.check, "good") if one["passed"] else Piece(seen.glyphs.cross, "warn")
        rules.append(line(sign, " ", Piece(one["name"], "code")))
        words = "  ".join(text for text in (one["reason"], one["target"]) if text)
        if words:
            rules.append(line("  ", Piece(words, "muted")))
    yield Lines(tuple(rules), 2)
    yield from (Spacer(), Labelled("id", item.title))
    if item.changes:
        hint = seen.with_keys("{curated.revert|_} takes it back, while the file is as it left it.")
        yield from (Spacer(), Prose(hint, tone="muted"))


def _gates(item: GateRow, seen: LineContext) -> Iterator[DetailLine]:
    gates = item.gates
    yield Title(f"Dreaming of {item.title}")
    yield Prose("What was recalled most is gathered into one memory when all gates are open.", tone="muted")
    yield from (Spacer(), Caption("GATES"))
    yield from (Labelled(gate["gate"], gate["words"], "good" if gate["open"] else "warn") for gate in gates["gates"])
    if gates["candidates"]:
        yield from (Spacer(), Caption("CANDIDATES"))
        for one in gates["candidates"]:
            name = one.get("name") or one.get("filename") or ""
            yield Labelled(f"{one.get('score', 0):.2f}", str(name))
    yield from (Spacer(), Prose(seen.with_keys("{curated.dream|&} dreams."), tone="muted"))


def _dream(item: DreamRow, seen: LineContext) -> Iterator[DetailLine]:
    run = item.run
    yield Title(f"Dream of {run['scope']}")
    if run["error"]:
        yield Prose(run["error"], tone="alert")
    yield Labelled("state", run["state"])
    yield Labelled("began", dated(run["started_at"], seen.now, seen.zone))
    yield Labelled("gathered", f"{run['promoted_count']:,} of {run['input_count']:,}")
    for label, key in (("memory", "target_filename"), ("text", "artifact_path"), ("reason", "reason"), ("id", "id")):
        if run.get(key):
            yield Labelled(label, str(run[key]))


_DETAILS: dict[type, Callable[[Any, LineContext], Iterator[DetailLine]]] = {
    HealthRow: _health,
    ShadowRow: _hidden,
    DecisionRow: _decision,
    GateRow: _gates,
    DreamRow: _dream,
    InvalidRow: _invalid,
    InboxRow: _inbox,
}
"""What shows a row in full, by the kind of the row; memories also need the decisions."""


def search_lines(found: Sequence[Scored], hidden: int, seen: LineContext, width: int) -> list[Line]:
    """The results of a search, each with the terms of its score as bars; `width` is the cells of a line."""
    lines: list[Line] = []
    bar = max(4, min(BAR, (width - 24) // 2))
    for place, one in enumerate(found, 1):
        memory = one.memory
        lines += [()] if lines else []
        head = (Piece(f"{place:>2}  ", "muted"), Piece(memory.header.name, "strong"))
        lines.append(line(*head, Piece(f"  {memory.root.label} {memory.filename}", "muted")))
        if memory.header.description:
            lines.append(line("    ", memory.header.description))
        for name, words in TERMS:
            value = getattr(one, name)
            lines.append(line(Piece(f"    {words:<8} ", "muted"), *_bar(value, seen, f"{value:.3f}", bar)))
        lines.append(
            line(Piece(f"    {'score':<8} ", "muted"), *_bar(one.score, seen, f"{one.score:.3f}", bar, "accent"))
        )
    if hidden:
        lines += [(), line(Piece(f"{hidden:,} more hidden by a deeper one of the same type and name", "muted"))]
    return lines or [line(Piece("Nothing is near that. Other words may find it.", "muted"))]


def _bar(value: float, seen: LineContext, words: str, cells: int = BAR // 2, tone: Any = "good") -> Line:
    full = min(cells, round(cells * min(max(value, 0.0), 1.0)))
    full = max(full, int(value > 0))
    glyphs = seen.glyphs
    empty = Piece(glyphs.bar_empty * (cells - full), "muted")
    return line(Piece(glyphs.bar_full * full, tone), empty, Piece(f" {words}", "plain"))
