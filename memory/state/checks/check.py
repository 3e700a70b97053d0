"""All checks of the project state, each fault with its code, and what would mend it."""

from __future__ import annotations

import os
from bisect import bisect
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Any, Literal, NamedTuple

from memory.base.problems import Problem
from memory.base.safe_text import plural
from memory.document.model import BOM
from memory.errors import MemdeckError
from memory.state.files import model
from memory.state.files.config import DEFAULT_BYTES, config_faults, unknown_keys
from memory.state.files.json_text import canonical_bytes, digest, line_bytes, line_of, load, ordered_bytes
from memory.state.files.model import Json, event_id, is_entry_file, moment, number_of, stamp
from memory.state.files.reading import EventFile, StateFiles, checkpoint_path, read_events
from memory.state.files.schema import first_of
from memory.state.files.store import NEVER_SYNCED, checkpoint_of, entry_path
from memory.state.paths import bundle_paths, full_path, shown_path, without_gone
from memory.state.projections.entry_block import find_blocks, put_block, render_block
from memory.state.projections.files import VERSION, marker_of, path_of, render_projections

from .mending import mended, mended_event, rescued, without

Level = Literal["pass", "warn", "fail"]
SHOWN, _MOST_LOST = 20, 1000
NOT_RECALLED = "; every event counts as not recalled"


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


class Mend(NamedTuple):
    """One step of a repair: the file, the action on it, and the reason."""

    file: str
    action: str
    why: str


@dataclass(slots=True)
class RepairPlan:
    """A repair: its steps, the new bytes of files (None: the file is removed), and the parts kept aside, by name.

    `lost` are the ids of events that are in no file.
    """

    steps: list[Mend] = field(default_factory=list)
    files: dict[str, bytes | None] = field(default_factory=dict)
    aside: list[tuple[str, bytes]] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)

    def write(self, path: str, data: bytes | None, action: str, why: str, damaged: bytes = b"") -> None:
        """Plan the bytes of a file (None: it is removed), and keep its `damaged` ones aside."""
        if damaged:
            self.aside.append((f"damaged/{path.replace('/', '+')}", damaged))
        self.files[path] = data
        self.steps.append(Mend(path, action, why))


def validate(memory: StateFiles, now: datetime | None) -> list[Finding]:
    """Return every finding at an aware time (None: without the findings that depend on it).

    Nothing in the files raises, and nothing is written. Where the state fails, what depends on it is not checked.
    """
    return Examination(memory, now).findings


_CODES = {
    "state.missing": "state:missing",
    "state.json": "state:json",
    "state.config.schema": "config:schema",
    "state.events.missing": "history:events-missing",
    "state.sources.schema": "sources:schema",
    "state.sources.twice": "sources:schema",
}
"""The codes of findings whose errors say more than that the part is not as it should be."""


