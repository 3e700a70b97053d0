"""Checks of the history: events, checkpoints, cursors and the archive, and whether they fit each other."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from memory.errors import MemdeckError
from memory.state.files.json_text import digest
from memory.state.files.model import ARCHIVE, CHECKPOINTS, EVENTS, EXPIRED, STATE, Json, moment, number_of, plural
from memory.state.files.reading import StateFiles, checkpoint_path, read_events

from .finding import SHOWN, Finding

_MOST_GAP = 10_000


def check_events(memory: StateFiles, sound: bool, now: datetime | None) -> Iterator[Finding]:
    """Check events.jsonl: lines, ids, order, gaps, and the number of events that the state records."""
    try:
        if not memory.read(EVENTS).exists:
            yield Finding("fail", "history:events-missing", "the file is missing", EVENTS)
            return
        found = memory.found_events
    except MemdeckError as error:
        yield Finding("fail", "history:events-read", error.message, EVENTS)
        return
    for bad in found.bad[:SHOWN]:
        yield Finding("fail", "history:event", f"line {bad.line} {bad.why}", EVENTS, bad.line)
    if len(found.bad) > SHOWN:
        yield Finding("fail", "history:event", f"{len(found.bad) - SHOWN} more lines hold no event", EVENTS)
    if memory.read(EVENTS).data and not memory.read(EVENTS).data.endswith(b"\n"):
        yield Finding("warn", "history:torn", "the last line does not end; the next event mends that", EVENTS)
    yield from _ordering(memory, found.items, found.lines, now)
    if not found.bad:
        yield Finding("pass", "history:events", f"{plural(len(found.items), 'event')}, all of them readable", EVENTS)
    if sound:
        counted = memory.state["maintenance"]["historyEventCount"]
        if counted != len(found.items):
            words = f"the state counts {plural(counted, 'event')}, there are {len(found.items):,}"
            yield Finding("fail", "history:event-count", words, STATE)
        else:
            yield Finding("pass", "history:event-count", f"the state counts {plural(counted, 'event')}", STATE)


def _ordering(
    memory: StateFiles, items: tuple[Json, ...], lines: tuple[int, ...], now: datetime | None
) -> Iterator[Finding]:
    before, seen = 0, set()
    gaps: list[tuple[int, int, int, datetime | None]] = []
    since: datetime | None = None
    for event, line in zip(items, lines, strict=True):
        number = number_of(event["id"])
        if number in seen:
            yield Finding("fail", "history:ids", f"{event['id']} is there twice", EVENTS, line)
        elif number < before:
            yield Finding("fail", "history:ordering", f"{event['id']} follows a later one", EVENTS, line)
        elif number != before + 1:
            gaps.append((before + 1, number, line, since))
        seen.add(number)
        before = max(before, number)
        # Imported sessions have the times at which they took place, not those at which they were imported.
        since = moment(event["createdAt"]) if event["kind"] == "tool_run" else since
    known = memory.archived_numbers() if gaps else frozenset()
    for first, number, line, at in gaps[:SHOWN]:
        missing = [one for one in range(first, min(number, first + _MOST_GAP)) if one not in known]
        # A batch that expired took the ids of its events with it.
        if missing and not _may_have_expired(memory, at, now or since):
            words = f"evt-{missing[0]:06d} is in neither the history nor the archive"
            yield Finding("fail", "history:continuity", words, EVENTS, line)


def _may_have_expired(memory: StateFiles, since: datetime | None, now: datetime | None) -> bool:
    """Return whether a missing event may have been in a batch that expired and was removed.

    That is so where retention is on and the last event before it (at `since`, None: there is none) is older than the
    age at which batches expire. Cursors are not consulted: events written along with a bundle are archived by age
    alone.
    """
    try:
        retention = memory.config["retention"]
    except MemdeckError:
        return True
    if not retention["enabled"]:
        return False
    if since is None or now is None:
        return True
    return since + timedelta(days=retention["archive"]["expireAfterDays"]) <= now


def check_checkpoints(memory: StateFiles, sound: bool, now: datetime | None) -> Iterator[Finding]:
    """Check the checkpoints: their form, hashes, events, and which is the latest."""
    for name in memory.checkpoint_names:
        if name.startswith("."):
            continue
        if not (name.endswith(".json") and number_of(name.removesuffix(".json"), "chk")):
            yield Finding("warn", "checkpoints:name", f"{name!r} is no checkpoint", CHECKPOINTS)
    ids = memory.checkpoint_ids
    if not ids:
        yield Finding("fail", "checkpoints:missing", "there is no checkpoint", CHECKPOINTS)
        return
    events = _known_events(memory)
    good = 0
    for name in ids:
        found = list(_checkpoint(memory, name, events, now))
        good += not any(one.level == "fail" for one in found)
        yield from found
    if good == len(ids):
        yield Finding("pass", "checkpoints:schema", f"{plural(len(ids), 'checkpoint')}, all of them sound", CHECKPOINTS)
    if sound:
        yield from _latest(memory, ids)


def _known_events(memory: StateFiles) -> frozenset[int] | None:
    try:
        return frozenset(number_of(event["id"]) for event in memory.found_events.items) | memory.archived_numbers()
    except MemdeckError:
        return None


def _checkpoint(
    memory: StateFiles, name: str, events: frozenset[int] | None, now: datetime | None
) -> Iterator[Finding]:
    path = checkpoint_path(name)
    try:
        checkpoint = memory.checkpoint(name)
    except MemdeckError as error:
        code = "schema" if error.code == "state.checkpoint.schema" else "read"
        yield Finding("fail", f"checkpoints:{code}:{name}", error.message, path, int(error.details.get("line", 0) or 0))
        return
    if digest(checkpoint["bundle"]) != checkpoint["bundleHash"]:
        yield Finding("fail", f"checkpoints:bundle-hash:{name}", "bundleHash is not the hash of the bundle", path)
    number, made = number_of(checkpoint["eventId"]), moment(checkpoint["createdAt"])
    if number and events is not None and number not in events and not _may_have_expired(memory, made, now):
        words = f"its event {checkpoint['eventId']} is in neither the history nor the archive"
        yield Finding("warn", f"checkpoints:event:{name}", words, path)


def _latest(memory: StateFiles, ids: tuple[str, ...]) -> Iterator[Finding]:
    latest = memory.state["maintenance"]["latestCheckpointId"]
    if latest != ids[-1]:
        named = latest or "no checkpoint"
        yield Finding("fail", "checkpoints:latest", f"the state names {named} as the latest, it is {ids[-1]}", STATE)
        return
    try:
        same = memory.checkpoint(latest)["bundle"] == memory.bundle
    except MemdeckError:
        return
    if same:
        yield Finding("pass", "checkpoints:latest", f"{latest} holds the bundle of the state", checkpoint_path(latest))
    else:
        yield Finding("warn", "checkpoints:bundle-drift", f"the bundle is not that of {latest}", STATE)


def check_cursors(memory: StateFiles) -> Iterator[Finding]:
    """Check for cursors after the last event: they would keep future events from being recalled."""
    events = _known_events(memory)
    if not events:
        return
    highest = max(events)
    maintenance = memory.state["maintenance"]
    pointers = {scope: cursor["lastRecalledEventId"] for scope, cursor in maintenance["recallCursors"].items()}
    for scope, name in {**pointers, "maintenance": maintenance["lastRecalledEventId"]}.items():
        if number_of(name) > highest:
            yield Finding("fail", "recall:cursor", f"{scope}: {name} is later than every event", STATE)


def check_archive(memory: StateFiles, now: datetime | None) -> Iterator[Finding]:
    """Check the batches of the archive; problems in them are only warnings."""
    for name in memory.names(ARCHIVE):
        path = f"{ARCHIVE}/{name}"
        if name not in memory.batches and path != EXPIRED and memory.holds(path) and not name.startswith("."):
            yield Finding("warn", f"archive:name:{name}", "it is no batch of the archive", f"{ARCHIVE}/{name}")
    for batch in memory.batches:
        yield from _batch(memory, batch, now)


def _batch(memory: StateFiles, batch: str, now: datetime | None) -> Iterator[Finding]:
    folder = f"{ARCHIVE}/{batch}"
    try:
        manifest = memory.manifest(batch)
    except MemdeckError as error:
        yield Finding("warn", f"archive:manifest:{batch}", error.message, f"{folder}/manifest.json")
        return
    faults = list(_batch_faults(memory, batch, manifest))
    yield from faults
    created = moment(manifest["createdAt"])
    if created is not None and now is not None and created > now + timedelta(days=1):
        words = f"it was made at {manifest['createdAt']}, which is to come: it does not expire before"
        yield Finding("warn", f"archive:expiry:{batch}", words, f"{folder}/manifest.json")
    if not faults:
        yield Finding("pass", f"archive:{batch}", "it holds what its manifest says", folder)


def _batch_faults(memory: StateFiles, batch: str, manifest: Json) -> Iterator[Finding]:
    """Yield what a batch lacks of its manifest."""
    events, checkpoints = (f"{ARCHIVE}/{batch}/{name}" for name in ("events.jsonl", "checkpoints"))
    try:
        found = read_events(memory.read(events).data)
        ids = {event["id"] for event in found.items}
        if batch.startswith("repair-"):
            ids |= set(manifest["archivedEventIds"])  # the ids of unreadable events; they are in the damaged file
        if found.bad or not ids.issuperset(manifest["archivedEventIds"]):
            yield Finding("warn", f"archive:events:{batch}", "it does not hold the events of its manifest", events)
    except MemdeckError as error:
        yield Finding("warn", f"archive:events:{batch}", error.message, events)
    kept = set(memory.names(checkpoints))
    if any(f"{name}.json" not in kept for name in manifest["archivedCheckpointIds"]):
        words = "it does not hold the checkpoints of its manifest"
        yield Finding("warn", f"archive:checkpoints:{batch}", words, checkpoints)
