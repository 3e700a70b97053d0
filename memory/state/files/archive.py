"""The archive: batches of what left the active files, each with a manifest; names, writing and expiry of batches."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from itertools import count

from memory.errors import MemdeckError

from .json_text import canonical_bytes, line_bytes, load
from .model import ARCHIVE, EXPIRED, Json, stamp
from .reading import StateFiles, checkpoint_path, read_events
from .store import StateWriting

MOST_CHECKPOINTS = 200
"""How many checkpoints one transaction moves: each needs four open files, and a process may have about a thousand."""


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
    first = f"{kind}-{re.sub(r'[^0-9TZ]', '', stamp(writing.now))}"
    names = (first if number == 1 else f"{first}-{number}" for number in count(1))
    taken = writing.store.names(ARCHIVE)
    name = next(name for name in names if name not in taken)
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


def expired(memory: StateFiles, now: datetime, days: int, warnings: list[str]) -> Iterator[str]:
    """Yield the batches that are `days` old by their manifests; add a sentence about each unreadable one."""
    before = stamp(now - timedelta(days=days))
    for batch in memory.batches:
        try:
            if memory.manifest(batch)["createdAt"] <= before:
                yield batch
        except MemdeckError as error:
            warnings.append(f"{error.message}; the batch stays")


_WRITTEN = re.compile(
    r"(?:events\.jsonl|(?:state|config|sources|manifest)\.json|damaged/.+|checkpoints/chk-\d{6,15}\.json)"
)


def files_of(memory: StateFiles, batch: str) -> list[str]:
    """Return the files of a batch that a memory system writes; any other file in it is left alone."""
    folder = f"{ARCHIVE}/{batch}"
    inner = (f"{part}{name}" for part in ("", "damaged/", "checkpoints/") for name in memory.names(f"{folder}/{part}"))
    return [f"{folder}/{name}" for name in inner if _WRITTEN.fullmatch(name)]


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
    return {*map(_key, (*memory.events, *archived_events(memory))), *_expired_imports(memory)}


def _key(event: Json) -> Key:
    return event["sourceId"], event["externalItemId"], event["contentHash"]


def _expired_imports(memory: StateFiles) -> set[Key]:
    with suppress(MemdeckError):
        stored = memory.read(EXPIRED)
        found = load(stored.data, EXPIRED, "state.archive.expired") if stored.exists else []
        return {tuple(one) for one in found if isinstance(one, list)} if isinstance(found, list) else set()
    return set()


def note_expired(writing: StateWriting, batches: Iterable[str]) -> None:
    """Plan that the imports of batches are remembered after the batches are gone."""
    read = writing.memory.read
    events = (event for batch in batches for event in read_events(read(f"{ARCHIVE}/{batch}/events.jsonl").data).items)
    new = {_key(event) for event in events if event["kind"] == "imported_session"}
    if new:
        writing.put(EXPIRED, canonical_bytes(sorted(new | _expired_imports(writing.memory))))