class Examination:
    """One pass over the files: what it found, and the plan of a repair.

    A repair leaves files that may not be read or written, such as a link or a folder, and a state of which neither a
    bundle nor a checkpoint is left. `kept` are the events that stay, `sound` the checkpoints.
    """

    def __init__(self, memory: StateFiles, now: datetime | None) -> None:
        self.memory, self.now, self.at = memory, now, stamp(now or datetime.fromtimestamp(0, UTC))
        self.findings: list[Finding] = []
        self.plan = RepairPlan()
        self.kept: dict[int, Json] | None = None
        self.source_count: int | None = None
        self.counts: dict[str, int] = {}
        self.sound: list[Json] = []
        with self._part("config:json", model.CONFIG, "every setting has a value that it takes"):
            self._config()
        with self._part("history:events", model.EVENTS, "every event is readable"):
            self._events()
        with self._part("sources:read", model.SOURCES, "every source has the form of the format"):
            self._sources()
        with self._part("checkpoints:schema", model.CHECKPOINTS, "the checkpoints are sound"):
            self._checkpoints()
        with self._part("state:schema", model.STATE):
            self._state()
        self._archive()

    def _fail(self, code: str, message: str, file: str, line: int = 0) -> None:
        self.findings.append(Finding("fail", code, message, file, line))

    def _warn(self, code: str, message: str, file: str, line: int = 0) -> None:
        self.findings.append(Finding("warn", code, message, file, line))

    def _error(self, code: str, file: str, error: MemdeckError) -> None:
        """Add the finding of an error of reading."""
        family = code.partition(":")[0]
        unread = f"{family}:read" if error.code.startswith("file.") and family in ("state", "config") else code
        self._fail(_CODES.get(error.code, unread), error.message, file, int(error.details.get("line", 0) or 0))

    @contextmanager
    def _part(self, code: str, file: str, good: str = "") -> Iterator[None]:
        """Check one part: an error is a finding, and `good` is said where nothing is wrong."""
        before = len(self.findings)
        try:
            yield
        except MemdeckError as error:
            self._error(code, file, error)
        if good and len(self.findings) == before:
            self.findings.append(Finding("pass", code, good, file))

    # -- the files of the format ----------------------------------------------------------------------------------

    def _config(self) -> None:
        """Check the settings; a repair lets wrong ones go, so that the defaults count."""
        path, stored = model.CONFIG, self.memory.read(model.CONFIG)
        if not stored.exists:
            self._fail("config:missing", "the file is missing; the defaults count", path)
            self.plan.write(path, DEFAULT_BYTES, "write the default settings", "they are missing")
            return
        try:
            written = load(stored.data, path, "state.config.json")
        except MemdeckError as error:
            self.plan.write(path, DEFAULT_BYTES, "write the default settings", error.message, stored.data)
            raise
        if faults := config_faults(written):
            places = {fault.where for fault in faults}
            kept = ordered_bytes(without(written, places)) if isinstance(written, dict) else DEFAULT_BYTES
            action = "let the settings go that are wrong, so that the defaults count"
            self.plan.write(path, kept, action, first_of(faults), stored.data)
            _ = self.memory.config
        for key in unknown_keys(written)[:SHOWN]:
            line = line_of(stored.data, key.rpartition(".")[2])
            self._warn("config:unknown", f"there is no setting {key}; is it misspelt?", path, line)

    def _events(self) -> None:
        """Check lines, ids, order and gaps of events; a repair keeps those that can be read, and records the lost."""
        path, stored = model.EVENTS, self.memory.read(model.EVENTS)
        found = self.memory.found_events if stored.exists else EventFile((), (), ())
        if not stored.exists:
            self._fail("history:events-missing", "the file is missing", path)
        for bad in found.bad[:SHOWN]:
            self._fail("history:event", f"line {bad.line} {bad.why}", path, bad.line)
        if len(found.bad) > SHOWN:
            self._fail("history:event", f"{len(found.bad) - SHOWN} more lines hold no event", path)
        lines = stored.data.removeprefix(BOM).split(b"\n")
        kept: dict[int, tuple[Json, bytes]] = {}
        twice: list[Json] = []
        highest = 0
        for event, line in zip(found.items, found.lines, strict=True):
            number = number_of(event["id"])
            if number in kept:
                self._fail("history:ids", f"{event['id']} occurs twice", path, line)
                twice += [event] if kept[number][0] != event else []
            elif number < highest:
                self._fail("history:ordering", f"{event['id']} follows a later one", path, line)
            kept.setdefault(number, (event, lines[line - 1]))
            highest = max(highest, number)
        for number in islice(self._missing(found.items), SHOWN):
            self._fail("history:continuity", f"{event_id(number)} is in neither the history nor the archive", path)
        for bad in found.bad:
            above = bisect(found.lines, bad.line)
            new = mended_event(lines[bad.line - 1], found.items[above - 1]["createdAt"] if above else self.at)
            if new is not None:
                kept.setdefault(number_of(new["id"]), (new, line_bytes(new).rstrip(b"\n")))
        # Two that were made at once, on two branches: the second waits behind all others.
        for number, event in enumerate(twice, max([0, *kept, *self.memory.archived_numbers()]) + 1):
            new = {**event, "id": event_id(number)}
            kept[number] = (new, line_bytes(new).rstrip(b"\n"))
        self.kept, self.counts["historyEventCount"] = (
            {number: kept[number][0] for number in sorted(kept)},
            len(found.items),
        )
        if not stored.exists or found.bad or [*self.kept.values()] != [*found.items]:
            data = b"".join(kept[number][1] + b"\n" for number in self.kept)
            action = f"keep {plural(len(kept), 'event')} that can be read, in the order of their ids"
            self.plan.write(path, data, action, "lines are missing, damaged, twice or out of order", stored.data)
        if lost := [event_id(number) for number in islice(self._missing(self.kept.values()), _MOST_LOST)]:
            action = f"record that {plural(len(lost), 'event')} cannot be found"
            self.plan.steps.append(Mend(path, action, f"{lost[0]} is in neither the history nor the archive"))
            self.plan.lost = lost

    def _missing(self, events: Any) -> Iterator[int]:
        """Yield the numbers of events between others that are in no archive, and in no batch of it that expired.

        A batch takes the ids of its events with it. An event may have been in one where retention is on and the last
        event before it is older than the age at which batches expire.
        """
        try:
            retention = self.memory.config["retention"]
        except MemdeckError:
            return
        days = timedelta(days=retention["archive"]["expireAfterDays"])
        known, before = self.memory.archived_numbers(), 0
        since: datetime | None = None
        for event in events:
            number = number_of(event["id"])
            expired = since is None or self.now is None or since + days <= self.now
            if not (retention["enabled"] and expired):
                yield from (one for one in range(before + 1, number) if one not in known)
            before = max(before, number)
            # Imported sessions have the times at which they took place, not those at which they were imported.
            since = moment(event["createdAt"]) if event["kind"] == "tool_run" else since

    def _sources(self) -> None:
        """Check the sources; a repair keeps those that are sound, or become so with fresh values."""
        path, stored = model.SOURCES, self.memory.read(model.SOURCES)
        written, why = None, "the list is missing, or not sound"
        with suppress(MemdeckError):
            written = load(stored.data, path, "state.sources.json") if stored.exists else None
        fresh = {"createdAt": self.at, "updatedAt": self.at, **NEVER_SYNCED}
        found = [mended("source", one, fresh) for one in (written if isinstance(written, list) else [])]
        kept = {one["id"]: one for one in reversed(found) if one is not None and not leads_out(one["path"])}
        sources = [*reversed(kept.values())]
        self.source_count = len(sources)
        if sources != written:
            action = f"write a list of {plural(len(sources), 'sound source')}"
            self.plan.write(path, canonical_bytes(sources), action, why, stored.data)
        if not stored.exists:
            self._fail("sources:missing", "the file is missing", path)
        self.counts["importSourceCount"] = len(self.memory.sources)
        for source in self.memory.sources:
            name, where = source["id"], source["path"]
            if leads_out(where):
                self._fail(f"sources:path:{name}", f"{where!r} leads out of the workspace", path)
            # Only its own machine has the folder; its absence elsewhere is no fault of the state.
            elif not where.startswith("~") and not os.path.lexists(full_path(where, self.memory.root)):
                words = f"{shown_path(where, self.memory.root)} is not on this machine"
                self._warn(f"sources:path:{name}", words, path)
            if source["lastSyncStatus"] == "failed":
                self._warn(f"sources:sync:{name}", f"the last sync failed: {source['lastSyncError']}", path)

    def _checkpoints(self) -> None:
        """Check each checkpoint; a repair takes damaged ones away."""
        if not self.memory.checkpoint_ids:
            self._fail("checkpoints:missing", "there is no checkpoint", model.CHECKPOINTS)
        for name in self.memory.checkpoint_ids:
            path, code, why = checkpoint_path(name), "bundle-hash", "bundleHash is not the hash of the bundle"
            try:
                checkpoint = self.memory.checkpoint(name)
                if digest(checkpoint["bundle"]) == checkpoint["bundleHash"]:
                    self.sound.append(checkpoint)
                    continue
            except MemdeckError as error:
                code, why = "schema" if error.code == "state.checkpoint.schema" else "read", error.message
                if error.code.startswith("file."):
                    self._fail(f"checkpoints:read:{name}", why, path)
                    continue
            self._fail(f"checkpoints:{code}:{name}", why, path)
            self.plan.write(path, None, "take the checkpoint away", why, self.memory.read(path).data)

    # -- the state, and the views that fit it -----------------------------------------------------------------------

    def _state(self) -> None:
        """Check the state; a repair writes one that fits the other files, and the views that fit the state."""
        path, stored = model.STATE, self.memory.read(model.STATE)
        state: Json = {}
        action, why, damaged = "write the counts, pointers, paths and hash that fit the files", "they do not fit", b""
        try:
            new = state = self.memory.state
        except MemdeckError as error:
            self._error("state:schema", path, error)
            last = self.sound[-1] if self.sound else None
            new, whose, recalled = rescued(stored.data, last, self.at)
            action = f"write a state anew, with {whose}{'' if recalled else NOT_RECALLED}"
            why, damaged = error.message, stored.data
        if state:
            with self._part("state:schema", path, "the state has the form of the format"):
                self._of_state(state)
            with self._part("bundle:paths", path, "every path of the bundle exists"):
                self._paths(state["bundle"], stored.data)
            with self._part("recall:backlog", model.EVENTS, "few events wait for a recall"):
                self._backlog()
            self._validation(state["bundle"])
        bundle, maintenance = self._without_gone(new["bundle"]), self._maintenance(new["maintenance"], bool(state))
        if maintenance["recallCursors"] != new["maintenance"]["recallCursors"] and NOT_RECALLED not in action:
            action += NOT_RECALLED
        new = {**new, "bundle": bundle, "bundleHash": digest(bundle), "maintenance": maintenance}
        maintenance["latestCheckpointId"] = self._latest(new)
        if new != state:
            self.plan.write(path, canonical_bytes(new), action, why, damaged)
        self._views(state, new)

    def _of_state(self, state: Json) -> None:
        """Check the hash, the provider, the counts and the pointers of a state."""
        path, maintenance, ids = model.STATE, state["maintenance"], self.memory.checkpoint_ids
        if digest(state["bundle"]) != state["bundleHash"]:
            line = line_of(self.memory.read(path).data, "bundleHash")
            self._fail("state:bundle-hash", "bundleHash is not the hash of the bundle", path, line)
        if (name := state["provider"]["name"]) not in model.PROVIDERS:
            self._warn("state:provider", f"the provider {name[:60]!r} is none of codex, claude", path)
        for key, count in self.counts.items():
            if maintenance[key] != count:
                noun, code = ("event", "history:event-count") if "Event" in key else ("source", "sources:count")
                self._fail(code, f"the state counts {plural(maintenance[key], noun)}, there are {count:,}", path)
        latest = maintenance["latestCheckpointId"]
        if ids and latest != ids[-1]:
            words = f"the state names {latest or 'no checkpoint'} as the latest, it is {ids[-1]}"
            self._fail("checkpoints:latest", words, path)
        elif ids and (last := self.memory.latest_checkpoints(1)) and last[0]["bundle"] != state["bundle"]:
            self._warn("checkpoints:bundle-drift", f"the bundle is not that of {last[0]['id']}", path)

    def _backlog(self) -> None:
        with suppress(MemdeckError):
            waiting, threshold = len(self.memory.unrecalled()), self.memory.config["recall"]["backlogWarnThreshold"]
            if waiting > threshold:
                words = f"{plural(waiting, 'event')} wait for a recall, more than {threshold}"
                self._warn("recall:backlog", words, model.EVENTS)

    def _paths(self, bundle: Json, data: bytes) -> None:
        missing = [one for one in bundle_paths(bundle) if not self.memory.has(one)]
        if not is_entry_file(entry := bundle["project"]["recommendedEntryFile"]):
            missing.append(entry)
        for one in missing[:SHOWN]:
            words = f"the bundle names {one[:200]!r}, which is not there"
            self._fail("bundle:paths", words, model.STATE, line_of(data, one))

    def _validation(self, bundle: Json) -> None:
        """Check how the last run of the validation commands ended, and how old it is."""
        path, snapshot = model.STATE, bundle["currentFocus"]["validationSnapshot"]
        at, when = snapshot["validatedAt"], moment(snapshot["validatedAt"])
        if not bundle["validationCommands"]:
            self._warn("validation:commands", "the bundle has no validation command", path)
        elif snapshot["status"] == "not-run" or when is None:
            words = "the validation commands were not run yet: `memdeck state validate --run`"
            self._warn("validation:baseline", words, path)
        elif self.now is not None and when < self.now - timedelta(days=model.FRESH_DAYS):
            words = f"they were run on {at[:10]}, more than {model.FRESH_DAYS} days ago"
            self._warn("validation:freshness", words, path)
        elif snapshot["status"] != "passed":
            self._warn("validation:status", f"they ended as {snapshot['status']}: {snapshot['summary']}", path)
        elif self.now is not None:
            self.findings.append(Finding("pass", "validation:freshness", f"they passed on {at[:10]}", path))

    def _without_gone(self, bundle: Json) -> Json:
        """Return a bundle without the paths that are gone, and with an entry file that may be one."""
        bundle = without_gone(bundle, self.memory.has)
        if is_entry_file(bundle["project"]["recommendedEntryFile"]):
            return bundle
        there = {name.lower(): name for name in self.memory.names("")}
        entry = next((there[name.lower()] for name in model.ENTRY_FILES if name.lower() in there), model.ENTRY_FILES[0])
        return {**bundle, "project": {**bundle["project"], "recommendedEntryFile": entry}}

    def _maintenance(self, written: Json, sound: bool) -> Json:
        """Return the maintenance part with counts and cursors that fit."""
        cursors = {**written["recallCursors"], **{one: dict(written["recallCursors"][one]) for one in model.SCOPES}}
        new = {**written, "recallCursors": cursors}
        if self.source_count is not None:
            new["importSourceCount"] = self.source_count
        if self.kept is not None:
            new["historyEventCount"] = len(self.kept)
            highest = max([0, *self.kept, *self.memory.archived_numbers()])
            for scope, cursor in (("maintenance", new), *((scope, cursors[scope]) for scope in model.SCOPES)):
                if number_of(name := cursor["lastRecalledEventId"]) > highest:
                    # What waits must not be passed over; what was taken in says nothing new.
                    cursor["lastRecalledAt"] = cursor["lastRecalledEventId"] = None
                    if sound:
                        self._fail("recall:cursor", f"{scope}: {name} is later than every event", model.STATE)
        return new

    def _latest(self, state: Json) -> str | None:
        """Return the id of the latest checkpoint; plan one where none has the bundle of the state."""
        there = [name for name in self.memory.checkpoint_ids if checkpoint_path(name) not in self.plan.files]
        last = self.sound[-1] if self.sound else {"id": None, "bundle": None}
        if there and there[-1] == last["id"] and state["bundle"] == last["bundle"]:
            return there[-1]
        name = self.memory.next_checkpoint()
        try:
            self.memory.read(checkpoint_path(name))
        except MemdeckError:  # a folder of checkpoints that leads elsewhere
            return state["maintenance"]["latestCheckpointId"]  # type: ignore[no-any-return]
        event = event_id(max(self.kept)) if self.kept else None
        made = checkpoint_of(name, self.at, event, state["bundle"], state["bundleHash"], "repaired")
        action, why = "write a checkpoint of the bundle", "the latest one is not of it"
        self.plan.write(checkpoint_path(name), canonical_bytes(made), action, why)
        return name

    def _views(self, state: Json, new: Json) -> None:
        """Check the projections and the entry block against a state; a repair writes those of the new one."""
        present = render_projections(state["bundle"], digest(state["bundle"])) if state else {}
        why = "it is missing, or shows something else"
        for name, text in render_projections(new["bundle"], new["bundleHash"]).items():
            path = path_of(name)
            with self._part(f"projection:{name}", path, "it shows the bundle" if state else ""):
                stored = self.memory.read(path)
                if state:
                    self._projection(name, stored.base, present[name].encode())
                if stored.base != text.encode():
                    self.plan.write(path, text.encode(), "write the projection of the bundle", why, stored.data)
        with self._part("entry:file", model.STATE):
            if state:
                path = entry_path(self.memory.root, state["bundle"])
                self._entry(path, self.memory.read(path).base, render_block(digest(state["bundle"])))
        path = entry_path(self.memory.root, new["bundle"])
        stored = self.memory.read(path)
        data = put_block(stored.data, render_block(new["bundleHash"]))
        if stored.base != data:
            self.plan.write(path, data, "put the entry block of the bundle there", why)

    def _projection(self, name: str, data: bytes | None, expected: bytes) -> None:
        code, path = f"projection:{name}", path_of(name)
        marker = marker_of((data or b"").decode("utf-8", "replace"))
        if data is None:
            self._fail(code, "the projection is missing", path)
        elif marker is None or marker[:2] != (name, VERSION):
            self._fail(f"{code}:marker", "the first line is not the marker of this projection", path, 1)
        elif data != expected:
            self._fail(f"{code}:drift", "it shows another bundle than the state, or was edited by hand", path, 1)

    def _entry(self, path: str, data: bytes | None, block: str) -> None:
        blocks = find_blocks(data or b"")
        line = (data or b"").count(b"\n", 0, blocks[0].start) + 1 if blocks else 0
        if data is None:
            self._fail("entry:file", "the entry file is missing", path)
        elif not blocks or not blocks[0].closed:
            self._fail("entry:marker", "the entry block is missing, or does not end", path, line)
        elif blocks[0].text.replace("\r", "").strip() != block.strip():
            words = "the entry block belongs to another bundle than the state, or was edited by hand"
            self._fail("entry:drift", words, path, line)
        else:
            self.findings.append(Finding("pass", "entry:marker", "the block belongs to the bundle", path, line))
        if len(blocks) > 1:
            self._warn("entry:twice", f"there are {len(blocks)} entry blocks, the first one counts", path)

    # -- the archive; problems in it are only warnings --------------------------------------------------------------

    def _archive(self) -> None:
        """Check that the batches of the archive have the events and checkpoints of their manifests."""
        for name in self.memory.names(model.ARCHIVE):
            path = f"{model.ARCHIVE}/{name}"
            known = name in self.memory.batches or path == model.EXPIRED or name.startswith(".")
            if not known and self.memory.holds(path):
                self._warn(f"archive:name:{name}", "it is no batch of the archive", path)
        for batch in self.memory.batches:
            folder = f"{model.ARCHIVE}/{batch}"
            try:
                manifest = self.memory.manifest(batch)
                found = read_events(self.memory.read(f"{folder}/events.jsonl").data)
            except MemdeckError as error:
                self._warn(f"archive:manifest:{batch}", error.message, f"{folder}/manifest.json")
                continue
            ids, words = {event["id"] for event in found.items}, "it does not hold the {} of its manifest"
            # The events of a repair could not be read; they are in its damaged file.
            if found.bad or not (batch.startswith("repair-") or ids.issuperset(manifest["archivedEventIds"])):
                self._warn(f"archive:events:{batch}", words.format("events"), f"{folder}/events.jsonl")
            kept = set(self.memory.names(f"{folder}/checkpoints"))
            if any(f"{name}.json" not in kept for name in manifest["archivedCheckpointIds"]):
                self._warn(f"archive:checkpoints:{batch}", words.format("checkpoints"), f"{folder}/checkpoints")


def leads_out(path: str) -> bool:
    """Return whether the relative path of a source leads out of the workspace."""
    return not os.path.isabs(path) and ".." in path.split("/")
