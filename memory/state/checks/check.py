"""All checks of `state validate`: every finding with its code, and `pass`, `warn` or `fail`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

from memory.errors import MemdeckError
from memory.state.files import model, schema
from memory.state.files.config import config_faults, unknown_keys
from memory.state.files.json_text import canonical_bytes, digest, line_of, load
from memory.state.files.model import Json, is_entry_file, moment, number_of, plural
from memory.state.files.reading import StateFiles, checkpoint_path, read_events
from memory.state.files.store import entry_path
from memory.state.paths import bundle_paths, full_path, shown_path
from memory.state.projections.entry_block import find_blocks, render_block
from memory.state.projections.files import VERSION, marker_of, path_of, render_projections

from .finding import SHOWN, Finding, Level

_MOST_GAP = 10_000


def validate(memory: StateFiles, now: datetime | None) -> tuple[Finding, ...]:
    """Return every finding at an aware time (None: without the findings that depend on it).

    Nothing in the files raises, and nothing is written. Where the state fails, what depends on it is not checked.
    """
    found: list[Finding] = []
    found += _guarded(_state(memory), model.STATE, "state:read", "state:schema")
    sound = not any(one.level == "fail" and one.code != "state:bundle-hash" for one in found)
    found += _guarded(_config(memory), model.CONFIG, "config:read", "config:json")
    found += _guarded(_events(memory, sound, now), model.EVENTS, "history:events-read")
    found += _guarded(_sources(memory, sound), model.SOURCES, "sources:read")
    found += _checkpoints(memory, sound, now)
    if sound:
        found += _views(memory)
        found += _bundle_paths(memory)
        found += _validation(memory, now)
        found += _cursors(memory)
        found += _backlog(memory)
    found += _archive(memory, now)
    return tuple(found)


def _guarded(
    found: Iterator[Finding], path: str, read: str, shape: str = "", level: Level = "fail"
) -> Iterator[Finding]:
    """Yield findings; where a file cannot be read they end with one of the code `read`.

    The code is `shape` for a file that can be read and is not what it should be.
    """
    try:
        yield from found
    except MemdeckError as error:
        code = read if error.code.startswith("file.") else shape or read
        yield Finding(level, code, error.message, path, int(error.details.get("line", 0) or 0))


# -- state.json ------------------------------------------------------------------------------------------


def _state(memory: StateFiles) -> Iterator[Finding]:
    try:
        state = memory.state
    except MemdeckError as error:
        if error.code not in ("state.missing", "state.json"):
            raise
        code = error.code.replace(".", ":")
        yield Finding("fail", code, error.message, model.STATE, error.details.get("line", 0))
        return
    yield Finding("pass", "state:schema", "the state has the form of the format", model.STATE)
    if digest(state["bundle"]) == state["bundleHash"]:
        yield Finding("pass", "state:bundle-hash", "bundleHash is the hash of the bundle", model.STATE)
    else:
        line = line_of(memory.read(model.STATE).data, "bundleHash")
        yield Finding("fail", "state:bundle-hash", "bundleHash is not the hash of the bundle", model.STATE, line)
    if canonical_bytes(state) != memory.read(model.STATE).data:
        yield Finding("warn", "state:form", "the file is not in the sorted form in which it is written", model.STATE)
    name = state["provider"]["name"]
    if name not in model.PROVIDERS:
        yield Finding("warn", "state:provider", f"the provider {name[:60]!r} is none of codex, claude", model.STATE)


def _config(memory: StateFiles) -> Iterator[Finding]:
    stored = memory.read(model.CONFIG)
    if not stored.exists:
        yield Finding("fail", "config:missing", "the file is missing; the defaults count", model.CONFIG)
        return
    written = load(stored.data, model.CONFIG, "state.config.json")
    faults = config_faults(written)
    for fault in faults[:SHOWN]:
        line = line_of(stored.data, fault.where.rpartition(".")[2])
        yield Finding("fail", "config:schema", str(fault), model.CONFIG, line)
    for key in unknown_keys(written)[:SHOWN]:
        line = line_of(stored.data, key.rpartition(".")[2])
        yield Finding("warn", "config:unknown", f"there is no setting {key}; is it misspelt?", model.CONFIG, line)
    if not faults:
        yield Finding("pass", "config:schema", "every setting has a value that it takes", model.CONFIG)


# -- events, checkpoints, archive ---------------------------------------------------------------------------


def _events(memory: StateFiles, sound: bool, now: datetime | None) -> Iterator[Finding]:
    """Check events.jsonl: lines, ids, order, gaps, and the number of events that the state records."""
    if not memory.read(model.EVENTS).exists:
        yield Finding("fail", "history:events-missing", "the file is missing", model.EVENTS)
        return
    found = memory.found_events
    for bad in found.bad[:SHOWN]:
        yield Finding("fail", "history:event", f"line {bad.line} {bad.why}", model.EVENTS, bad.line)
    if len(found.bad) > SHOWN:
        yield Finding("fail", "history:event", f"{len(found.bad) - SHOWN} more lines hold no event", model.EVENTS)
    if memory.read(model.EVENTS).data and not memory.read(model.EVENTS).data.endswith(b"\n"):
        yield Finding("warn", "history:torn", "the last line does not end; the next event mends that", model.EVENTS)
    yield from _ordering(memory, found.items, found.lines, now)
    if not found.bad:
        yield Finding(
            "pass", "history:events", f"{plural(len(found.items), 'event')}, all of them readable", model.EVENTS
        )
    if sound:
        counted = memory.state["maintenance"]["historyEventCount"]
        if counted != len(found.items):
            words = f"the state counts {plural(counted, 'event')}, there are {len(found.items):,}"
            yield Finding("fail", "history:event-count", words, model.STATE)
        else:
            yield Finding("pass", "history:event-count", f"the state counts {plural(counted, 'event')}", model.STATE)


def _ordering(
    memory: StateFiles, items: tuple[Json, ...], lines: tuple[int, ...], now: datetime | None
) -> Iterator[Finding]:
    before, seen = 0, set()
    gaps: list[tuple[int, int, int, datetime | None]] = []
    since: datetime | None = None
    for event, line in zip(items, lines, strict=True):
        number = number_of(event["id"])
        if number in seen:
            yield Finding("fail", "history:ids", f"{event['id']} is there twice", model.EVENTS, line)
        elif number < before:
            yield Finding("fail", "history:ordering", f"{event['id']} follows a later one", model.EVENTS, line)
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
            yield Finding("fail", "history:continuity", words, model.EVENTS, line)


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


def _checkpoints(memory: StateFiles, sound: bool, now: datetime | None) -> Iterator[Finding]:
    """Check the checkpoints: their form, hashes, events, and which is the latest."""
    for name in memory.checkpoint_names:
        if name.startswith("."):
            continue
        if not (name.endswith(".json") and number_of(name.removesuffix(".json"), "chk")):
            yield Finding("warn", "checkpoints:name", f"{name!r} is no checkpoint", model.CHECKPOINTS)
    ids = memory.checkpoint_ids
    if not ids:
        yield Finding("fail", "checkpoints:missing", "there is no checkpoint", model.CHECKPOINTS)
        return
    events = _known_events(memory)
    good = 0
    for name in ids:
        one = _checkpoint(memory, name, events, now)
        found = list(_guarded(one, checkpoint_path(name), f"checkpoints:read:{name}"))
        good += not any(one.level == "fail" for one in found)
        yield from found
    if good == len(ids):
        yield Finding(
            "pass", "checkpoints:schema", f"{plural(len(ids), 'checkpoint')}, all of them sound", model.CHECKPOINTS
        )
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
        if error.code != "state.checkpoint.schema":
            raise
        yield Finding("fail", f"checkpoints:schema:{name}", error.message, path)
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
        yield Finding(
            "fail", "checkpoints:latest", f"the state names {named} as the latest, it is {ids[-1]}", model.STATE
        )
        return
    try:
        same = memory.checkpoint(latest)["bundle"] == memory.bundle
    except MemdeckError:
        return
    if same:
        yield Finding("pass", "checkpoints:latest", f"{latest} holds the bundle of the state", checkpoint_path(latest))
    else:
        yield Finding("warn", "checkpoints:bundle-drift", f"the bundle is not that of {latest}", model.STATE)


def _cursors(memory: StateFiles) -> Iterator[Finding]:
    """Check for cursors after the last event: they would keep future events from being recalled."""
    events = _known_events(memory)
    if not events:
        return
    highest = max(events)
    maintenance = memory.state["maintenance"]
    pointers = {scope: cursor["lastRecalledEventId"] for scope, cursor in maintenance["recallCursors"].items()}
    for scope, name in {**pointers, "maintenance": maintenance["lastRecalledEventId"]}.items():
        if number_of(name) > highest:
            yield Finding("fail", "recall:cursor", f"{scope}: {name} is later than every event", model.STATE)


def _archive(memory: StateFiles, now: datetime | None) -> Iterator[Finding]:
    """Check the batches of the archive; problems in them are only warnings."""
    for name in memory.names(model.ARCHIVE):
        path = f"{model.ARCHIVE}/{name}"
        if name not in memory.batches and path != model.EXPIRED and memory.holds(path) and not name.startswith("."):
            yield Finding("warn", f"archive:name:{name}", "it is no batch of the archive", f"{model.ARCHIVE}/{name}")
    for batch in memory.batches:
        path = f"{model.ARCHIVE}/{batch}/manifest.json"
        yield from _guarded(_batch(memory, batch, now), path, f"archive:manifest:{batch}", level="warn")


def _batch(memory: StateFiles, batch: str, now: datetime | None) -> Iterator[Finding]:
    folder = f"{model.ARCHIVE}/{batch}"
    manifest = memory.manifest(batch)
    events = _batch_events(memory, batch, manifest)
    faults = list(_guarded(events, f"{folder}/events.jsonl", f"archive:events:{batch}", level="warn"))
    kept = set(memory.names(f"{folder}/checkpoints"))
    if any(f"{name}.json" not in kept for name in manifest["archivedCheckpointIds"]):
        words = "it does not hold the checkpoints of its manifest"
        faults.append(Finding("warn", f"archive:checkpoints:{batch}", words, f"{folder}/checkpoints"))
    yield from faults
    created = moment(manifest["createdAt"])
    if created is not None and now is not None and created > now + timedelta(days=1):
        words = f"it was made at {manifest['createdAt']}, which is to come: it does not expire before"
        yield Finding("warn", f"archive:expiry:{batch}", words, f"{folder}/manifest.json")
    if not faults:
        yield Finding("pass", f"archive:{batch}", "it holds what its manifest says", folder)


def _batch_events(memory: StateFiles, batch: str, manifest: Json) -> Iterator[Finding]:
    """Yield whether a batch lacks events of its manifest."""
    events = f"{model.ARCHIVE}/{batch}/events.jsonl"
    found = read_events(memory.read(events).data)
    ids = {event["id"] for event in found.items}
    # The events of a repair could not be read; they are in its damaged file.
    if found.bad or not (batch.startswith("repair-") or ids.issuperset(manifest["archivedEventIds"])):
        yield Finding("warn", f"archive:events:{batch}", "it does not hold the events of its manifest", events)


# -- sources --------------------------------------------------------------------------------


def _sources(memory: StateFiles, sound: bool) -> Iterator[Finding]:
    stored = memory.read(model.SOURCES)
    if not stored.exists:
        yield Finding("fail", "sources:missing", "the file is missing", model.SOURCES)
        return
    sources = load(stored.data, model.SOURCES, "state.sources.json")
    if not isinstance(sources, list):
        yield Finding("fail", "sources:schema", "the file is not a list", model.SOURCES, 1)
        return
    ids: set[str] = set()
    good = True
    for number, source in enumerate(sources):
        for one in _source(memory.root, source, number, ids):
            good = good and one.level != "fail"
            yield one
    if good:
        yield Finding("pass", "sources:schema", plural(len(sources), "source"), model.SOURCES)
    if sound and memory.state["maintenance"]["importSourceCount"] != len(sources):
        counted = memory.state["maintenance"]["importSourceCount"]
        words = f"the state counts {plural(counted, 'source')}, there are {len(sources)}"
        yield Finding("fail", "sources:count", words, model.STATE)


def _source(root: Path, source: object, number: int, ids: set[str]) -> Iterator[Finding]:
    name = source.get("id") if isinstance(source, dict) else None
    shown = name if isinstance(name, str) and name.strip() else f"[{number}]"
    if isinstance(source, dict) and source.get("type") not in model.SOURCE_TYPES:
        yield Finding("fail", f"sources:type:{shown}", f"{source.get('type')!r} is no type of source", model.SOURCES)
    faults = [one for one in schema.faults_of("source", source) if one.where != "type"]
    if faults:
        yield Finding("fail", "sources:schema", f"source {shown}: {schema.first_of(faults)}", model.SOURCES)
        return
    assert isinstance(source, dict)
    if source["id"] in ids:
        yield Finding("fail", f"sources:id:{shown}", "the id is there twice", model.SOURCES)
    ids.add(source["id"])
    if leads_out(source["path"]):
        yield Finding("fail", f"sources:path:{shown}", f"{source['path']!r} leads out of the workspace", model.SOURCES)
    # Only its own machine has the folder; its absence elsewhere is no fault of the state.
    elif not source["path"].startswith("~") and not os.path.lexists(full_path(source["path"], root)):
        where = shown_path(source["path"], root)
        yield Finding("warn", f"sources:path:{shown}", f"{where} is not on this machine", model.SOURCES)
    if source["lastSyncStatus"] == "failed":
        yield Finding(
            "warn", f"sources:sync:{shown}", f"the last sync failed: {source['lastSyncError']}", model.SOURCES
        )


def leads_out(path: str) -> bool:
    """Return whether the relative path of a source leads out of the workspace."""
    return not os.path.isabs(path) and ".." in path.split("/")


# -- projections, entry block, paths ---------------------------------------------------------------------


def _views(memory: StateFiles) -> Iterator[Finding]:
    bundle_hash = digest(memory.bundle)
    for name, text in render_projections(memory.bundle, bundle_hash).items():
        code = f"projection:{name}"
        yield from _guarded(_view(memory, name, text, bundle_hash), path_of(name), code)
    yield from _guarded(_entry(memory, bundle_hash), model.STATE, "entry:file")


def _view(memory: StateFiles, name: str, text: str, bundle_hash: str) -> Iterator[Finding]:
    code, path = f"projection:{name}", path_of(name)
    stored = memory.read(path)
    marker = marker_of(stored.data.decode("utf-8", "replace"))
    if not stored.exists:
        yield Finding("fail", code, "the projection is missing", path)
    elif marker is None or marker.name != name or marker.version != VERSION:
        yield Finding("fail", f"{code}:marker", "the first line is not the marker of this projection", path, 1)
    elif marker.bundle_hash != bundle_hash:
        yield Finding("fail", f"{code}:drift", "it shows another bundle than that of the state", path, 1)
    elif stored.data != text.encode():
        yield Finding("fail", f"{code}:drift", "it was edited by hand: its text is not that of the bundle", path)
    else:
        yield Finding("pass", code, "it shows the bundle", path)


def _entry(memory: StateFiles, bundle_hash: str) -> Iterator[Finding]:
    path = entry_path(memory.root, memory.bundle)
    stored = memory.read(path)
    if not stored.exists:
        yield Finding("fail", "entry:file", "the entry file is missing", path)
        return
    blocks = find_blocks(stored.data)
    if not blocks:
        yield Finding("fail", "entry:marker", "the entry block is missing", path)
        return
    block = blocks[0]
    line = stored.data.count(b"\n", 0, block.start) + 1
    if not block.closed:
        yield Finding("fail", "entry:marker", "the entry block does not end", path, line)
    elif block.bundle_hash != bundle_hash or block.version != VERSION:
        yield Finding("fail", "entry:drift", "the entry block is of another bundle than that of the state", path, line)
    elif "".join(block.text.split("\r")).strip() != render_block(bundle_hash).strip():
        yield Finding("fail", "entry:drift", "the entry block was edited by hand", path, line)
    else:
        yield Finding("pass", "entry:marker", "the entry block is of the bundle", path, line)
    if len(blocks) > 1:
        yield Finding("warn", "entry:twice", f"there are {len(blocks)} entry blocks, the first one counts", path)


def _bundle_paths(memory: StateFiles) -> Iterator[Finding]:
    bundle = memory.bundle
    missing = [path for path in bundle_paths(bundle) if not memory.has(path)]
    if not is_entry_file(bundle["project"]["recommendedEntryFile"]):
        missing.append(bundle["project"]["recommendedEntryFile"])
    for path in missing[:SHOWN]:
        line = line_of(memory.read(model.STATE).data, path)
        yield Finding("fail", "bundle:paths", f"the bundle names {path[:200]!r}, which is not there", model.STATE, line)
    if not missing:
        yield Finding("pass", "bundle:paths", "every path of the bundle is there", model.STATE)


# -- validation, cursors, archive ------------------------------------------------------------------------


def _validation(memory: StateFiles, now: datetime | None) -> Iterator[Finding]:
    snapshot = memory.bundle["currentFocus"]["validationSnapshot"]
    if not memory.bundle["validationCommands"]:
        yield Finding("warn", "validation:commands", "the bundle has no validation command", model.STATE)
        return
    when = moment(snapshot["validatedAt"])
    if snapshot["status"] == "not-run" or when is None:
        words = "the validation commands were not run yet: `memdeck state validate --run`"
        yield Finding("warn", "validation:baseline", words, model.STATE)
    elif now is None:
        return
    elif when > now + timedelta(days=1):
        yield Finding(
            "warn", "validation:timestamp", f"they were run at {snapshot['validatedAt']}, which is to come", model.STATE
        )
    elif when < now - timedelta(days=model.FRESH_DAYS):
        words = f"they were run on {snapshot['validatedAt'][:10]}, more than {model.FRESH_DAYS} days ago"
        yield Finding("warn", "validation:freshness", words, model.STATE)
    elif snapshot["status"] != "passed":
        yield Finding(
            "warn", "validation:status", f"they ended as {snapshot['status']}: {snapshot['summary']}", model.STATE
        )
    else:
        yield Finding("pass", "validation:freshness", f"they passed on {snapshot['validatedAt'][:10]}", model.STATE)


def _backlog(memory: StateFiles) -> Iterator[Finding]:
    try:
        waiting, threshold = len(memory.unrecalled()), memory.config["recall"]["backlogWarnThreshold"]
    except MemdeckError:
        return
    if waiting > threshold:
        words = f"{plural(waiting, 'event')} wait for a recall, more than {threshold}"
        yield Finding("warn", "recall:backlog", words, model.EVENTS)
    else:
        yield Finding("pass", "recall:backlog", f"{plural(waiting, 'event')} not yet recalled", model.EVENTS)
