"""The status of the project state, and the one thing to do next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from memory.errors import MemdeckError

from .diff import SectionDiff, diff_bundles
from .files.model import SCOPES, Json, plural, scope_of
from .files.reading import StateFiles
from .git import GitWork, recent_work
from .recall.grouping import EventGroup, group_events
from .recall.recall import SHOWN_GROUPS, group_json, next_events
from .retention import PruneCandidates, candidates


class Next(NamedTuple):
    """The next thing to do: the command (None: nothing) and why."""

    command: str | None
    why: str


@dataclass(frozen=True, slots=True)
class Status:
    """The status: the events by scope, all and unrecalled, their groups, the sources, the drift against a checkpoint.

    `drift_why` says why that checkpoint cannot be read. The candidates of the next prune are included. `work` is what
    git says of the branch and the last commits now, None where that was not asked for or is not known.
    """

    state: Json
    totals: dict[str, int]
    unrecalled: dict[str, int]
    groups: tuple[EventGroup, ...]
    sources: list[Json]
    checkpoints: int
    against: str | None
    drift: tuple[SectionDiff, ...]
    drift_why: str
    retention: PruneCandidates
    retention_enabled: bool
    batches: int
    next: Next
    work: GitWork | None

    def json(self) -> Json:
        """Return it for programs."""
        return {
            "schemaVersion": self.state["schemaVersion"],
            "bundleHash": self.state["bundleHash"],
            "generatedAt": self.state["generatedAt"],
            "latestCheckpointId": self.state["maintenance"]["latestCheckpointId"],
            "checkpoints": self.checkpoints,
            "events": self.totals,
            "unrecalled": self.unrecalled,
            "groups": [group_json(group) for group in self.groups[:SHOWN_GROUPS]],
            "groupCount": len(self.groups),
            "sources": self.sources,
            "drift": {
                "checkpoint": self.against,
                "changedSections": [one.section for one in self.drift],
                "problem": self.drift_why or None,
            },
            "retention": {
                "enabled": self.retention_enabled,
                "events": len(self.retention.events),
                "checkpoints": len(self.retention.checkpoints),
                "expired": len(self.retention.batches),
                "batches": self.batches,
            },
            "next": self.next._asdict(),
            "work": None if self.work is None else {"branch": self.work.branch, "commits": self.work.subjects},
        }


def status_of(memory: StateFiles, now: datetime, *, checkpoint: str | None = None, work: bool = False) -> Status:
    """Return the status at an aware time; drift is measured against the latest checkpoint, or the one named.

    With `work` git is asked, too.

    Raises the errors of `StateFiles` for files without which there is no status.
    """
    state = memory.state
    unrecalled = memory.unrecalled()
    against = checkpoint or state["maintenance"]["latestCheckpointId"]
    drift: tuple[SectionDiff, ...] = ()
    why = "" if against is not None else "there is no checkpoint"
    if against is not None:
        try:
            drift = tuple(
                one for one in diff_bundles(memory.checkpoint(against)["bundle"], state["bundle"]) if one.changed
            )
        except MemdeckError as error:
            if checkpoint is not None:
                raise
            why = error.message
    taken = candidates(memory, now)
    threshold = memory.config["recall"]["backlogWarnThreshold"]
    following = _next(len(unrecalled), threshold, memory.sources, taken, drift, checkpoint is None, why)
    return Status(
        state,
        _by_scope(memory.events),
        _by_scope(unrecalled),
        tuple(group_events(next_events(memory)[0])),
        memory.sources,
        len(memory.checkpoint_ids),
        against,
        drift,
        why,
        taken,
        memory.config["retention"]["enabled"],
        len(memory.batches),
        following,
        recent_work(memory.root) if work else None,
    )


def _by_scope(events: Sequence[Json]) -> dict[str, int]:
    return {scope: sum(scope in ("all", scope_of(event)) for event in events) for scope in SCOPES}


def _next(
    backlog: int,
    threshold: int,
    sources: list[Json],
    taken: PruneCandidates,
    drift: tuple[SectionDiff, ...],
    latest: bool,
    why: str,
) -> Next:
    """Return the first that applies: drift error, large backlog, failed source, any backlog, retention, drift."""
    events = plural(backlog, "event")
    if why:
        return Next("memdeck state validate --repair", why)
    if backlog > threshold:
        return Next("memdeck state recall", f"{events} wait, more than {threshold}")
    failed = [source["id"] for source in sources if source["lastSyncStatus"] == "failed"]
    if failed:
        return Next("memdeck state sync --all", f"the last sync of {', '.join(failed)} failed")
    if backlog:
        return Next("memdeck state recall", f"{events} {'waits' if backlog == 1 else 'wait'}")
    if taken.any:
        return Next("memdeck state prune", taken.text())
    if drift and latest:
        sections = ", ".join(one.section for one in drift)
        return Next("memdeck state update", f"the state is not its latest checkpoint: {sections}")
    if not sources:
        return Next(None, "nothing waits; `memdeck state add` names where sessions are imported from")
    return Next(None, "nothing waits")
