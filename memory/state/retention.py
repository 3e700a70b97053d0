"""Retention: recalled old events and old checkpoints are moved to the archive, and its batches expire."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from memory.errors import MemdeckError
from memory.storage import fsio

from .files.archive import MOST_CHECKPOINTS, expired, files_of, note_expired, put_batch
from .files.model import ARCHIVE, EVENTS, Json, moment, plural
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
    def count(self) -> int:
        """How many events, checkpoints and batches there are."""
        return len(self.events) + len(self.checkpoints) + len(self.batches)

    @property
    def any(self) -> bool:
        """Whether there is anything to do."""
        return self.count > 0

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
    old as `retention.archive.expireAfterDays`.
    """
    retention = memory.config["retention"]
    if not retention["enabled"]:
        return PruneCandidates(skipped="retention is off (retention.enabled)")
    before = now - timedelta(days=retention["history"]["maxAgeDays"])
    events = tuple(
        event
        for event in memory.events
        if (created := moment(event["createdAt"])) is not None and created <= before and memory.is_recalled(event)
    )
    checkpoints, warnings = _old_checkpoints(memory, now, retention["checkpoints"])
    batches, unread = expired(memory, now, retention["archive"]["expireAfterDays"])
    return PruneCandidates(events, checkpoints, tuple(batches), None, (*warnings, *unread))


def _old_checkpoints(memory: StateFiles, now: datetime, settings: Json) -> tuple[tuple[str, ...], list[str]]:
    ids = memory.checkpoint_ids
    latest = memory.state["maintenance"]["latestCheckpointId"]
    recent = set(ids[max(len(ids) - max(settings["keepRecent"], 1), 0) :])
    before = now - timedelta(days=settings["maxAgeDays"])
    old, warnings = [], []
    for name in ids:
        if name == latest or name in recent:
            continue
        try:
            created = moment(memory.checkpoint(name)["createdAt"])
        except MemdeckError as error:
            warnings.append(f"{error.message}; it stays")
            continue
        if created is not None and created > before:
            break  # The following ones are newer: ids grow with the time.
        old.append(name)
    return tuple(old), warnings


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
    """Move what is old into the archive and remove expired batches, each batch in one transaction.

    The archive is written in the same change as the active files: nothing is ever in neither. `memdeck undo` restores a
    batch.
    """
    taken = candidates(store.memory(), now)
    if dry_run or not taken.any:
        return Pruned(taken)
    archived: list[str] = []
    changes: list[Change] = []
    done = PruneCandidates(warnings=taken.warnings)

    def build(writing: StateWriting) -> tuple[PruneCandidates, str | None, Change | None]:
        return _prune(writing, frozenset(path.rpartition("/")[2] for path in archived))

    # What becomes old meanwhile is left to the next prune.
    left = taken.count
    while left > 0:
        part, batch, change = store.change("state.prune", build, actor=actor, now=now)
        if change is None:
            break
        changes.append(change)
        left -= part.count
        for one in part.batches:
            folder = f"{ARCHIVE}/{one}"
            fsio.remove_folders([folder, f"{folder}/damaged", f"{folder}/checkpoints"], store.root)
        archived += [batch] if batch is not None else []
        done = PruneCandidates(
            (*done.events, *part.events),
            (*done.checkpoints, *part.checkpoints),
            (*done.batches, *part.batches),
            None,
            done.warnings,
        )
    return Pruned(done, tuple(archived), tuple(changes))


def _prune(writing: StateWriting, mine: frozenset[str]) -> tuple[PruneCandidates, str | None, Change | None]:
    """Do one batch of a prune; batches that this prune wrote (`mine`) do not expire in it."""
    memory = writing.memory
    found = candidates(memory, writing.now)
    if expired := [one for one in found.batches if one not in mine]:
        return (
            PruneCandidates(batches=_expire(writing, expired)),
            None,
            writing.commit("removed what expired in the archive"),
        )
    taken = PruneCandidates(found.events, found.checkpoints[:MOST_CHECKPOINTS])
    if not taken.any:
        return taken, None, None
    batch = put_batch(writing, "prune", memory.config, events=taken.events, checkpoints=taken.checkpoints)
    if taken.events:
        _drop_events(writing, taken.events)
    return taken, f"{ARCHIVE}/{batch}", writing.commit(f"pruned {taken.text()}")


def _expire(writing: StateWriting, batches: list[str]) -> tuple[str, ...]:
    """Plan the removal of as many files of batches as fit in one transaction; return the batches that are then gone."""
    room, gone = 2 * MOST_CHECKPOINTS, []
    for batch in batches:
        # The manifest is removed last: the rest of a very large batch still counts as expired.
        files = sorted(files_of(writing.memory, batch), key=lambda path: path.endswith("/manifest.json"))
        for path in files[:room]:
            writing.take_away(path)
        if len(files) <= room:
            gone.append(batch)
        room -= len(files)
        if room <= 0:
            break
    note_expired(writing, gone)
    return tuple(gone)


def _drop_events(writing: StateWriting, gone: tuple[Json, ...]) -> None:
    """Plan events.jsonl without some events, every other line unchanged, and the new count."""
    ids = {event["id"] for event in gone}
    found = writing.memory.found_events
    drop = {line for event, line in zip(found.items, found.lines, strict=True) if event["id"] in ids}
    lines = writing.transaction.read(EVENTS).data.split(b"\n")
    kept = [line for number, line in enumerate(lines, 1) if number not in drop]
    writing.put(EVENTS, b"\n".join(kept))
    state = writing.memory.state
    left = len(found.items) - len(drop)
    writing.put_state({**state, "maintenance": {**state["maintenance"], "historyEventCount": left}})
