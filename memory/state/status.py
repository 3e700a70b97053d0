"""The status of the project state, the one thing to do next, and a snapshot of all of it for panes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any

from memory.base.git import recent_work
from memory.base.safe_text import plural
from memory.errors import MemdeckError

from .bundles import diff_bundles
from .files.model import SCOPES, Json, scope_of
from .files.reading import StateFiles
from .recall.recall import groups_of, next_events
from .retention import candidates


def status_of(memory: StateFiles, now: datetime, *, work: bool = False) -> Json:
    """Return the status at an aware time, in the form for programs: the events by scope, all and unrecalled, their
    groups, the sources, what differs from the latest checkpoint, what the next prune removes, and the one thing to do
    next.

    `drift.problem` says why that checkpoint cannot be read. `work` is what git says of the branch and the last commits
    now, None where that was not asked for or is not known. Raises the errors of `StateFiles` for files without which
    there is no status.
    """
    state, latest = memory.state, memory.state["maintenance"]["latestCheckpointId"]
    removed, changed, problem = candidates(memory, now), [], None if latest else "there is no checkpoint"
    try:
        changed = [one["section"] for one in (diff_of(memory, latest, STATE_NAME) if latest else ()) if one["changed"]]
    except MemdeckError as error:
        problem = error.message
    commits = recent_work(memory.root) if work else None
    status = {
        **{key: state[key] for key in ("schemaVersion", "bundleHash", "generatedAt")},
        "latestCheckpointId": latest,
        "lastRecalledAt": state["maintenance"]["lastRecalledAt"],
        "checkpoints": len(memory.checkpoint_ids),
        "events": _by_scope(memory.events),
        "unrecalled": _by_scope(memory.unrecalled()),
        **groups_of(next_events(memory)[0]),
        "sources": memory.sources,
        "drift": {"checkpoint": latest, "changedSections": changed, "problem": problem},
        "retention": {
            "enabled": memory.config["retention.enabled"],
            "events": len(removed.events),
            "checkpoints": len(removed.checkpoints),
            "expired": len(removed.batches),
            "batches": len(memory.batches),
            "text": removed.text(),
        },
        "work": None if commits is None else {"branch": commits.branch, "commits": commits.subjects},
    }
    threshold = memory.config["recall.backlogWarnThreshold"]
    command, why = _next(status, threshold, removed.any, changed)
    return {**status, "next": {"command": command, "why": why}}


def _next(status: Json, threshold: int, removes: bool, changed: list[str]) -> tuple[str | None, str]:
    """Return the first that applies: drift error, large backlog, failed source, any backlog, retention, drift."""
    backlog, problem = status["unrecalled"]["all"], status["drift"]["problem"]
    failed = ", ".join(source["id"] for source in status["sources"] if source["lastSyncStatus"] == "failed")
    events = f"{plural(backlog, 'event')} to recall"
    told = (
        (problem, "validate --repair", problem),
        (backlog > threshold, "recall", f"{events}, more than {threshold}"),
        (failed, "sync --all", f"the last sync of {failed} failed"),
        (backlog, "recall", events),
        (removes, "prune", status["retention"]["text"]),
        (changed, "update", f"the state is not its latest checkpoint: {', '.join(changed)}"),
    )
    for applies, command, words in told:
        if applies:
            return f"memdeck state {command}", words
    return None, "nothing is pending" + ("" if status["sources"] else "; `memdeck state add` names where sessions are")


def _by_scope(events: Sequence[Json]) -> dict[str, int]:
    counts = Counter(map(scope_of, events))
    return {"all": len(events), **{scope: counts[scope] for scope in SCOPES[1:]}}


STATE_NAME = "state"
"""The name that selects the bundle of the state instead of a checkpoint."""


def diff_of(memory: StateFiles, before: str, after: str) -> list[Json]:
    """Return the diff of two checkpoints, section by section; NotFoundError `state.checkpoint.missing`."""
    bundles = [memory.bundle if one == STATE_NAME else memory.checkpoint(one)["bundle"] for one in (before, after)]
    return diff_bundles(*bundles)


def checkpoint_lines(memory: StateFiles) -> list[Json]:
    """Return the checkpoints for a list, without their bundles, the newest first; `problem` says why one is unread."""
    lines = []
    for name in reversed(memory.checkpoint_ids):
        try:
            one = memory.checkpoint(name)
        except MemdeckError as error:
            one = {"createdAt": "", "summary": error.message, "problem": error.message}
        lines.append({"id": name, **{key: one.get(key) for key in ("createdAt", "eventId", "summary", "problem")}})
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


def _read(read: Callable[[], Any], other: Any) -> Any:
    with suppress(MemdeckError):
        return read()
    return other
