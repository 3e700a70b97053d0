"""The archive: batches of what left the active files, each with a manifest; names, writing and expiry of batches."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta

from memory.errors import MemdeckError

from .json_text import canonical_bytes, line_bytes, load
from .model import ARCHIVE, EXPIRED, Json, moment, stamp
from .reading import StateFiles, checkpoint_path, read_events
from .store import StateWriting

MOST_CHECKPOINTS = 200
"""How many checkpoints one transaction moves: each needs four open files, and a process may have about a thousand."""


def batch_name(kind: str, now: datetime, taken: Iterable[str]) -> str:
    """Return the name of a new batch (`prune-20260131T120000000Z`), with a number appended where it is taken."""
    name = f"{kind}-{re.sub(r'[^0-9TZ]', '', stamp(now))}"
    names = set(taken)
    number, found = 1, name
    while found in names:
        number += 1
        found = f"{name}-{number}"
    return found


def put_batch(
    writing: StateWriting,
    kind: str,
    config: Json,
    *,
    events: Sequence[Json] = (),
    lost: Sequence[str] = (),
    checkpoints: Sequence[str] = (),
    files: Sequence[tuple[str, bytes]] = (),
) -> str:
    """Plan a batch of the archive and return its name.

    It holds a manifest, events, the checkpoints with the given ids, and whole files by their name in the batch. The
    checkpoints leave the active folder in the same change. `lost` are ids of events that can be read from no file.
    """
    name = batch_name(kind, writing.now, writing.store.names(ARCHIVE))
    retention = config["retention"]
    manifest = {
        "createdAt": stamp(writing.now),
        "archivedEventIds": [*(event["id"] for event in events), *lost],
        "archivedCheckpointIds": list(checkpoints),
        "historyMaxAgeDays": retention["history"]["maxAgeDays"],
        "checkpointMaxAgeDays": retention["checkpoints"]["maxAgeDays"],
        "keepRecent": retention["checkpoints"]["keepRecent"],
        "expireAfterDays": retention["archive"]["expireAfterDays"],
    }
    folder = f"{ARCHIVE}/{name}"
    if not any(path == "events.jsonl" for path, _ in files):
        writing.put(f"{folder}/events.jsonl", b"".join(map(line_bytes, events)))
    for path, data in files:
        writing.put(f"{folder}/{path}", data)
    for one in checkpoints:
        writing.put(f"{folder}/checkpoints/{one}.json", writing.transaction.read(checkpoint_path(one)).data)
    writing.put(f"{folder}/manifest.json", canonical_bytes(manifest))
    for one in checkpoints:
        writing.take_away(checkpoint_path(one))
    return name


def expired(memory: StateFiles, now: datetime, days: int) -> tuple[list[str], list[str]]:
    """Return the batches that are `days` old by their manifests, and sentences about unreadable manifests."""
    gone, warnings = [], []
    for batch in memory.batches:
        try:
            created = moment(memory.manifest(batch)["createdAt"])
        except MemdeckError as error:
            warnings.append(f"{error.message}; the batch stays")
            continue
        if created is not None and created <= now - timedelta(days=days):
            gone.append(batch)
    return gone, warnings


def files_of(memory: StateFiles, batch: str) -> list[str]:
    """Return the files of a batch that a memory system writes; any other file in it is left alone."""
    folder = f"{ARCHIVE}/{batch}"
    plain = ("events.jsonl", "state.json", "config.json", "sources.json", "manifest.json")
    found = [f"{folder}/{name}" for name in memory.names(folder) if name in plain]
    found += [f"{folder}/damaged/{name}" for name in memory.names(f"{folder}/damaged")]
    kept = memory.names(f"{folder}/checkpoints")
    found += [f"{folder}/checkpoints/{name}" for name in kept if re.fullmatch(r"chk-\d{6,15}\.json", name)]
    return found


def archived_events(memory: StateFiles) -> Iterator[Json]:
    """Yield the events in the batches of the archive; lines without an event are skipped."""
    for batch in memory.batches:
        try:
            stored = memory.read(f"{ARCHIVE}/{batch}/events.jsonl")
        except MemdeckError:
            continue
        yield from read_events(stored.data).items


Key = tuple[str, str | None, str]
"""Identifies an import: the source, the item and the hash of its text."""


def imports_of(memory: StateFiles) -> set[Key]:
    """Return the imports in the history, the archive, and what expired there, so that none is imported twice."""
    events = (*memory.events, *archived_events(memory))
    expired = (tuple(one) for one in _expired_imports(memory))
    return {*(_key(event) for event in events), *expired}  # type: ignore[arg-type]


def _key(event: Json) -> Key:
    return event["sourceId"], event["externalItemId"], event["contentHash"]


def _expired_imports(memory: StateFiles) -> list[list[str]]:
    stored = memory.read(EXPIRED)
    try:
        found = load(stored.data, EXPIRED, "state.archive.expired") if stored.exists else []
    except MemdeckError:
        return []
    return [one for one in found if isinstance(one, list)] if isinstance(found, list) else []


def note_expired(writing: StateWriting, batches: Iterable[str]) -> None:
    """Plan that the imports of batches are remembered after the batches are gone."""
    events = [
        event
        for batch in batches
        for event in read_events(writing.memory.read(f"{ARCHIVE}/{batch}/events.jsonl").data).items
        if event["kind"] == "imported_session"
    ]
    if events:
        known = [*_expired_imports(writing.memory), *(list(_key(event)) for event in events)]
        writing.put(EXPIRED, canonical_bytes(sorted(known)))
