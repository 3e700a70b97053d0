"""Retention: recalled old events and old checkpoints are moved to the archive, and its batches expire.

A batch of the archive has a manifest, events, and checkpoints or whole files.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from itertools import count
from typing import TYPE_CHECKING, NamedTuple

from memory.base.safe_text import plural
from memory.errors import MemdeckError
from memory.storage import fsio

from .files.model import ARCHIVE, EVENTS, EXPIRED, Json, canonical_bytes, line_bytes, stamp
from .files.reading import StateFiles, checkpoint_path, read_events
from .files.schema import DEFAULTS, SHAPES
from .files.store import StateStore, StateWriting

if TYPE_CHECKING:
    from memory.storage import Change

Files = Sequence[tuple[str, bytes]]
"""Whole files of a batch, each by its name in it."""
_FOLDERS = ("", "damaged/", "checkpoints/")
"""The folders of a batch that hold files."""


class Pruned(NamedTuple):
    """The things that a prune removes: events, checkpoints by id (the oldest first), and expired batches.

    `skipped` says why nothing is removed at all. After a prune `archived` is the new batch, `changes` what it changed.
    """

    events: tuple[Json, ...] = ()
    checkpoints: tuple[str, ...] = ()
    batches: tuple[str, ...] = ()
    skipped: str | None = None
    archived: tuple[str, ...] = ()
    changes: tuple[Change, ...] = ()

    @property
    def any(self) -> bool:
        """Whether there is anything to do."""
        return bool(self.events or self.checkpoints or self.batches)

    def json(self) -> Json:
        """Return it for programs."""
        return {
            "archiveBatches": list(self.archived),
            "skippedReason": self.skipped,
            "events": [event["id"] for event in self.events],
            "checkpoints": list(self.checkpoints),
            "expiredBatches": list(self.batches),
            "changes": [change.id for change in self.changes],
        }

    def text(self, planned: bool = False) -> str:
        """Return what was moved and deleted, with `planned` what would be."""
        moved = {"event": self.events, "checkpoint": self.checkpoints}
        said = " and ".join(plural(len(some), noun) for noun, some in moved.items() if some)
        words = [f"{'move' if planned else 'moved'} {said} to the archive"] if said else []
        if self.batches:
            expired = plural(len(self.batches), "expired batch")
            words.append(f"{'delete' if planned else 'deleted'} {expired} there")
        would = "would " if planned and words else ""
        return self.skipped or f"{would}{', '.join(words) or 'nothing is old enough to prune'}"


def candidates(memory: StateFiles, now: datetime) -> Pruned:
    """Return what a prune at an aware time removes.

    Events as old as `retention.history.maxAgeDays` that were recalled; checkpoints as old as
    `retention.checkpoints.maxAgeDays`, except the latest and the `keepRecent` newest (0: except the latest); batches as
    old as `retention.archive.expireAfterDays`.
    """
    settings = memory.config
    if not settings["retention.enabled"]:
        return Pruned(skipped="retention is off (retention.enabled)")
    before = stamp(now - timedelta(days=settings["retention.history.maxAgeDays"]))
    events = tuple(event for event in memory.events if event["createdAt"] <= before and memory.is_recalled(event))

    def old(things: Iterable[str], read: Callable[[str], Json], days: int) -> Iterator[str]:
        before = stamp(now - timedelta(days=days))
        for one in things:
            # One that cannot be read has no age, and stays: the checks name it.
            with suppress(MemdeckError):
                if read(one)["createdAt"] <= before:
                    yield one

    keep, latest = settings["retention.checkpoints.keepRecent"], memory.state["maintenance"]["latestCheckpointId"]
    ids = [one for one in memory.checkpoint_ids[: -max(keep, 1)] if one != latest]
    checkpoints = tuple(old(ids, memory.checkpoint, settings["retention.checkpoints.maxAgeDays"]))
    batches = tuple(old(memory.batches, memory.manifest, settings["retention.archive.expireAfterDays"]))
    return Pruned(events, checkpoints, batches)


def prune(store: StateStore, *, actor: str, now: datetime, dry_run: bool = False) -> Pruned:
    """Move old events and checkpoints into the archive and remove expired batches, in one transaction.

    The archive is written in the same change as the active files: nothing is ever in neither. `memdeck undo` restores
    it.
    """
    found = candidates(store.memory(), now)
    if dry_run or not found.any:
        return found
    done = store.change("state.prune", _prune, actor=actor, now=now)
    for one in done.batches:
        fsio.remove_folders([f"{ARCHIVE}/{one}/{part}".rstrip("/") for part in _FOLDERS], store.root)
    return done


def _prune(writing: StateWriting) -> Pruned:
    memory = writing.memory
    found = candidates(memory, writing.now)
    archived: tuple[str, ...] = ()
    _remove_batches(writing, found.batches)
    if found.events or found.checkpoints:
        name = put_batch(writing, "prune", events=found.events, checkpoints=found.checkpoints)
        archived = (f"{ARCHIVE}/{name}",)
    if found.events:
        _drop_events(writing, found.events)
    return found._replace(archived=archived, changes=(writing.commit(f"pruned {found.text()}"),))


def _drop_events(writing: StateWriting, gone: tuple[Json, ...]) -> None:
    """Plan events.jsonl without some events, every other line unchanged, and the new count."""
    ids = {event["id"] for event in gone}
    found = writing.memory.found_events
    drop = {line for event, line in zip(found.items, found.lines, strict=True) if event["id"] in ids}
    lines = writing.transaction.read(EVENTS).data.split(b"\n")
    writing.put(EVENTS, b"\n".join(line for number, line in enumerate(lines, 1) if number not in drop))
    writing.put_maintenance(historyEventCount=len(found.items) - len(drop))


# -- batches of the archive -----------------------------------------------------------------------------------------


def put_batch(
    writing: StateWriting, kind: str, *, events: Sequence[Json] = (), checkpoints: Sequence[str] = (), files: Files = ()
) -> str:
    """Plan a batch of the archive and return its name.

    It holds a manifest, events, the checkpoints with the given ids, and whole files by their name in the batch. The
    checkpoints leave the active folder in the same change.
    """
    first = f"{kind}-{re.sub(r'[^0-9TZ]', '', stamp(writing.now))}"
    names = (first if number == 1 else f"{first}-{number}" for number in count(1))
    taken = writing.store.names(ARCHIVE)
    name = next(name for name in names if name not in taken)
    # The settings may be what a repair mends.
    config = writing.memory.config if kind == "prune" else DEFAULTS
    manifest = {
        "createdAt": stamp(writing.now),
        "archivedEventIds": [event["id"] for event in events],
        "archivedCheckpointIds": list(checkpoints),
        "historyMaxAgeDays": config["retention.history.maxAgeDays"],
        "checkpointMaxAgeDays": config["retention.checkpoints.maxAgeDays"],
        "keepRecent": config["retention.checkpoints.keepRecent"],
        "expireAfterDays": config["retention.archive.expireAfterDays"],
    }
    whole = {"events.jsonl": b"".join(map(line_bytes, events)), **dict(files)}
    whole |= {f"checkpoints/{one}.json": writing.transaction.read(checkpoint_path(one)).data for one in checkpoints}
    for path, data in {**whole, "manifest.json": canonical_bytes(manifest)}.items():
        writing.put(f"{ARCHIVE}/{name}/{path}", data)
    for one in checkpoints:
        writing.put(checkpoint_path(one), None)
    return name


Key = tuple[str, str | None, str]
"""Identifies an import: the source, the item and the hash of its text."""


def imports_of(memory: StateFiles) -> set[Key]:
    """Return the imports in the history, the archive, and what expired there, so that none is imported twice."""
    found = set(map(import_key, (*memory.events, *memory.expired["imports"])))
    for batch in memory.batches:
        with suppress(MemdeckError):
            found |= {import_key(one) for one in read_events(memory.read(f"{ARCHIVE}/{batch}/events.jsonl").data).items}
    return found


def import_key(event: Json) -> Key:
    """Return what identifies the import of an event."""
    return event["sourceId"], event["externalItemId"], event["contentHash"]


def _remove_batches(writing: StateWriting, batches: Iterable[str]) -> None:
    """Plan that batches are removed, and that the ids of their events and their imports are noted."""
    memory, noted = writing.memory, {key: list(known) for key, known in writing.memory.expired.items()}
    for batch in batches:
        folder = f"{ARCHIVE}/{batch}"
        noted["events"] += memory.manifest(batch)["archivedEventIds"]
        events = read_events(memory.read(f"{folder}/events.jsonl").data).items
        imports = (event for event in events if event["kind"] == "imported_session")
        noted["imports"] += [{key: event[key] for key in SHAPES["import"]} for event in imports]
        for path in (f"{folder}/{part}{name}" for part in _FOLDERS for name in memory.names(f"{folder}/{part}")):
            if (writing.store.root / path).is_file() and not (writing.store.root / path).is_symlink():
                writing.put(path, None)
    if noted != memory.expired:
        writing.put(EXPIRED, canonical_bytes(noted))
