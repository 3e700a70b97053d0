"""The rows of the state pane: how it stands, the bundle, the backlog, sources, checkpoints, what was recalled."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from widgets.list.rows import Heading, Note

if TYPE_CHECKING:
    from memory.errors import MemdeckError
    from memory.state.look import CheckpointLine, StateLook
    from memory.state.recall.grouping import EventGroup
    from memory.state.status import Status

Json: TypeAlias = "dict[str, Any]"

TITLES = {
    "project": "Project",
    "project-map": "Project map",
    "current-focus": "Current focus",
    "gotchas": "Gotchas",
    "next-steps": "Next steps",
    "validation-commands": "Validation",
}
"""The sections in words, in the order of the bundle."""

LISTS = {"gotchas": "gotcha", "next-steps": "next step"}
"""The sections that are lists of entries with titles, with what one is called."""


@dataclass(frozen=True, slots=True)
class StatusRow:
    """How the state stands: a status, or (None) why there is none."""

    status: Status | None
    problem: MemdeckError | None

    ref = "state#status"
    title = "How it stands"
    part = "status"


@dataclass(frozen=True, slots=True)
class SectionRow:
    """A section of the bundle, as it stands there; `run` is how the validation commands ended last."""

    name: str
    value: Any
    run: Json

    part = "bundle"

    @property
    def ref(self) -> str:
        """Its name, as search calls it."""
        return f"state#{self.name}"

    @property
    def title(self) -> str:
        """Its name in words."""
        return TITLES[self.name]


@dataclass(frozen=True, slots=True)
class EntryRow:
    """A gotcha or a next step; `number` counts from 1 in its section."""

    section: str
    number: int
    value: Json

    part = "bundle"

    @property
    def ref(self) -> str:
        """Its section and title: its number is another one as soon as one before it goes."""
        return f"state#{self.section}:{self.title}"

    @property
    def title(self) -> str:
        """Its title."""
        return str(self.value["title"])


@dataclass(frozen=True, slots=True)
class EvidenceRow:
    """Several events that wait and are about the same."""

    evidence: EventGroup

    part = "backlog"

    @property
    def ref(self) -> str:
        """Its first event: groups are numbered anew each time."""
        return f"state#group:{self.evidence.event_ids[0]}"

    @property
    def title(self) -> str:
        """What they are about."""
        return self.evidence.summary

    @property
    def source(self) -> str:
        """Where they come from, for the filter."""
        return " ".join((self.evidence.label, *self.evidence.source_ids))


@dataclass(frozen=True, slots=True)
class EventRow:
    """An event; `depth` 1 below a group."""

    event: Json
    waits: bool
    depth: int = 0

    @property
    def ref(self) -> str:
        """Its id, as search calls it."""
        return f"state#{self.event['id']}"

    @property
    def title(self) -> str:
        """Its summary."""
        return str(self.event["summary"])

    @property
    def part(self) -> str:
        """Where it stands, for the filter."""
        return "backlog" if self.waits else "history"

    @property
    def source(self) -> str:
        """Where it comes from, for the filter."""
        return f"{'imports' if self.event['kind'] == 'imported_session' else 'local'} {self.event['sourceId']}"


@dataclass(frozen=True, slots=True)
class SourceRow:
    """A source of sessions, as the list of sources has it."""

    record: Json

    part = "sources"

    @property
    def ref(self) -> str:
        """Its id."""
        return f"state#source:{self.title}"

    @property
    def title(self) -> str:
        """Its id."""
        return str(self.record["id"])

    source = title


@dataclass(frozen=True, slots=True)
class CheckpointRow:
    """A checkpoint; `before` is the one that came before it, None for the first."""

    point: CheckpointLine
    before: str | None
    latest: bool

    part = "checkpoints"

    @property
    def ref(self) -> str:
        """Its id."""
        return f"state#{self.point.id}"

    @property
    def title(self) -> str:
        """Its id: what it is about stands in its row."""
        return self.point.id


def rows_of(look: StateLook, status: Status | None) -> Iterator[Any]:
    """Yield all rows: what cannot be read is left out, and the first row says why. None where there is nothing."""
    problem = look.problem
    if (
        problem is not None
        and problem.code == "state.missing"
        and not (look.events or look.sources or look.checkpoints)
    ):
        return
    yield StatusRow(status, problem)
    bundle = look.bundle
    if bundle is not None and look.state is not None:
        yield from _bundle(bundle, look.state["bundleHash"])
    if status is not None:
        yield from _backlog(look, status)
    yield Note(number=2)
    failed = sum(source["lastSyncStatus"] == "failed" for source in look.sources)
    yield Heading("SOURCES", f"{len(look.sources):,}" + (f", {failed} failed" if failed else ""))
    yield from (SourceRow(source) for source in look.sources)
    if not look.sources:
        yield Note("  none yet", 5)
    points = look.checkpoints
    yield Note(number=3)
    yield Heading("CHECKPOINTS", f"{len(points):,}")
    older = [*(point.id for point in points[1:]), None]
    for number, (point, before) in enumerate(zip(points, older, strict=False)):
        yield CheckpointRow(point, before, number == 0)
    waiting = {event["id"] for event in look.backlog}
    recalled = [event for event in reversed(look.events) if event["id"] not in waiting]
    if recalled:
        yield Note(number=4)
        yield Heading("HISTORY", f"{len(recalled):,} events")
        yield from (EventRow(event, waits=False) for event in recalled)


def _bundle(bundle: Json, digest: str) -> Iterator[Any]:
    from memory.state.files.model import KEYS

    run = bundle["currentFocus"]["validationSnapshot"]
    yield Note(number=0)
    yield Heading("BUNDLE", digest[:12])
    for name in TITLES:
        value = bundle[KEYS[name]]
        yield SectionRow(name, value, run)
        if name in LISTS:
            yield from (EntryRow(name, number, one) for number, one in enumerate(value, 1))


def _backlog(look: StateLook, status: Status) -> Iterator[Any]:
    count, groups = len(look.backlog), status.groups
    words = f"{count:,} {'event' if count == 1 else 'events'}" if count else ""
    if groups:
        words += f" in {len(groups):,} {'group' if len(groups) == 1 else 'groups'}"
    yield Note(number=1)
    yield Heading("BACKLOG", words)
    if not groups:
        yield Note("  nothing waits for a recall", 6)
    events = {event["id"]: event for event in look.backlog}
    for group in groups:
        if len(group.event_ids) == 1:
            yield EventRow(events[group.event_ids[0]], waits=True)
            continue
        yield EvidenceRow(group)
        yield from (EventRow(events[name], waits=True, depth=1) for name in reversed(group.event_ids))
