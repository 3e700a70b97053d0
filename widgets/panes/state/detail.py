"""The details of the state pane: the status, each section, event, source and checkpoint in full."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING, Any, NamedTuple

from memory.state.files.model import plural
from widgets.detail import Caption, DetailLine, Labelled, Lines, Prose, Spacer, Title
from widgets.text.styled_text import Line, Piece, Tone, line
from widgets.text.words import dated

from .diff import SIGNAL_WORDS, diff_lines, more, signal_words
from .rows import LISTS, TITLES, EntryRow, EventRow, EvidenceRow, SectionRow, SourceRow, StatusRow

if TYPE_CHECKING:
    from memory.errors import MemdeckError
    from memory.state.checks.finding import Finding
    from memory.state.diff import SectionDiff
    from memory.state.status import Status
    from widgets.text.glyphs import Glyphs

RUN_TONES: dict[str, Tone] = {"passed": "good", "failed": "alert", "mixed": "warn", "unavailable": "warn"}
"""The tones of the results of validation commands."""
LEVEL_TONES: dict[str, Tone] = {"fail": "alert", "warn": "warn", "pass": "muted"}
FIELDS = {
    "gotchas": (("symptom", "symptom"), ("cause", "cause"), ("correctPath", "correct")),
    "next-steps": (("why", "why"), ("start", "begin at"), ("done", "done when")),
}
"""The fields of a gotcha and of a next step after the title, with their labels."""
FEW = 20
"""Groups of at most so many events are searched for repeated statements."""
MOST = 200
"""The most entries of one list that a detail shows."""


class DetailContext(NamedTuple):
    """What every detail needs: the time, its zone, the glyphs, and the function that puts keys into a hint."""

    now: datetime
    zone: tzinfo
    glyphs: Glyphs
    with_keys: Callable[[str], str]

    def when(self, text: str | None, never: str = "never") -> str:
        """A time as date and in words."""
        return dated(text, self.now, self.zone) if text else never


class Findings(NamedTuple):
    """What a validation found, and when it ran."""

    at: datetime
    all: tuple[Finding, ...]

    def of(self, level: str) -> list[Finding]:
        """The findings of a level."""
        return [one for one in self.all if one.level == level]

    def text(self) -> str:
        """How many findings each level has: `1 failed, 2 warned, 30 passed`."""
        parts = [(len(self.of("fail")), "failed"), (len(self.of("warn")), "warned"), (len(self.of("pass")), "passed")]
        return ", ".join(f"{count:,} {word}" for count, word in parts if count or word == "passed")


# -- the status -------------------------------------------------------------------------------------------------


def standing_detail(
    item: StatusRow, seen: DetailContext, following: Line, findings: Findings | None
) -> Iterator[DetailLine]:
    """Yield the suggested next step, what a validation found, then the status."""
    yield Title(item.title)
    if item.problem is not None:
        yield from _problem(item.problem)
    elif item.status is not None:
        why = item.status.next.why
        yield Prose(f"{why[:1].upper()}{why[1:]}.", tone="strong" if following else "plain")
        if following:
            yield Lines((following,), 2)
    if findings is not None:
        yield from _findings(findings, seen)
    if item.status is not None:
        yield from _status(item.status, seen)


def _problem(problem: MemdeckError) -> Iterator[DetailLine]:
    yield Prose(problem.message, tone="alert")
    if problem.hint:
        yield Prose(problem.hint, tone="muted")


def _findings(findings: Findings, seen: DetailContext) -> Iterator[DetailLine]:
    yield Spacer()
    yield Caption(f"VALIDATED  {findings.text()}")
    at = findings.at.astimezone(seen.zone)
    yield Prose(f"at {at:%H:%M:%S}", tone="muted")
    for level in ("fail", "warn", "pass"):
        found = findings.of(level)
        lines = [
            line(
                Piece(f"{level:<5}", LEVEL_TONES[level]),
                Piece(one.code, "strong" if level != "pass" else "muted"),
                Piece(f"  {one.message}" if level != "pass" else "", "plain"),
                Piece(f"  {one.file}{f':{one.line}' if one.line else ''}" if level != "pass" else "", "muted"),
            )
            for one in found[:MOST]
        ]
        lines += more(len(found), MOST)
        if lines:
            yield Lines(tuple(lines), 5)
    if findings.of("fail"):
        yield Prose(seen.with_keys("{state.repair|*} shows what can be mended."), tone="muted")


def _status(status: Status, seen: DetailContext) -> Iterator[DetailLine]:
    state, config = status.state, status.retention_enabled
    yield Spacer()
    if status.work is not None:
        yield Labelled("branch", status.work.branch or "none")
        for place, subject in enumerate(status.work.subjects):
            yield Labelled("" if place else "commits", subject)
    yield Labelled("bundle", f"{state['bundleHash'][:12]}, {seen.when(state['generatedAt'])}")
    yield Labelled("provider", state["provider"]["name"])
    yield Labelled("events", f"{status.totals['all']:,}, {status.unrecalled['all']:,} not yet recalled")
    for scope, words in (("local", "of this project"), ("imports", "imported")):
        if status.unrecalled[scope]:
            yield Labelled("", f"{status.unrecalled[scope]:,} {words}", "muted")
    yield Labelled("recalled", seen.when(state["maintenance"]["lastRecalledAt"]))
    yield Labelled("checkpoints", f"{status.checkpoints:,}, the latest is {status.against or 'missing'}")
    if status.drift_why:
        yield Labelled("drift", status.drift_why, "warn")
    else:
        changed = ", ".join(TITLES[one.section] for one in status.drift)
        yield Labelled("drift", f"{changed} differ from it" if changed else "none", "warn" if changed else "plain")
    yield Labelled("retention", status.retention.text() if config else "off")
    yield Labelled("archive", f"{status.batches:,} {'batch' if status.batches == 1 else 'batches'}")
    if status.drift:
        yield Spacer()
        yield Lines(tuple(diff_lines(status.drift, seen.glyphs)), 4)


# -- the bundle -------------------------------------------------------------------------------------------------


def section_detail(item: SectionRow, seen: DetailContext) -> Iterator[DetailLine]:
    """Yield a section in full."""
    yield Title(item.title)
    value = item.value
    if item.name == "project":
        yield from _project(value, seen.glyphs)
    elif item.name == "project-map":
        yield from _map(value, seen.glyphs)
    elif item.name == "current-focus":
        yield from _focus(value, seen)
    elif item.name in LISTS:
        if not value:
            yield Prose("None yet.", tone="muted")
        for number, one in enumerate(value[:MOST]):
            if number:
                yield Spacer()
            yield Prose(one["title"], tone="strong")
            yield from _fields(item.name, one)
        if len(value) > MOST:
            yield Prose(f"and {len(value) - MOST:,} more", tone="muted")
    else:
        yield from _commands(value, item.run, seen)


def entry_detail(item: EntryRow, _seen: DetailContext) -> Iterator[DetailLine]:
    """Yield a gotcha or a next step in full."""
    yield Title(item.title)
    yield from _fields(item.section, item.value)
    yield Spacer()
    yield Labelled("section", f"{TITLES[item.section]}, {item.number}", "muted")


def _fields(section: str, value: Any) -> Iterator[DetailLine]:
    for key, label in FIELDS[section]:
        yield Labelled(label, str(value[key]))


def _project(value: Any, glyphs: Glyphs) -> Iterator[DetailLine]:
    yield Prose(value["name"], tone="strong")
    yield Prose(value["summary"])
    yield Spacer()
    for key, label in (
        ("primaryEcosystem", "ecosystem"),
        ("packageManager", "packages"),
        ("workspaceManager", "workspaces"),
        ("recommendedEntryFile", "entry file"),
    ):
        yield Labelled(label, value[key])
    yield from _list("KEY PATHS", value["keyPaths"], glyphs, "code")


def _map(value: Any, glyphs: Glyphs) -> Iterator[DetailLine]:
    for heading, key, name, about in (
        ("MODULES", "modules", "path", "responsibility"),
        ("ENTRY POINTS", "entrypoints", "path", "role"),
        ("DENSE AREAS", "denseSourceAreas", "path", "note"),
    ):
        lines = []
        for one in value[key][:MOST]:
            title = one.get("name", one[name])
            path = f"  {one[name]}" if title != one[name] else ""
            lines.append(line(Piece(title, "strong"), Piece(path, "code"), Piece(f"  {one[about]}")))
        yield from _caption(heading, lines, len(value[key]))
    yield from _list("NOTES", value["architectureNotes"], glyphs)
    yield from _list("READ FIRST", value["firstFilesToRead"], glyphs, "code")


def _focus(value: Any, seen: DetailContext) -> Iterator[DetailLine]:
    yield Prose(value["summary"])
    yield from _list("STATE", value["currentState"], seen.glyphs)
    yield from _list("KNOWN RISKS", value["knownRisks"], seen.glyphs)
    yield from _list("DO NEXT", value["suggestedNextActions"], seen.glyphs)
    yield Spacer()
    yield Caption("VALIDATION")
    yield from _run(value["validationSnapshot"], seen)


def _commands(value: Any, run: Any, seen: DetailContext) -> Iterator[DetailLine]:
    if not value:
        yield Prose("No command that tells whether the project is sound.", tone="muted")
    for one in value:
        yield Prose(one["label"], tone="strong")
        yield Lines((line(Piece(shlex.join(one["command"]), "code")),), 2)
        yield Prose(one["purpose"], tone="muted")
        yield Spacer()
    yield Caption("LAST RUN")
    yield from _run(run, seen)
    if value:
        yield Spacer()
        yield Prose(seen.with_keys("{run.now|R} runs them, each after approval."), tone="muted")


def _run(run: Any, seen: DetailContext) -> Iterator[DetailLine]:
    yield Labelled("status", run["status"], RUN_TONES.get(run["status"], "plain"))
    yield Labelled("when", seen.when(run["validatedAt"]))
    yield Labelled("summary", run["summary"])
    for one in run["results"][:MOST]:
        tone = RUN_TONES.get(one["status"], "plain")
        yield Labelled(one["label"], line(Piece(one["status"], tone), Piece(f"  {one['summary']}")))


def _list(heading: str, texts: Sequence[str], glyphs: Glyphs, tone: Tone = "plain") -> Iterator[DetailLine]:
    lines = [line(Piece(f"{glyphs.bullet} ", "muted"), Piece(text, tone)) for text in texts[:MOST]]
    yield from _caption(heading, lines, len(texts))


def _caption(heading: str, lines: Sequence[Line], count: int) -> Iterator[DetailLine]:
    """Yield a caption and lines below it; nothing where there are none."""
    if not lines:
        return
    yield Spacer()
    yield Caption(heading)
    yield Lines(tuple(lines), 2)
    if count > len(lines):
        yield Prose(f"and {count - len(lines):,} more", tone="muted")


# -- events, sources, checkpoints -------------------------------------------------------------------------------


def event_detail(item: EventRow, seen: DetailContext) -> Iterator[DetailLine]:
    """Yield an event: its content, then where it comes from."""
    event = item.event
    yield Title(item.title)
    yield Prose(item.title)
    yield from _signals(event["signals"], seen.glyphs)
    yield Spacer()
    yield Labelled("recalled", "not yet" if item.waits else "yes", "warn" if item.waits else "plain")
    yield Labelled("at", seen.when(event["createdAt"]))
    yield Labelled("kind", "imported session" if event["kind"] == "imported_session" else "command of this project")
    yield Labelled("source", event["sourceId"])
    yield Labelled("from", event["sourceRef"])
    yield Labelled("hash", event["contentHash"][:12], "muted")


def evidence_detail(item: EvidenceRow, seen: DetailContext) -> Iterator[DetailLine]:
    """Yield a group of events: its summary, and the content of all events."""
    group = item.evidence
    yield Title(item.title)
    yield Prose(item.title)
    # Finding repeated statements among very many lines takes longer than a key may take.
    few = len(group.event_ids) <= FEW
    signals = group.signals if few else {kind: [*dict.fromkeys(texts)] for kind, texts in group.texts.items()}
    yield from _signals(signals, seen.glyphs)
    yield Spacer()
    yield Labelled("events", plural(len(group.event_ids), "event"))
    yield Labelled("from", ", ".join(group.source_ids))
    yield Labelled("first", seen.when(group.first, "unknown"))
    yield Labelled("last", seen.when(group.last, "unknown"))


def _signals(signals: Any, glyphs: Glyphs) -> Iterator[DetailLine]:
    if not signal_words(signals):
        yield Spacer()
        yield Prose("It says nothing that a recall takes in.", tone="muted")
    for kind, words in SIGNAL_WORDS.items():
        texts = [text.removeprefix("NEXT: ") for text in signals[kind]]
        yield from _list(words[1].upper(), texts, glyphs, "code" if kind == "keyPaths" else "plain")


def source_detail(item: SourceRow, seen: DetailContext) -> Iterator[DetailLine]:
    """Yield a source: where it is, and how its last sync ended."""
    record = item.record
    tones: dict[str, Tone] = {"passed": "good", "failed": "alert"}
    yield Title(item.title)
    yield Labelled("type", record["type"])
    yield Labelled("path", line(Piece(record["path"], "code")))
    yield Spacer()
    yield Labelled("last sync", record["lastSyncStatus"], tones.get(record["lastSyncStatus"], "plain"))
    if record["lastSyncError"]:
        yield Labelled("why", record["lastSyncError"], "alert")
    yield Labelled("at", seen.when(record["lastSyncedAt"]))
    yield Labelled("imported", plural(record["lastImportedCount"], "session"))
    yield Labelled("added", seen.when(record["createdAt"]))
    yield Spacer()
    yield Prose(seen.with_keys("{state.sync|I} imports what is new of it."), tone="muted")


DETAILS: dict[type, Callable[[Any, DetailContext], Iterator[DetailLine]]] = {
    SectionRow: section_detail,
    EntryRow: entry_detail,
    EvidenceRow: evidence_detail,
    EventRow: event_detail,
    SourceRow: source_detail,
}
"""What shows a row in full, by the kind of the row."""


def changed_lines(sections: Iterable[SectionDiff] | None, glyphs: Glyphs) -> tuple[Line, ...]:
    """The differences between two checkpoints; a short text where there are none, or where they are not known yet."""
    if sections is None:
        return (line(Piece("…", "muted")),)
    return tuple(diff_lines(sections, glyphs)) or (line(Piece("nothing is apart", "muted")),)
