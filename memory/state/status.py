"""The status of the project state, the one thing to do next, and a snapshot of all of it for panes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from datetime import datetime
from functools import cached_property
from typing import NamedTuple, TypeVar

from memory.errors import MemdeckError

from .diff import SectionDiff, diff_bundles
from .files.model import SCOPES, Json, plural, scope_of
from .files.reading import StateFiles
from .git import GitWork, recent_work
from .recall.grouping import group_events
from .recall.recall import SHOWN_GROUPS, next_events
from .retention import candidates

T = TypeVar("T")


class Next(NamedTuple):
    """The next thing to do: the command (None: nothing) and why."""

    command: str | None
    why: str


class Status:
    """The status at an aware time: the events by scope, all and unrecalled, their groups, the sources, what differs
    from the latest checkpoint or the one named, and what the next prune removes.

    `drift_why` says why that checkpoint cannot be read. `work` is what git says of the branch and the last commits now,
    None where that was not asked for or is not known. Raises the errors of `StateFiles` for files without which there
    is no status.
    """

    def __init__(self, memory: StateFiles, now: datetime, *, checkpoint: str | None = None, work: bool = False) -> None:
        self.state, self.sources = memory.state, memory.sources
        self.totals, self.unrecalled = _by_scope(memory.events), _by_scope(memory.unrecalled())
        self.groups = group_events(next_events(memory)[0])
        self.checkpoints, self.batches = len(memory.checkpoint_ids), len(memory.batches)
        self.retention, self._config = candidates(memory, now), memory.config
        self.against: str = checkpoint or self.state["maintenance"]["latestCheckpointId"] or ""
        self.drift: tuple[SectionDiff, ...] = ()
        self.drift_why = "" if self.against else "there is no checkpoint"
        try:
            found = diff_of(memory, self.against, STATE_NAME) if self.against else ()
            self.drift = tuple(one for one in found if one.changed)
        except MemdeckError as error:
            if checkpoint is not None:
                raise
            self.drift_why = error.message
        self.next = self._next(() if checkpoint else self.drift)
        self.work: GitWork | None = recent_work(memory.root) if work else None

    def _next(self, drift: Iterable[SectionDiff]) -> Next:
        """Return the first that applies: drift error, large backlog, failed source, any backlog, retention, drift."""
        backlog, threshold = self.unrecalled["all"], self._config["recall"]["backlogWarnThreshold"]
        failed = ", ".join(source["id"] for source in self.sources if source["lastSyncStatus"] == "failed")
        sections = ", ".join(one.section for one in drift)
        events = f"{plural(backlog, 'event')} {'waits' if backlog == 1 else 'wait'}"
        told = (
            (self.drift_why, "validate --repair", self.drift_why),
            (backlog > threshold, "recall", f"{events}, more than {threshold}"),
            (failed, "sync --all", f"the last sync of {failed} failed"),
            (backlog, "recall", events),
            (self.retention.any, "prune", self.retention.text()),
            (sections, "update", f"the state is not its latest checkpoint: {sections}"),
        )
        for applies, command, words in told:
            if applies:
                return Next(f"memdeck state {command}", words)
        more = "" if self.sources else "; `memdeck state add` names where sessions are imported from"
        return Next(None, f"nothing waits{more}")

    def json(self) -> Json:
        """Return it for programs."""
        removed = self.retention
        drift = {"checkpoint": self.against or None, "changedSections": [one.section for one in self.drift]}
        return {
            **{key: self.state[key] for key in ("schemaVersion", "bundleHash", "generatedAt")},
            "latestCheckpointId": self.state["maintenance"]["latestCheckpointId"],
            "checkpoints": self.checkpoints,
            "events": self.totals,
            "unrecalled": self.unrecalled,
            "groups": [group.json() for group in self.groups[:SHOWN_GROUPS]],
            "groupCount": len(self.groups),
            "sources": self.sources,
            "drift": {**drift, "problem": self.drift_why or None},
            "retention": {
                "enabled": self._config["retention"]["enabled"],
                "events": len(removed.events),
                "checkpoints": len(removed.checkpoints),
                "expired": len(removed.batches),
                "batches": self.batches,
            },
            "next": self.next._asdict(),
            "work": None if self.work is None else {"branch": self.work.branch, "commits": self.work.subjects},
        }


def _by_scope(events: Sequence[Json]) -> dict[str, int]:
    counts = Counter(map(scope_of, events))
    return {"all": len(events), **{scope: counts[scope] for scope in SCOPES[1:]}}


STATE_NAME = "state"
"""The name that selects the bundle of the state instead of a checkpoint."""


def diff_of(memory: StateFiles, before: str, after: str) -> tuple[SectionDiff, ...]:
    """Return the diff of two checkpoints, in the order of the sections; NotFoundError `state.checkpoint.missing`."""
    bundles = [memory.bundle if one == STATE_NAME else memory.checkpoint(one)["bundle"] for one in (before, after)]
    return diff_bundles(*bundles)


class CheckpointLine(NamedTuple):
    """A checkpoint in a list, without its bundle; `why` says why it cannot be read."""

    id: str
    created: str = ""
    event: str | None = None
    summary: str = ""
    why: str = ""

    def json(self) -> Json:
        """Return it for programs."""
        names = {"createdAt": self.created, "eventId": self.event, "summary": self.summary}
        return {"id": self.id, **names, "problem": self.why or None}


def checkpoint_lines(memory: StateFiles) -> Sequence[CheckpointLine]:
    """Return the checkpoints for a list, the newest first."""
    lines = []
    for name in reversed(memory.checkpoint_ids):
        try:
            one = memory.checkpoint(name)
            lines.append(CheckpointLine(name, one["createdAt"], one["eventId"], one["summary"]))
        except MemdeckError as error:
            lines.append(CheckpointLine(name, why=error.message))
    return lines


class StateLook:
    """A snapshot for panes. The error of what cannot be read is in `problem`."""

    def __init__(self, memory: StateFiles, key: object) -> None:
        """`key` distinguishes snapshots of different file versions."""
        self.memory = memory
        self.key = key
        self.problem: MemdeckError | None = None
        """Why the state or its history cannot be read, None where they can."""
        try:
            _ = memory.state, memory.events, memory.config, memory.sources
        except MemdeckError as error:
            self.problem = error
        self.bundle: Json | None = _read(lambda: memory.bundle, None)
        """The bundle, None where it cannot be read."""
        self.events: Sequence[Json] = _read(lambda: memory.found_events.items, ())
        """The events that can be read, the oldest first."""
        self.sources: list[Json] = _read(lambda: memory.sources, [])
        self.backlog: Sequence[Json] = () if self.problem else memory.unrecalled()
        """The events that were not recalled yet."""

    @cached_property
    def checkpoints(self) -> Sequence[CheckpointLine]:
        """The checkpoints, the newest first."""
        return checkpoint_lines(self.memory)


def _read(read: Callable[[], T], other: T) -> T:
    with suppress(MemdeckError):
        return read()
    return other
