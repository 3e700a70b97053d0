"""The rows of the state pane: status, bundle, backlog, sources, checkpoints, what was recalled."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from memory.state.files.model import KEYS
from widgets.list.rows import Heading, Note
from widgets.panes.titled_row import TitledRow

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
"""The sections that are lists of titled entries, with the noun for one entry."""


@dataclass(frozen=True, slots=True)
class StatusRow:
    """The status of the state; where that is None, `problem` says why."""

    status: Status | None
    problem: MemdeckError | None

    ref = "state#status"
    title = "How it stands"
    part = "status"


@dataclass(frozen=True, slots=True)
class SectionRow(TitledRow):
    """A section of the bundle; `run` is the last result of the validation commands."""

    name: str
    value: Any
    run: Json

    part = "bundle"


@dataclass(frozen=True, slots=True)
class EntryRow(TitledRow):
    """A gotcha or a next step; `number` counts from 1 in its section."""

    section: str
    number: int
    value: Json

    part = "bundle"


@dataclass(frozen=True, slots=True)
class EvidenceRow(TitledRow):
    """Several waiting events about the same subject."""

    evidence: EventGroup

    part = "backlog"

    @property
    def source(self) -> str:
        """Where they come from, for the filter."""
        return " ".join((self.evidence.label, *self.evidence.source_ids))


@dataclass(frozen=True, slots=True)
class EventRow(TitledRow):
    """An event; `depth` is 1 below a group."""

    event: Json
    waits: bool
    depth: int = 0

    @property
    def part(self) -> str:
        """The part of the pane that it belongs to, for the filter."""
        return "backlog" if self.waits else "history"

    @property
    def source(self) -> str:
        """Where it comes from, for the filter."""
        return f"{'imports' if self.event['kind'] == 'imported_session' else 'local'} {self.event['sourceId']}"


@dataclass(frozen=True, slots=True)
class SourceRow(TitledRow):
    """A source of sessions, as the list of sources has it, titled by its id."""

    record: Json

    part = "sources"

    @property
    def source(self) -> str:
        """Its id, for the filter."""
        return self.title


@dataclass(frozen=True, slots=True)
class CheckpointRow(TitledRow):
    """A checkpoint, titled by its id; `before` is the id of the previous one, None for the first."""

    point: CheckpointLine
    before: str | None
    latest: bool

    part = "checkpoints"


def entry_ref(section: str, title: str) -> str:
    """Return the ref of an entry: its number would change as soon as an entry before it is removed."""
    return f"state#{section}:{title}"


def rows_of(look: StateLook, status: Status | None) -> Iterator[Any]:
    """Yield all rows. Unreadable parts are left out, and the first row says why. Yield none if nothing exists yet."""
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
    yield from (SourceRow(f"state#source:{one['id']}", str(one["id"]), one) for one in look.sources)
    if not look.sources:
        yield Note("  none yet", 5)
    points = look.checkpoints
    yield Note(number=3)
    yield Heading("CHECKPOINTS", f"{len(points):,}")
    older = [*(point.id for point in points[1:]), None]
    for number, (point, before) in enumerate(zip(points, older, strict=False)):
        yield CheckpointRow(f"state#{point.id}", point.id, point, before, number == 0)
    waiting = {event["id"] for event in look.backlog}
    recalled = [event for event in reversed(look.events) if event["id"] not in waiting]
    if recalled:
        yield Note(number=4)
        yield Heading("HISTORY", f"{len(recalled):,} events")
        yield from (_event_row(event, waits=False) for event in recalled)


def _bundle(bundle: Json, digest: str) -> Iterator[Any]:
    run = bundle["currentFocus"]["validationSnapshot"]
    yield Note(number=0)
    yield Heading("BUNDLE", digest[:12])
    for name in TITLES:
        value = bundle[KEYS[name]]
        yield SectionRow(f"state#{name}", TITLES[name], name, value, run)
        if name in LISTS:
            for number, one in enumerate(value, 1):
                title = str(one["title"])
                yield EntryRow(entry_ref(name, title), title, name, number, one)


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
            yield _event_row(events[group.event_ids[0]], waits=True)
            continue
        # Named by its first event, because groups are numbered again each time.
        yield EvidenceRow(f"state#group:{group.event_ids[0]}", group.summary, group)
        yield from (_event_row(events[name], waits=True, depth=1) for name in reversed(group.event_ids))
    if (later := count - sum(len(group.event_ids) for group in groups)) and groups:
        yield Note(f"  {later:,} more wait for the next recall", 7)


def _event_row(event: Json, *, waits: bool, depth: int = 0) -> EventRow:
    return EventRow(f"state#{event['id']}", str(event["summary"]), event, waits, depth)
