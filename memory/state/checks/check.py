"""All checks of `state validate`: every finding with its code, and `pass`, `warn` or `fail`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from itertools import islice

from memory.errors import MemdeckError
from memory.state.files import model, schema
from memory.state.files.config import config_faults, unknown_keys
from memory.state.files.json_text import canonical_bytes, digest, line_of, load
from memory.state.files.model import Json, is_entry_file, moment, number_of, plural
from memory.state.files.reading import EventFile, StateFiles, checkpoint_path, read_events
from memory.state.files.store import entry_path
from memory.state.paths import bundle_paths, full_path, shown_path
from memory.state.projections.entry_block import find_blocks, render_block
from memory.state.projections.files import VERSION, marker_of, path_of, render_projections

from .finding import SHOWN, Finding, Level


def validate(memory: StateFiles, now: datetime | None) -> tuple[Finding, ...]:
    """Return every finding at an aware time (None: without the findings that depend on it).

    Nothing in the files raises, and nothing is written. Where the state fails, what depends on it is not checked.
    """
    check = _Check(memory, now)
    check.state()
    sound = all(one.level != "fail" or one.code == "state:bundle-hash" for one in check.found)
    check.config()
    check.events(sound)
    check.sources(sound)
    check.checkpoints(sound)
    if sound:
        check.projections()
        check.entry()
        check.bundle()
        check.cursors()
    check.archive()
    return tuple(check.found)


class _Check:
    """One pass over the files, and what it found so far."""

    def __init__(self, memory: StateFiles, now: datetime | None) -> None:
        self.memory, self.now = memory, now
        self.found: list[Finding] = []

    def fail(self, code: str, message: str, file: str, line: int = 0) -> None:
        self.found.append(Finding("fail", code, message, file, line))

    def warn(self, code: str, message: str, file: str, line: int = 0) -> None:
        self.found.append(Finding("warn", code, message, file, line))

    @contextmanager
    def part(self, code: str, file: str, good: str, *, read: str = "", level: Level = "fail") -> Iterator[None]:
        """Check one part: `good` is said where nothing is wrong, an error is a finding with the code `read` for a file
        that cannot be read, and `code` for one that is not what it should be.
        """
        before = len(self.found)
        try:
            yield
        except MemdeckError as error:
            code = read if read and error.code.startswith("file.") else code
            if error.code in ("state.missing", "state.json"):
                code = error.code.replace(".", ":")
            self.found.append(Finding(level, code, error.message, file, int(error.details.get("line", 0) or 0)))
        if len(self.found) == before and good:
            self.found.append(Finding("pass", code, good, file))

    # -- the files of the format ----------------------------------------------------------------------------------

    def state(self) -> None:
        """Check state.json by itself."""
        path = model.STATE
        with self.part("state:schema", path, "the state has the form of the format", read="state:read"):
            state, data = self.memory.state, self.memory.read(path).data
            if digest(state["bundle"]) != state["bundleHash"]:
                words = "bundleHash is not the hash of the bundle"
                self.fail("state:bundle-hash", words, path, line_of(data, "bundleHash"))
            if canonical_bytes(state) != data:
                self.warn("state:form", "the file is not in the sorted form in which it is written", path)
            name = state["provider"]["name"]
            if name not in model.PROVIDERS:
                self.warn("state:provider", f"the provider {name[:60]!r} is none of codex, claude", path)

    def config(self) -> None:
        """Check config.json."""
        path = model.CONFIG
        with self.part("config:json", path, "every setting has a value that it takes", read="config:read"):
            stored = self.memory.read(path)
            if not stored.exists:
                self.fail("config:missing", "the file is missing; the defaults count", path)
                return
            written = load(stored.data, path, "state.config.json")
            for fault in config_faults(written)[:SHOWN]:
                line = line_of(stored.data, fault.where.rpartition(".")[2])
                self.fail("config:schema", str(fault), path, line)
            for key in unknown_keys(written)[:SHOWN]:
                line = line_of(stored.data, key.rpartition(".")[2])
                self.warn("config:unknown", f"there is no setting {key}; is it misspelt?", path, line)

    def events(self, sound: bool) -> None:
        """Check events.jsonl: lines, ids, order, gaps, and the number of events that the state records."""
        path = model.EVENTS
        with self.part("history:events", path, "every event is readable", read="history:events-read"):
            stored = self.memory.read(path)
            if not stored.exists:
                self.fail("history:events-missing", "the file is missing", path)
                return
            found = self.memory.found_events
            for bad in found.bad[:SHOWN]:
                self.fail("history:event", f"line {bad.line} {bad.why}", path, bad.line)
            if len(found.bad) > SHOWN:
                self.fail("history:event", f"{len(found.bad) - SHOWN} more lines hold no event", path)
            if stored.data and not stored.data.endswith(b"\n"):
                self.warn("history:torn", "the last line does not end; the next event mends that", path)
            self._ordering(found)
            if sound:
                self._count("history:event-count", "event", "historyEventCount", len(found.items))

    def _count(self, code: str, noun: str, key: str, count: int) -> None:
        counted = self.memory.state["maintenance"][key]
        if counted != count:
            self.fail(code, f"the state counts {plural(counted, noun)}, there are {count:,}", model.STATE)

    def _ordering(self, found: EventFile) -> None:
        before, seen = 0, set()
        gaps: list[tuple[int, int, datetime | None]] = []
        since: datetime | None = None
        known = self.memory.archived_numbers()
        for event, line in zip(found.items, found.lines, strict=True):
            number = number_of(event["id"])
            missing = next((one for one in range(before + 1, number) if one not in known), None)
            if number in seen:
                self.fail("history:ids", f"{event['id']} occurs twice", model.EVENTS, line)
            elif number < before:
                self.fail("history:ordering", f"{event['id']} follows a later one", model.EVENTS, line)
            elif missing is not None:
                gaps.append((missing, line, since))
            seen.add(number)
            before = max(before, number)
            # Imported sessions have the times at which they took place, not those at which they were imported.
            since = moment(event["createdAt"]) if event["kind"] == "tool_run" else since
        lasting = (gap for gap in gaps if not self._may_have_expired(gap[2], self.now or since))
        for missing, line, _ in islice(lasting, SHOWN):
            words = f"evt-{missing:06d} is in neither the history nor the archive"
            self.fail("history:continuity", words, model.EVENTS, line)

    def _may_have_expired(self, since: datetime | None, now: datetime | None) -> bool:
        """Return whether a missing event may have been in a batch that expired, and took its ids with it.

        That is so where retention is on and the last event before it (at `since`, None: there is none) is older than
        the age at which batches expire. Events written along with a bundle are archived by age alone.
        """
        try:
            retention = self.memory.config["retention"]
        except MemdeckError:
            return True
        days = timedelta(days=retention["archive"]["expireAfterDays"])
        return retention["enabled"] and (since is None or now is None or since + days <= now)

    def sources(self, sound: bool) -> None:
        """Check sources.json."""
        path = model.SOURCES
        with self.part("sources:read", path, "every source has the form of the format"):
            stored = self.memory.read(path)
            if not stored.exists:
                self.fail("sources:missing", "the file is missing", path)
                return
            sources = load(stored.data, path, "state.sources.json")
            if not isinstance(sources, list):
                self.fail("sources:schema", "the file is not a list", path, 1)
                return
            ids: set[str] = set()
            for number, source in enumerate(sources):
                self._source(source, number, ids)
            if sound:
                self._count("sources:count", "source", "importSourceCount", len(sources))

    def _source(self, source: object, number: int, ids: set[str]) -> None:
        path, values = model.SOURCES, source if isinstance(source, dict) else {}
        name = values.get("id")
        shown = name if isinstance(name, str) and name.strip() else f"[{number}]"
        faults = schema.faults_of("source", source)
        if values and any(one.where == "type" for one in faults):
            self.fail(f"sources:type:{shown}", f"{values.get('type')!r} is no type of source", path)
        if faults := [one for one in faults if one.where != "type"]:
            self.fail("sources:schema", f"source {shown}: {schema.first_of(faults)}", path)
            return
        if shown in ids:
            self.fail(f"sources:id:{shown}", "the id occurs twice", path)
        ids.add(shown)
        where = values["path"]
        if leads_out(where):
            self.fail(f"sources:path:{shown}", f"{where!r} leads out of the workspace", path)
        # Only its own machine has the folder; its absence elsewhere is no fault of the state.
        elif not where.startswith("~") and not os.path.lexists(full_path(where, self.memory.root)):
            words = f"{shown_path(where, self.memory.root)} is not on this machine"
            self.warn(f"sources:path:{shown}", words, path)
        if values["lastSyncStatus"] == "failed":
            self.warn(f"sources:sync:{shown}", f"the last sync failed: {values['lastSyncError']}", path)

    def checkpoints(self, sound: bool) -> None:
        """Check the checkpoints: their names, forms, hashes and events, and which is the latest."""
        memory, ids = self.memory, self.memory.checkpoint_ids
        for name in memory.checkpoint_names:
            if not (name.startswith(".") or name.removesuffix(".json") in ids):
                self.warn("checkpoints:name", f"{name!r} is no checkpoint", model.CHECKPOINTS)
        if not ids:
            self.fail("checkpoints:missing", "there is no checkpoint", model.CHECKPOINTS)
            return
        events = self._known_events()
        good = f"{plural(len(ids), 'checkpoint')} read"
        with self.part("checkpoints:schema", model.CHECKPOINTS, good):
            for name in ids:
                self._checkpoint(name, events)
        if not sound:
            return
        latest = memory.state["maintenance"]["latestCheckpointId"]
        if latest != ids[-1]:
            words = f"the state names {latest or 'no checkpoint'} as the latest, it is {ids[-1]}"
            self.fail("checkpoints:latest", words, model.STATE)
        elif (last := memory.latest_checkpoints(1)) and last[0]["bundle"] != memory.bundle:
            self.warn("checkpoints:bundle-drift", f"the bundle is not that of {last[0]['id']}", model.STATE)

    def _known_events(self) -> frozenset[int]:
        """Return the numbers of all events in history and archive, none where the history cannot be read."""
        try:
            active = (number_of(event["id"]) for event in self.memory.found_events.items)
            return frozenset(active) | self.memory.archived_numbers()
        except MemdeckError:
            return frozenset()

    def _checkpoint(self, name: str, events: frozenset[int]) -> None:
        path = checkpoint_path(name)
        try:
            checkpoint = self.memory.checkpoint(name)
        except MemdeckError as error:
            what = "schema" if error.code == "state.checkpoint.schema" else "read"
            self.fail(f"checkpoints:{what}:{name}", error.message, path)
            return
        if digest(checkpoint["bundle"]) != checkpoint["bundleHash"]:
            self.fail(f"checkpoints:bundle-hash:{name}", "bundleHash is not the hash of the bundle", path)
        number, created = number_of(checkpoint["eventId"]), moment(checkpoint["createdAt"])
        if number and events and number not in events and not self._may_have_expired(created, self.now):
            words = f"its event {checkpoint['eventId']} is in neither the history nor the archive"
            self.warn(f"checkpoints:event:{name}", words, path)

    # -- the projections of the state -------------------------------------------------------------------------------

    def projections(self) -> None:
        """Compare each projection with the bundle."""
        bundle_hash = digest(self.memory.bundle)
        for name, text in render_projections(self.memory.bundle, bundle_hash).items():
            code, path = f"projection:{name}", path_of(name)
            with self.part(code, path, "it shows the bundle"):
                stored = self.memory.read(path)
                marker = marker_of(stored.data.decode("utf-8", "replace"))
                if not stored.exists:
                    self.fail(code, "the projection is missing", path)
                elif marker is None or marker.name != name or marker.version != VERSION:
                    self.fail(f"{code}:marker", "the first line is not the marker of this projection", path, 1)
                elif marker.bundle_hash != bundle_hash:
                    self.fail(f"{code}:drift", "it shows another bundle than that of the state", path, 1)
                elif stored.data != text.encode():
                    words = "it was edited by hand: its text is not that of the bundle"
                    self.fail(f"{code}:drift", words, path)

    def entry(self) -> None:
        """Compare the entry block with the bundle."""
        with self.part("entry:file", model.STATE, ""):
            path = entry_path(self.memory.root, self.memory.bundle)
            stored = self.memory.read(path)
            if not stored.exists:
                self.fail("entry:file", "the entry file is missing", path)
                return
            blocks, bundle_hash = find_blocks(stored.data), digest(self.memory.bundle)
            line = stored.data.count(b"\n", 0, blocks[0].start) + 1 if blocks else 0
            if not blocks:
                self.fail("entry:marker", "the entry block is missing", path)
            elif not blocks[0].closed:
                self.fail("entry:marker", "the entry block does not end", path, line)
            elif blocks[0].bundle_hash != bundle_hash or blocks[0].version != VERSION:
                self.fail("entry:drift", "the entry block belongs to another bundle than the state", path, line)
            elif "".join(blocks[0].text.split("\r")).strip() != render_block(bundle_hash).strip():
                self.fail("entry:drift", "the entry block was edited by hand", path, line)
            else:
                self.found.append(Finding("pass", "entry:marker", "the entry block belongs to the bundle", path, line))
            if len(blocks) > 1:
                self.warn("entry:twice", f"there are {len(blocks)} entry blocks, the first one counts", path)

    def bundle(self) -> None:
        """Check the paths that the bundle names, and how old the run of its validation commands is."""
        bundle, path = self.memory.bundle, model.STATE
        with self.part("bundle:paths", path, "every path of the bundle exists"):
            missing = [one for one in bundle_paths(bundle) if not self.memory.has(one)]
            if not is_entry_file(entry := bundle["project"]["recommendedEntryFile"]):
                missing.append(entry)
            for one in missing[:SHOWN]:
                line = line_of(self.memory.read(path).data, one)
                self.fail("bundle:paths", f"the bundle names {one[:200]!r}, which is not there", path, line)
        snapshot = bundle["currentFocus"]["validationSnapshot"]
        at, when = snapshot["validatedAt"], moment(snapshot["validatedAt"])
        if not bundle["validationCommands"]:
            self.warn("validation:commands", "the bundle has no validation command", path)
        elif snapshot["status"] == "not-run" or when is None:
            words = "the validation commands were not run yet: `memdeck state validate --run`"
            self.warn("validation:baseline", words, path)
        elif self.now is not None and when > self.now + timedelta(days=1):
            self.warn("validation:timestamp", f"they were run at {at}, which is to come", path)
        elif self.now is not None and when < self.now - timedelta(days=model.FRESH_DAYS):
            words = f"they were run on {at[:10]}, more than {model.FRESH_DAYS} days ago"
            self.warn("validation:freshness", words, path)
        elif snapshot["status"] != "passed":
            self.warn("validation:status", f"they ended as {snapshot['status']}: {snapshot['summary']}", path)
        elif self.now is not None:
            self.found.append(Finding("pass", "validation:freshness", f"they passed on {at[:10]}", path))

    def cursors(self) -> None:
        """Check for cursors after the last event, which would keep future events from being recalled, and for too many
        events that wait.
        """
        maintenance, events = self.memory.state["maintenance"], self._known_events()
        pointers = {"maintenance": maintenance, **maintenance["recallCursors"]}
        for scope, name in ((scope, one["lastRecalledEventId"]) for scope, one in pointers.items()):
            if events and number_of(name) > max(events):
                self.fail("recall:cursor", f"{scope}: {name} is later than every event", model.STATE)
        try:
            waiting, threshold = len(self.memory.unrecalled()), self.memory.config["recall"]["backlogWarnThreshold"]
        except MemdeckError:
            return
        if waiting > threshold:
            words = f"{plural(waiting, 'event')} wait for a recall, more than {threshold}"
            self.warn("recall:backlog", words, model.EVENTS)
        else:
            words = f"{plural(waiting, 'event')} not yet recalled"
            self.found.append(Finding("pass", "recall:backlog", words, model.EVENTS))

    # -- the archive; problems in it are only warnings --------------------------------------------------------------

    def archive(self) -> None:
        """Check the batches of the archive."""
        for name in self.memory.names(model.ARCHIVE):
            path = f"{model.ARCHIVE}/{name}"
            stray = name not in self.memory.batches and path != model.EXPIRED and not name.startswith(".")
            if stray and self.memory.holds(path):
                self.warn(f"archive:name:{name}", "it is no batch of the archive", path)
        for batch in self.memory.batches:
            folder = f"{model.ARCHIVE}/{batch}"
            with self.part(f"archive:manifest:{batch}", f"{folder}/manifest.json", "", level="warn"):
                self._batch(batch, folder, self.memory.manifest(batch))

    def _batch(self, batch: str, folder: str, manifest: Json) -> None:
        events = f"{folder}/events.jsonl"
        with self.part(f"archive:events:{batch}", events, "it holds what its manifest says", level="warn"):
            found = read_events(self.memory.read(events).data)
            ids = {event["id"] for event in found.items}
            # The events of a repair could not be read; they are in its damaged file.
            if found.bad or not (batch.startswith("repair-") or ids.issuperset(manifest["archivedEventIds"])):
                self.warn(f"archive:events:{batch}", "it does not hold the events of its manifest", events)
        kept = set(self.memory.names(f"{folder}/checkpoints"))
        if any(f"{name}.json" not in kept for name in manifest["archivedCheckpointIds"]):
            words = "it does not hold the checkpoints of its manifest"
            self.warn(f"archive:checkpoints:{batch}", words, f"{folder}/checkpoints")
        created = moment(manifest["createdAt"])
        if created is not None and self.now is not None and created > self.now + timedelta(days=1):
            words = f"it was made at {manifest['createdAt']}, which is to come: it does not expire before"
            self.warn(f"archive:expiry:{batch}", words, f"{folder}/manifest.json")


def leads_out(path: str) -> bool:
    """Return whether the relative path of a source leads out of the workspace."""
    return not os.path.isabs(path) and ".." in path.split("/")
