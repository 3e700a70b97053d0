"""All checks of `state validate`: every finding with its code, and `pass`, `warn` or `fail`."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from itertools import islice
from typing import Literal, NamedTuple

from memory.base.problems import Problem
from memory.errors import MemdeckError
from memory.state.files import model
from memory.state.files.config import unknown_keys
from memory.state.files.json_text import digest, line_of, load
from memory.state.files.model import Json, event_id, is_entry_file, moment, number_of, plural
from memory.state.files.reading import StateFiles, checkpoint_path, read_events
from memory.state.files.store import entry_path
from memory.state.paths import bundle_paths, full_path, shown_path
from memory.state.projections.entry_block import find_blocks, render_block
from memory.state.projections.files import VERSION, marker_of, path_of, render_projections

Level = Literal["pass", "warn", "fail"]
SHOWN = 20


class Finding(NamedTuple):
    """The result of one check: `code` such as `state:bundle-hash`, `line` from 1 (0: the file as a whole)."""

    level: Level
    code: str
    message: str
    file: str
    line: int = 0

    def json(self) -> Json:
        """Return it for programs."""
        about = {"code": self.code, "status": self.level, "message": self.message}
        return {**about, "file": self.file, "line": self.line or None}

    def problem(self) -> Problem:
        """Return it as a problem for `check`, a note where it only waits for a person; not for a check that passed."""
        waits = self.code.startswith(("validation:", "recall:backlog"))
        level: Literal["error", "warning", "note"] = "error" if self.level == "fail" else "note" if waits else "warning"
        return Problem(level, self.file, self.line, f"state.{self.code.replace(':', '.')}", self.message)


def _fail(code: str, message: str, file: str, line: int = 0) -> Finding:
    return Finding("fail", code, message, file, line)


def _warn(code: str, message: str, file: str, line: int = 0) -> Finding:
    return Finding("warn", code, message, file, line)


def validate(memory: StateFiles, now: datetime | None) -> tuple[Finding, ...]:
    """Return every finding at an aware time (None: without the findings that depend on it).

    Nothing in the files raises, and nothing is written. Where the state fails, what depends on it is not checked.
    """
    found = _tried("state:schema", model.STATE, "the state has the form of the format", _state(memory))
    sound = all(one.level != "fail" or one.code == "state:bundle-hash" for one in found)
    found += _tried("config:json", model.CONFIG, "every setting has a value that it takes", _config(memory))
    found += _tried("history:events", model.EVENTS, "every event is readable", _events(memory, now, sound))
    found += _tried("sources:read", model.SOURCES, "every source has the form of the format", _sources(memory, sound))
    found += _tried("checkpoints:schema", model.CHECKPOINTS, "the checkpoints are sound", _checkpoints(memory, sound))
    if sound:
        bundle_hash = digest(memory.bundle)
        for name, text in render_projections(memory.bundle, bundle_hash).items():
            look = _projection(memory, name, text, bundle_hash)
            found += _tried(f"projection:{name}", path_of(name), "it shows the bundle", look)
        found += _tried("entry:file", model.STATE, "", _entry(memory, bundle_hash))
        found += _tried("bundle:paths", model.STATE, "every path of the bundle exists", _bundle(memory))
        found += _validation(memory.bundle, now)
        found += _tried("recall:backlog", model.EVENTS, "few events wait for a recall", _cursors(memory))
    for batch in memory.batches:
        file = f"{model.ARCHIVE}/{batch}/manifest.json"
        found += (
            one._replace(level="warn") for one in _tried(f"archive:manifest:{batch}", file, "", _batch(memory, batch))
        )
    for name in memory.names(model.ARCHIVE):
        path = f"{model.ARCHIVE}/{name}"
        known = name in memory.batches or path == model.EXPIRED or name.startswith(".")
        if not known and memory.holds(path):
            found.append(_warn(f"archive:name:{name}", "it is no batch of the archive", path))
    return tuple(found)


_CODES = {
    "state.missing": "state:missing",
    "state.json": "state:json",
    "state.config.schema": "config:schema",
    "state.events.missing": "history:events-missing",
    "state.sources.schema": "sources:schema",
    "state.sources.twice": "sources:schema",
}
"""The codes of findings whose errors say more than that the part is not as it should be."""


def _tried(code: str, file: str, good: str, look: Iterator[Finding]) -> list[Finding]:
    """Return what a check finds: an error of reading is a finding, and `good` is said where nothing is wrong."""
    found: list[Finding] = []
    try:
        found.extend(look)
    except MemdeckError as error:
        family = code.partition(":")[0]
        unread = f"{family}:read" if error.code.startswith("file.") and family in ("state", "config") else code
        line = int(error.details.get("line", 0) or 0)
        found.append(_fail(_CODES.get(error.code, unread), error.message, file, line))
    return found or ([Finding("pass", code, good, file)] if good else [])


# -- the files of the format --------------------------------------------------------------------------------------


def _state(memory: StateFiles) -> Iterator[Finding]:
    state = memory.state
    if digest(state["bundle"]) != state["bundleHash"]:
        line = line_of(memory.read(model.STATE).data, "bundleHash")
        yield _fail("state:bundle-hash", "bundleHash is not the hash of the bundle", model.STATE, line)
    if (name := state["provider"]["name"]) not in model.PROVIDERS:
        yield _warn("state:provider", f"the provider {name[:60]!r} is none of codex, claude", model.STATE)


def _config(memory: StateFiles) -> Iterator[Finding]:
    stored = memory.read(model.CONFIG)
    if not stored.exists:
        yield _fail("config:missing", "the file is missing; the defaults count", model.CONFIG)
        return
    _ = memory.config
    for key in unknown_keys(load(stored.data, model.CONFIG, "state.config.json"))[:SHOWN]:
        line = line_of(stored.data, key.rpartition(".")[2])
        yield _warn("config:unknown", f"there is no setting {key}; is it misspelt?", model.CONFIG, line)


def _events(memory: StateFiles, now: datetime | None, sound: bool) -> Iterator[Finding]:
    """Check lines, ids, order, gaps, and the number of events that the state records."""
    found = memory.found_events
    for bad in found.bad[:SHOWN]:
        yield _fail("history:event", f"line {bad.line} {bad.why}", model.EVENTS, bad.line)
    if len(found.bad) > SHOWN:
        yield _fail("history:event", f"{len(found.bad) - SHOWN} more lines hold no event", model.EVENTS)
    highest, seen = 0, set()
    for event, line in zip(found.items, found.lines, strict=True):
        number = number_of(event["id"])
        if number in seen:
            yield _fail("history:ids", f"{event['id']} occurs twice", model.EVENTS, line)
        elif number < highest:
            yield _fail("history:ordering", f"{event['id']} follows a later one", model.EVENTS, line)
        seen.add(number)
        highest = max(highest, number)
    for number in islice(missing_events(memory, found.items, now), SHOWN):
        yield _fail("history:continuity", f"{event_id(number)} is in neither the history nor the archive", model.EVENTS)
    if sound:
        yield from _count(memory, "history:event-count", "event", "historyEventCount", len(found.items))


def _count(memory: StateFiles, code: str, noun: str, key: str, count: int) -> Iterator[Finding]:
    counted = memory.state["maintenance"][key]
    if counted != count:
        yield _fail(code, f"the state counts {plural(counted, noun)}, there are {count:,}", model.STATE)


def missing_events(memory: StateFiles, events: Iterable[Json], now: datetime | None) -> Iterator[int]:
    """Yield the numbers of events between others that are in no archive, and in no batch of it that expired.

    A batch takes the ids of its events with it. An event may have been in one where retention is on and the last event
    before it is older than the age at which batches expire.
    """
    try:
        retention = memory.config["retention"]
    except MemdeckError:
        return
    days = timedelta(days=retention["archive"]["expireAfterDays"])
    known, before = memory.archived_numbers(), 0
    since: datetime | None = None
    for event in events:
        number = number_of(event["id"])
        expired = since is None or now is None or since + days <= now
        if not (retention["enabled"] and expired):
            yield from (one for one in range(before + 1, number) if one not in known)
        before = max(before, number)
        # Imported sessions have the times at which they took place, not those at which they were imported.
        since = moment(event["createdAt"]) if event["kind"] == "tool_run" else since


def _sources(memory: StateFiles, sound: bool) -> Iterator[Finding]:
    path = model.SOURCES
    if not memory.read(path).exists:
        yield _fail("sources:missing", "the file is missing", path)
        return
    for source in memory.sources:
        name, where = source["id"], source["path"]
        if leads_out(where):
            yield _fail(f"sources:path:{name}", f"{where!r} leads out of the workspace", path)
        # Only its own machine has the folder; its absence elsewhere is no fault of the state.
        elif not where.startswith("~") and not os.path.lexists(full_path(where, memory.root)):
            words = f"{shown_path(where, memory.root)} is not on this machine"
            yield _warn(f"sources:path:{name}", words, path)
        if source["lastSyncStatus"] == "failed":
            yield _warn(f"sources:sync:{name}", f"the last sync failed: {source['lastSyncError']}", path)
    if sound:
        yield from _count(memory, "sources:count", "source", "importSourceCount", len(memory.sources))


def leads_out(path: str) -> bool:
    """Return whether the relative path of a source leads out of the workspace."""
    return not os.path.isabs(path) and ".." in path.split("/")


def _checkpoints(memory: StateFiles, sound: bool) -> Iterator[Finding]:
    ids = memory.checkpoint_ids
    if not ids:
        yield _fail("checkpoints:missing", "there is no checkpoint", model.CHECKPOINTS)
        return
    for name in ids:
        path = checkpoint_path(name)
        try:
            checkpoint = memory.checkpoint(name)
            if digest(checkpoint["bundle"]) != checkpoint["bundleHash"]:
                yield _fail(f"checkpoints:bundle-hash:{name}", "bundleHash is not the hash of the bundle", path)
        except MemdeckError as error:
            what = "schema" if error.code == "state.checkpoint.schema" else "read"
            yield _fail(f"checkpoints:{what}:{name}", error.message, path)
    if sound:
        latest = memory.state["maintenance"]["latestCheckpointId"]
        if latest != ids[-1]:
            words = f"the state names {latest or 'no checkpoint'} as the latest, it is {ids[-1]}"
            yield _fail("checkpoints:latest", words, model.STATE)
        elif (last := memory.latest_checkpoints(1)) and last[0]["bundle"] != memory.bundle:
            yield _warn("checkpoints:bundle-drift", f"the bundle is not that of {last[0]['id']}", model.STATE)


# -- the projections of the state, and what it says ---------------------------------------------------------------


def _projection(memory: StateFiles, name: str, text: str, bundle_hash: str) -> Iterator[Finding]:
    code, path = f"projection:{name}", path_of(name)
    stored = memory.read(path)
    marker = marker_of(stored.data.decode("utf-8", "replace"))
    if not stored.exists:
        yield _fail(code, "the projection is missing", path)
    elif marker is None or marker[:2] != (name, VERSION):
        yield _fail(f"{code}:marker", "the first line is not the marker of this projection", path, 1)
    elif stored.data != text.encode():
        words = "another bundle than that of the state" if marker[2] != bundle_hash else "what was edited by hand"
        yield _fail(f"{code}:drift", f"it shows {words}", path, 1)


def _entry(memory: StateFiles, bundle_hash: str) -> Iterator[Finding]:
    path = entry_path(memory.root, memory.bundle)
    stored = memory.read(path)
    if not stored.exists:
        yield _fail("entry:file", "the entry file is missing", path)
        return
    blocks = find_blocks(stored.data)
    if not blocks or not blocks[0].closed:
        yield _fail("entry:marker", "the entry block is missing, or does not end", path)
        return
    line = stored.data.count(b"\n", 0, blocks[0].start) + 1
    if "".join(blocks[0].text.split("\r")).strip() != render_block(bundle_hash).strip():
        words = "the entry block belongs to another bundle than the state, or was edited by hand"
        yield _fail("entry:drift", words, path, line)
    else:
        yield Finding("pass", "entry:marker", "the entry block belongs to the bundle", path, line)
    if len(blocks) > 1:
        yield _warn("entry:twice", f"there are {len(blocks)} entry blocks, the first one counts", path)


def _bundle(memory: StateFiles) -> Iterator[Finding]:
    missing = [one for one in bundle_paths(memory.bundle) if not memory.has(one)]
    if not is_entry_file(entry := memory.bundle["project"]["recommendedEntryFile"]):
        missing.append(entry)
    for one in missing[:SHOWN]:
        line = line_of(memory.read(model.STATE).data, one)
        yield _fail("bundle:paths", f"the bundle names {one[:200]!r}, which is not there", model.STATE, line)


def _validation(bundle: Json, now: datetime | None) -> Iterator[Finding]:
    """Yield how the last run of the validation commands ended, and how old it is."""
    path, snapshot = model.STATE, bundle["currentFocus"]["validationSnapshot"]
    at, when = snapshot["validatedAt"], moment(snapshot["validatedAt"])
    if not bundle["validationCommands"]:
        yield _warn("validation:commands", "the bundle has no validation command", path)
    elif snapshot["status"] == "not-run" or when is None:
        words = "the validation commands were not run yet: `memdeck state validate --run`"
        yield _warn("validation:baseline", words, path)
    elif now is not None and when < now - timedelta(days=model.FRESH_DAYS):
        words = f"they were run on {at[:10]}, more than {model.FRESH_DAYS} days ago"
        yield _warn("validation:freshness", words, path)
    elif snapshot["status"] != "passed":
        yield _warn("validation:status", f"they ended as {snapshot['status']}: {snapshot['summary']}", path)
    elif now is not None:
        yield Finding("pass", "validation:freshness", f"they passed on {at[:10]}", path)


def _cursors(memory: StateFiles) -> Iterator[Finding]:
    """Check for cursors after the last event, which would keep events from being recalled, and for too many waiting."""
    maintenance, highest = memory.state["maintenance"], _highest(memory)
    pointers = {"maintenance": maintenance, **maintenance["recallCursors"]}
    for scope, name in ((scope, one["lastRecalledEventId"]) for scope, one in pointers.items()):
        if highest and number_of(name) > highest:
            yield _fail("recall:cursor", f"{scope}: {name} is later than every event", model.STATE)
    if memory.found_events.bad:
        return
    waiting, threshold = len(memory.unrecalled()), memory.config["recall"]["backlogWarnThreshold"]
    if waiting > threshold:
        yield _warn(
            "recall:backlog", f"{plural(waiting, 'event')} wait for a recall, more than {threshold}", model.EVENTS
        )


def _highest(memory: StateFiles) -> int:
    active = (number_of(event["id"]) for event in memory.found_events.items)
    return max([0, *active, *memory.archived_numbers()])


def _batch(memory: StateFiles, batch: str) -> Iterator[Finding]:
    """Check that a batch of the archive has the events and checkpoints of its manifest."""
    folder, manifest = f"{model.ARCHIVE}/{batch}", memory.manifest(batch)
    found = read_events(memory.read(f"{folder}/events.jsonl").data)
    ids = {event["id"] for event in found.items}
    # The events of a repair could not be read; they are in its damaged file.
    if found.bad or not (batch.startswith("repair-") or ids.issuperset(manifest["archivedEventIds"])):
        words = "it does not hold the events of its manifest"
        yield _warn(f"archive:events:{batch}", words, f"{folder}/events.jsonl")
    kept = set(memory.names(f"{folder}/checkpoints"))
    if any(f"{name}.json" not in kept for name in manifest["archivedCheckpointIds"]):
        words = "it does not hold the checkpoints of its manifest"
        yield _warn(f"archive:checkpoints:{batch}", words, f"{folder}/checkpoints")
