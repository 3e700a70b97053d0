"""The differences between two bundles, and what a recall would do, as lines to show."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from memory.state.files.json_text import canonical
from memory.state.files.model import plural
from memory.state.recall.recall import SHOWN_GROUPS, SHOWN_LINES
from widgets.text.styled_text import Line, Piece, line

from .rows import TITLES

if TYPE_CHECKING:
    from memory.state.diff import EditedField, SectionDiff
    from memory.state.recall.grouping import EventGroup
    from memory.state.recall.recall import RecallPreview
    from widgets.text.glyphs import Glyphs

SHOWN = 60
"""The most shown entries of one section that are added, removed or edited, each."""
LONGEST = 240
"""The most characters of one value that are shown."""
SIGNAL_WORDS = {
    "decisions": ("decision", "decisions"),
    "gotchas": ("gotcha", "gotchas"),
    "nextStepHints": ("next step", "next steps"),
    "keyPaths": ("path", "paths"),
    "validationObservations": ("observation", "observations"),
}


def more(count: int, most: int, words: str = "more") -> list[Line]:
    """The line that says how many were left out beyond the `most` that are shown; none where all are shown."""
    return [line(Piece(f"and {count - most:,} {words}", "muted"))] if count > most else []


def signal_words(signals: Any) -> str:
    """How many signals of each kind there are: `1 decision, 2 gotchas`."""
    found = ((words, len(signals[kind])) for kind, words in SIGNAL_WORDS.items())
    return ", ".join(f"{count:,} {words[count != 1]}" for words, count in found if count)


def diff_lines(sections: Iterable[SectionDiff], glyphs: Glyphs) -> list[Line]:
    """Section by section the added and removed entries and each changed field; nothing where there is no difference."""
    lines: list[Line] = []
    for section in sections:
        if not section.changed:
            continue
        if lines:
            lines.append(())
        counts = (("added", section.added), ("removed", section.removed), ("edited", section.edited))
        note = ", ".join(f"{len(found):,} {word}" for word, found in counts if found)
        lines.append(line(Piece(TITLES[section.section].upper(), "heading"), Piece(f"  {note}", "muted")))
        lines += _came(section.added, "+ ", "good")
        lines += _came(section.removed, "- ", "alert")
        lines += _edited(section.edited, glyphs)
    return lines


def _came(entries: Sequence[tuple[str, str]], sign: str, tone: Any) -> Iterator[Line]:
    for place, entry in entries[:SHOWN]:
        yield line(
            Piece(sign, tone), Piece(entry[:LONGEST], tone), Piece(f"  {_word(place)}" if place else "", "muted")
        )
    if len(entries) > SHOWN:
        yield line(Piece(f"  and {len(entries) - SHOWN:,} more", "muted"))


def _edited(edited: Sequence[EditedField], glyphs: Glyphs) -> Iterator[Line]:
    last = ""
    for one in edited[:SHOWN]:
        if one.entry and one.entry != last:
            yield line(Piece("~ ", "accent"), one.entry[:LONGEST])
        last = one.entry
        lead = Piece(f"  {_word(one.field)}  " if one.entry else f"~ {_word(one.field)}  ", "muted")
        if one.field == "order":
            yield line(lead, Piece("is another one", "muted"))
            continue
        before, after = _value(one.before), _value(one.after)
        yield line(lead, Piece(before, "warn"), Piece(f" {glyphs.right} ", "muted"), Piece(after, "good"))
    if len(edited) > SHOWN:
        yield line(Piece(f"  and {len(edited) - SHOWN:,} more", "muted"))


def _value(value: Any) -> str:
    text = value if isinstance(value, str) else "none" if value is None else canonical(value)
    text = " ".join(text.split())
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def _word(place: str) -> str:
    """A key as words: `knownRisks` is `known risks`."""
    return "".join(f" {one.lower()}" if one.isupper() else one for one in place).replace(".", ", ")


def evidence_lines(groups: Sequence[EventGroup], most: int) -> Iterator[Line]:
    """At most `most` groups of events: summary, source, count and signals."""
    for group in groups[:most]:
        yield line(group.summary)
        words = signal_words(group.signals)
        count = f", {plural(len(group.event_ids), 'event')}" + (f": {words}" if words else "")
        yield line("  ", Piece(group.label, "accent"), Piece(count, "muted"))
    yield from more(len(groups), most, "more groups")


def recall_lines(shown: RecallPreview, glyphs: Glyphs, *, diff: bool) -> list[Line]:
    """What a recall would do: its scope and evidence, the changes of each section, and merged entries."""
    scope = shown.scope
    lines = [line(Piece(shown.note, "warn")), ()] if shown.note else []
    lines += [
        _told("events", f"{plural(len(shown.events), 'event')} of {_scope(scope.source)}{_waiting(shown)}"),
        _told("section", "all sections" if scope.section == "all" else TITLES[scope.section]),
        _told("policy", scope.policy),
        _told("engine", shown.engine),
    ]
    if shown.groups:
        lines += [(), line(Piece("EVIDENCE", "heading"), Piece(f"  {plural(len(shown.groups), 'group')}", "muted"))]
        lines += evidence_lines(shown.groups, SHOWN_GROUPS)
    changes = shown.diff()
    if changes:
        lines += [(), *diff_lines(changes, glyphs)]
    if told := shown.told():
        lines += [(), line(Piece("REPLACED AND CLOSED", "heading"))]
        lines += [line(Piece("= ", "accent"), words) for words in told[:SHOWN_LINES]]
        lines += more(len(told), SHOWN_LINES, "more")
    if shown.digest.protected:
        names = ", ".join(TITLES[name] for name in shown.digest.protected)
        lines += [(), line(Piece(f"Protected by the policy: {names}", "muted"))]
    if shown.left:
        names = ", ".join(TITLES[name] for name in shown.left)
        lines += [(), line(Piece(f"These events also change {names}, which this recall leaves; they wait", "warn"))]
    if diff and changes:
        for section in changes:
            lines += [(), line(Piece(f"{TITLES[section.section].upper()}, LINE BY LINE", "heading"))]
            lines += raw_lines(section.lines[2:], SHOWN_LINES)
    return lines


def raw_lines(texts: Sequence[str], most: int) -> Iterator[Line]:
    """Lines of a unified diff, each in its tone."""
    for text in texts[:most]:
        yield line(Piece(text, "good" if text[:1] == "+" else "alert" if text[:1] == "-" else "muted"))
    yield from more(len(texts), most, "more lines")


def recall_summary(shown: RecallPreview) -> str:
    """The summary below a preview."""
    if not shown.events:
        return f"No event of {_scope(shown.scope.source)} waits."
    if not shown.changes:
        return "The bundle stays as it is; the cursor moves past these events."
    text = shown.digest.text()
    return text[:1].upper() + text[1:] + "."


def _waiting(shown: RecallPreview) -> str:
    return f", {shown.waiting:,} more wait for the next recall" if shown.waiting else ""


def _scope(source: str) -> str:
    return {"all": "all sources", "local": "this project", "imports": "imported sessions"}[source]


def _told(label: str, words: str) -> Line:
    return line(Piece(f"{label:<9}", "muted"), words)
