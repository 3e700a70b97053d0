"""The entries of the curated pane in full: a memory with its history, a decision with its rules, dreams with gates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from widgets.detail import Caption, DetailLine, Labelled, Lines, Prose, Spacer, Title
from widgets.text.styled_text import Line, Piece, line
from widgets.text.words import dated

from .lines import OPS, LineContext
from .rows import DecisionRow, Json, MemoryRow, ShadowRow

if TYPE_CHECKING:
    from memory.curated.model import Memory
    from memory.curated.recall.find import Scored

BAR = 20
"""Cells of a full bar."""
SHOWN = 10
"""The most memories that a search shows."""
NEWEST = 8
"""The most decisions that a memory's history shows."""
TERMS = (("unicode", "words"), ("trigram", "letters"), ("recency", "age"), ("signal", "recalls"))
"""The terms of a score, with their shown names."""


def detail_lines(item: Any, seen: LineContext, decisions: Sequence[Json]) -> Iterator[DetailLine]:
    """Yield everything about a row; `decisions` are the newest ones."""
    match item:
        case MemoryRow():
            yield from _memory(item.memory, item.recalls, seen)
            yield from _history(item.memory, decisions, seen)
        case ShadowRow():
            yield from _hidden(item, seen)
        case DecisionRow():
            yield from _decision(item, seen)
        case _:
            yield Title(item.title)
            yield from _record(item.record, seen)


def _record(record: Json, seen: LineContext) -> Iterator[DetailLine]:
    """Yield the values of a record: texts beside their names, lists and objects below them."""
    for key, value in record.items():
        label = key.replace("_", " ")
        if isinstance(value, dict) and value:
            yield from (Spacer(), Caption(label.upper()))
            yield from (Labelled(str(name), str(one)) for name, one in value.items())
        elif isinstance(value, list | tuple) and value:
            yield from (Spacer(), Caption(label.upper()))
            for one in value:
                yield _one(one) if isinstance(one, dict) else Prose(str(one))
        elif value not in (None, "", [], (), {}):
            shown = (
                dated(value, seen.now, seen.zone) if label.endswith(" at") and isinstance(value, str) else str(value)
            )
            yield Labelled(label, shown)


def _one(value: Json) -> Labelled:
    first, *rest = (text for text in map(str, value.values()) if text)
    return Labelled(str(value.get("gate") or value.get("name") or first), str(value.get("words") or ", ".join(rest)))


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
    words = f"Overridden{for_whom} by {item.winner.root.label}/{item.winner.filename}: the same type and name, deeper."
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
