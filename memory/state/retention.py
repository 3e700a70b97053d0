"""Retention: recalled old events and old checkpoints are moved to the archive, and its batches expire."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import islice
from typing import TYPE_CHECKING

from memory.errors import MemdeckError
from memory.storage import fsio

from .files.archive import MOST_CHECKPOINTS, expired, files_of, note_expired, put_batch
from .files.model import ARCHIVE, EVENTS, Json, plural, stamp
from .files.reading import StateFiles
from .files.store import StateStore, StateWriting

if TYPE_CHECKING:
    from memory.storage import Change


@dataclass(frozen=True, slots=True)
class PruneCandidates:
    """What the next prune removes: events, checkpoints by id (the oldest first), and batches that expired.

    `skipped` says why nothing is removed at all, `warnings` what could not be read.
    """

    events: tuple[Json, ...] = ()
    checkpoints: tuple[str, ...] = ()
    batches: tuple[str, ...] = ()
    skipped: str | None = None
    warnings: tuple[str, ...] = ()

    @property
    def any(self) -> bool:
        """Whether there is anything to do."""
        return bool(self.events or self.checkpoints or self.batches)

    def json(self) -> Json:
        """Return it for programs."""
        return {
            "events": [event["id"] for event in self.events],
            "checkpoints": list(self.checkpoints),
            "expiredBatches": list(self.batches),
            "skipped": self.skipped,
            "warnings": list(self.warnings),
        }

    def text(self) -> str:
        """Return a short text about it."""
        if self.skipped is not None:
            return self.skipped
        if not self.any:
            return "nothing is old enough"
        moved = {"event": self.events, "checkpoint": self.checkpoints}
        said = [plural(len(some), noun) for noun, some in moved.items() if some]
        words = [f"{' and '.join(said)} to the archive"] if said else []
        if self.batches:
            words.append(f"{len(self.batches):,} expired {'batch' if len(self.batches) == 1 else 'batches'} out of it")
        return ", ".join(words)


def candidates(memory: StateFiles, now: datetime) -> PruneCandidates:
    """Return what a prune at an aware time removes.

    Events as old as `retention.history.maxAgeDays` that were recalled; checkpoints as old as
    `retention.checkpoints.maxAgeDays`, except the latest and the `keepRecent` newest (0: except the latest); batches as
    old as `retention.archive.expireAfterDays`. Of checkpoints and batches one prune takes as many as a process can have
    open; the next one takes the others.
    """
    retention = memory.config["retention"]
    if not retention["enabled"]:
        return PruneCandidates(skipped="retention is off (retention.enabled)")
    before = stamp(now - timedelta(days=retention["history"]["maxAgeDays"]))
    events = tuple(event for event in memory.events if event["createdAt"] <= before and memory.is_recalled(event))
    warnings: list[str] = []
    checkpoints = tuple(islice(_old_checkpoints(memory, now, retention["checkpoints"], warnings), MOST_CHECKPOINTS))
    batches = expired(memory, now, retention["archive"]["expireAfterDays"], warnings)
    return PruneCandidates(events, checkpoints, tuple(batches), None, tuple(warnings))


def _old_checkpoints(memory: StateFiles, now: datetime, settings: Json, warnings: list[str]) -> Iterator[str]:
    latest = memory.state["maintenance"]["latestCheckpointId"]
    before = stamp(now - timedelta(days=settings["maxAgeDays"]))
    for name in memory.checkpoint_ids[: -max(settings["keepRecent"], 1)]:
        try:
            if memory.checkpoint(name)["createdAt"] > before:
                return  # The following ones are newer: ids grow with the time.
            if name != latest:
                yield name
        except MemdeckError as error:
            warnings.append(f"{error.message}; it stays")


@dataclass(frozen=True, slots=True)
class Pruned:
    """The result of a prune or of its dry run: what was removed, the new batches, and the changes."""

    taken: PruneCandidates
    archived: tuple[str, ...] = ()
    changes: tuple[Change, ...] = ()

    def json(self) -> Json:
        """Return it for programs."""
        return {
            "attempted": self.taken.skipped is None,
            "archivedEventCount": len(self.taken.events),
            "archivedCheckpointCount": len(self.taken.checkpoints),
            "expiredArchiveBatchCount": len(self.taken.batches),
            "archiveBatches": list(self.archived),
            "skippedReason": self.taken.skipped,
            **self.taken.json(),
            "changes": [change.id for change in self.changes],
        }


def prune(store: StateStore, *, actor: str, now: datetime, dry_run: bool = False) -> Pruned:
    """Move what is old into the archive and remove expired batches, in one transaction.

    The archive is written in the same change as the active files: nothing is ever in neither. `memdeck undo` restores
    it.
    """
    taken = candidates(store.memory(), now)
    if dry_run or not taken.any:
        return Pruned(taken)
    done = store.change("state.prune", _prune, actor=actor, now=now)
    for one in done.taken.batches:
        folder = f"{ARCHIVE}/{one}"
        fsio.remove_folders([folder, f"{folder}/damaged", f"{folder}/checkpoints"], store.root)
    return done


def _prune(writing: StateWriting) -> Pruned:
    memory = writing.memory
    found = candidates(memory, writing.now)
    if not found.any:
        return Pruned(found)
    archived: tuple[str, ...] = ()
    if found.events or found.checkpoints:
        name = put_batch(writing, "prune", memory.config, events=found.events, checkpoints=found.checkpoints)
        archived = (f"{ARCHIVE}/{name}",)
    if found.events:
        _drop_events(writing, found.events)
    done = replace(found, batches=_expire(writing, found))
    return Pruned(done, archived, (writing.commit(f"pruned {done.text()}"),))


def _expire(writing: StateWriting, found: PruneCandidates) -> tuple[str, ...]:
    """Plan the removal of as many files of batches as fit in one transaction; return the batches that are then gone."""
    room = 2 * (MOST_CHECKPOINTS - len(found.checkpoints))
    gone = []
    for batch in found.batches:
        # The manifest is removed last: the rest of a very large batch still counts as expired.
        files = sorted(files_of(writing.memory, batch), key=lambda path: path.endswith("/manifest.json"))
        for path in files[: max(room, 0)]:
            writing.take_away(path)
        gone += [batch] if len(files) <= room else []
        room -= len(files)
    note_expired(writing, gone)
    return tuple(gone)


def _drop_events(writing: StateWriting, gone: tuple[Json, ...]) -> None:
    """Plan events.jsonl without some events, every other line unchanged, and the new count."""
    ids = {event["id"] for event in gone}
    found = writing.memory.found_events
    drop = {line for event, line in zip(found.items, found.lines, strict=True) if event["id"] in ids}
    lines = writing.transaction.read(EVENTS).data.split(b"\n")
    writing.put(EVENTS, b"\n".join(line for number, line in enumerate(lines, 1) if number not in drop))
    state = writing.memory.state
    count = {"historyEventCount": len(found.items) - len(drop)}
    writing.put_state({**state, "maintenance": {**state["maintenance"], **count}})
