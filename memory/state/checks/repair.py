"""Repair of damaged files: planned first, then done in one transaction; damaged bytes are kept aside."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from memory.document.model import BOM
from memory.errors import MemdeckError, RefusedError
from memory.state.files import model
from memory.state.files.config import DEFAULT_BYTES, DEFAULTS, config_faults
from memory.state.files.json_text import canonical_bytes, digest, line_bytes, load, ordered_bytes
from memory.state.files.model import Json, event_id, is_entry_file, number_of, plural, stamp
from memory.state.files.reading import StateFiles, checkpoint_path
from memory.state.files.schema import faults_of, first_of
from memory.state.files.store import (
    NEVER_SYNCED,
    StateStore,
    StateWriting,
    checkpoint_of,
    entry_path,
    fresh_parts,
    state_of,
)
from memory.state.paths import without_gone
from memory.state.projections.entry_block import put_block, render_block
from memory.state.projections.files import path_of, render_projections
from memory.state.retention import put_batch

from .check import leads_out, missing_events

if TYPE_CHECKING:
    from memory.storage import Change

_MOST_LOST = 1000
_NOT_RECALLED = "; every event counts as not recalled"


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


def plan_repair(memory: StateFiles, now: datetime) -> RepairPlan:
    """Return what a repair would do with the present files; nothing is written.

    It leaves files that may not be read or written, and a state of which neither a bundle nor a checkpoint is left.
    """
    repair = _Repair(memory, now)
    for step in (repair.config, repair.sources, repair.events, repair.checkpoints, repair.state):
        # What cannot be read, such as a link or a folder, is left to the person.
        with suppress(MemdeckError):
            step()
    return repair.plan


def repair(store: StateStore, shown: RepairPlan, *, actor: str, now: datetime) -> Change:
    """Carry out a plan in one transaction; `memdeck undo` reverts it.

    RefusedError `state.repair.stale` where the plan would no longer be the same.
    """

    def build(writing: StateWriting) -> Change:
        plan = plan_repair(writing.memory, writing.now)
        if plan != shown:
            raise RefusedError("state.repair.stale", "the files changed since the plan was shown", "look at it again")
        for path, data in plan.files.items():
            writing.put(path, data)
        if plan.aside or plan.lost:
            put_batch(writing, "repair", DEFAULTS, files=plan.aside, lost=plan.lost)
        return writing.commit(f"repaired {plural(len(plan.files), 'file')}")

    return store.change("state.repair", build, actor=actor, now=now)


class _Repair:
    """A repair that is planned file by file; `kept` are the events, `sound` the checkpoints that stay."""

    def __init__(self, memory: StateFiles, now: datetime) -> None:
        self.memory, self.now, self.plan = memory, now, RepairPlan()
        self.source_count: int | None = None
        self.kept: dict[int, Json] | None = None
        self.sound: list[Json] = []

    def config(self) -> None:
        """Plan settings without wrong values, so that the defaults count."""
        path, stored = model.CONFIG, self.memory.read(model.CONFIG)
        try:
            written = load(stored.data, path, "state.config.json") if stored.exists else {}
            faults = config_faults(written)
        except MemdeckError as error:
            self.plan.write(path, DEFAULT_BYTES, "write the default settings", error.message, stored.data)
            return
        if not stored.exists or not isinstance(written, dict):
            self.plan.write(path, DEFAULT_BYTES, "write the default settings", "they are missing", stored.data)
        elif faults:
            kept = ordered_bytes(_without(written, {fault.where for fault in faults}))
            action = "let the settings go that are wrong, so that the defaults count"
            self.plan.write(path, kept, action, first_of(faults), stored.data)

    def sources(self) -> None:
        """Plan a list of the sources that are sound, or become so with fresh values."""
        path, stored = model.SOURCES, self.memory.read(model.SOURCES)
        fresh = {"createdAt": stamp(self.now), "updatedAt": stamp(self.now), **NEVER_SYNCED}
        written, why = None, "the list is missing, or not sound"
        try:
            written = load(stored.data, path, "state.sources.json") if stored.exists else None
        except MemdeckError as error:
            why = error.message
        kept: dict[str, Json] = {}
        for one in written if isinstance(written, list) else []:
            source = _mended("source", one, fresh)
            if source is not None and not leads_out(source["path"]):
                kept.setdefault(source["id"], source)
        self.source_count = len(kept)
        if [*kept.values()] != written:
            action = f"write a list of {plural(len(kept), 'sound source')}"
            self.plan.write(path, canonical_bytes([*kept.values()]), action, why, stored.data)

    def events(self) -> None:
        """Plan a history of the events that can be read, in the order of their ids, and record the lost ones."""
        path, stored = model.EVENTS, self.memory.read(model.EVENTS)
        found = self.memory.found_events if stored.exists else None
        lines = stored.data.removeprefix(BOM).split(b"\n")
        kept: dict[int, tuple[Json, bytes]] = {}
        twice: list[Json] = []
        placed = [] if found is None else [*zip(found.items, found.lines, strict=True)]
        for event, line in placed:
            if kept.setdefault(number_of(event["id"]), (event, lines[line - 1]))[0] != event:
                twice.append(event)
        for bad in () if found is None else found.bad:
            above = [event["createdAt"] for event, line in placed if line < bad.line]
            mended = _mended_event(lines[bad.line - 1], above[-1] if above else stamp(self.now))
            if mended is not None:
                kept.setdefault(number_of(mended["id"]), (mended, line_bytes(mended).rstrip(b"\n")))
        for event in twice:
            # Two that were made at once, on two branches: the second waits behind all others.
            number = max([*kept, *self.memory.archived_numbers()]) + 1
            new = {**event, "id": event_id(number)}
            kept[number] = (new, line_bytes(new).rstrip(b"\n"))
        self.kept = {number: kept[number][0] for number in sorted(kept)}
        numbers = islice(missing_events(self.memory, self.kept.values(), self.now), _MOST_LOST)
        self.plan.lost = [event_id(number) for number in numbers]
        if found is None or found.bad or [*self.kept.values()] != [*found.items]:
            data = b"".join(kept[number][1] + b"\n" for number in self.kept)
            action = f"keep {plural(len(kept), 'event')} that can be read, in the order of their ids"
            self.plan.write(path, data, action, "lines are missing, damaged, twice or out of order", stored.data)
        if self.plan.lost:
            action = f"record that {plural(len(self.plan.lost), 'event')} cannot be found"
            self.plan.steps.append(Mend(path, action, f"{self.plan.lost[0]} is in neither the history nor the archive"))

    def checkpoints(self) -> None:
        """Plan to remove damaged checkpoints."""
        for name in self.memory.checkpoint_ids:
            try:
                checkpoint = self.memory.checkpoint(name)
                why = "" if digest(checkpoint["bundle"]) == checkpoint["bundleHash"] else "its hash is not its bundle's"
            except MemdeckError as error:
                if error.code.startswith("file."):
                    continue
                why = error.message
            if why:
                path = checkpoint_path(name)
                self.plan.write(path, None, "take the checkpoint away", why, self.memory.read(path).data)
            else:
                self.sound.append(checkpoint)

    # -- the state, and the views that fit it -------------------------------------------------------------------------

    def state(self) -> None:
        """Plan a state that fits the other files, and the views that fit the state."""
        path, stored = model.STATE, self.memory.read(model.STATE)
        state: Json = {}
        action, why, damaged = (
            "write the counts, pointers, paths and the hash that fit the files",
            "they do not fit",
            b"",
        )
        try:
            new = state = self.memory.state
        except MemdeckError as error:
            new, action = self._rescued(stored.data)
            why, damaged = error.message, stored.data
        bundle = self._without_gone(new["bundle"])
        maintenance = self._maintenance(new["maintenance"])
        if maintenance["recallCursors"] != new["maintenance"]["recallCursors"] and _NOT_RECALLED not in action:
            action += _NOT_RECALLED
        new = {**new, "bundle": bundle, "bundleHash": digest(bundle), "maintenance": maintenance}
        maintenance["latestCheckpointId"] = self._latest(new)
        if new != state:
            self.plan.write(path, canonical_bytes(new), action, why, damaged)
        self._views(new)

    def _rescued(self, data: bytes) -> tuple[Json, str]:
        """Return a state with the sound parts of a damaged one, and the action; MemdeckError if no bundle is left.

        Its cursors are kept: without them every event would be recalled again. The bundle of an older checkpoint lacks
        what was recalled after it, so it starts without cursors.
        """
        written: Any = {}
        with suppress(MemdeckError):
            written = load(data, model.STATE, "state.json", twice=False)
        parts = written if isinstance(written, dict) else {}
        names = ("bundle", "provider", "maintenance")
        sound: Json = {key: parts[key] for key in names if not faults_of(key, parts.get(key))}
        whose = "its own bundle"
        if "bundle" not in sound:
            if not self.sound:
                raise MemdeckError("state.lost", "no bundle is left")
            last = self.sound[-1]
            sound["bundle"], whose = last["bundle"], f"the bundle of {last['id']}"
            if "maintenance" in sound and sound["maintenance"]["latestCheckpointId"] != last["id"]:
                del sound["maintenance"]
        fresh = {**fresh_parts(model.PROVIDERS[1]), **sound}
        state = state_of(fresh, sound["bundle"], digest(sound["bundle"]), stamp(self.now))
        return state, f"write a state anew, with {whose}{'' if 'maintenance' in sound else _NOT_RECALLED}"

    def _without_gone(self, bundle: Json) -> Json:
        """Return a bundle without the paths that are gone, and with an entry file that may be one."""
        bundle = without_gone(bundle, self.memory.has)
        if is_entry_file(bundle["project"]["recommendedEntryFile"]):
            return bundle
        there = {name.lower(): name for name in self.memory.names("")}
        entry = next((there[name.lower()] for name in model.ENTRY_FILES if name.lower() in there), model.ENTRY_FILES[0])
        return {**bundle, "project": {**bundle["project"], "recommendedEntryFile": entry}}

    def _maintenance(self, written: Json) -> Json:
        """Return the maintenance part with counts and cursors that fit."""
        cursors = {**written["recallCursors"], **{one: dict(written["recallCursors"][one]) for one in model.SCOPES}}
        new = {**written, "recallCursors": cursors}
        if self.source_count is not None:
            new["importSourceCount"] = self.source_count
        if self.kept is not None:
            new["historyEventCount"] = len(self.kept)
            highest = max([0, *self.kept, *self.memory.archived_numbers()])
            for cursor in (new, *(cursors[scope] for scope in model.SCOPES)):
                if number_of(cursor["lastRecalledEventId"]) > highest:
                    # What waits must not be passed over; what was taken in says nothing new.
                    cursor["lastRecalledAt"] = cursor["lastRecalledEventId"] = None
        return new

    def _latest(self, state: Json) -> str | None:
        """Return the id of the latest checkpoint; plan one where none has the bundle of the state."""
        there = [name for name in self.memory.checkpoint_ids if checkpoint_path(name) not in self.plan.files]
        last = self.sound[-1] if self.sound else {"id": None, "bundle": None}
        if there and there[-1] == last["id"] and state["bundle"] == last["bundle"]:
            return there[-1]
        name = self.memory.next_checkpoint()
        self.memory.read(checkpoint_path(name))  # raises where the folder of checkpoints leads elsewhere
        event = event_id(max(self.kept)) if self.kept else None
        made = checkpoint_of(name, stamp(self.now), event, state["bundle"], state["bundleHash"], "repaired")
        action, why = "write a checkpoint of the bundle", "the latest one is not of it"
        self.plan.write(checkpoint_path(name), canonical_bytes(made), action, why)
        return name

    def _views(self, state: Json) -> None:
        """Plan the projections and the entry block of the bundle."""
        why = "it is missing, or shows something else"
        for name, text in render_projections(state["bundle"], state["bundleHash"]).items():
            with suppress(MemdeckError):
                path, data = path_of(name), text.encode()
                stored = self.memory.read(path)
                if stored.base != data:
                    self.plan.write(path, data, "write the projection of the bundle", why, stored.data)
        path = entry_path(self.memory.root, state["bundle"])
        stored = self.memory.read(path)
        data = put_block(stored.data, render_block(state["bundleHash"]))
        if stored.base != data:
            self.plan.write(path, data, "put the entry block of the bundle there", why)


def _without(written: Json, places: set[str], where: str = "") -> Json:
    """Return an object without the values at some dotted places."""
    kept: Json = {}
    for key, value in written.items():
        place = f"{where}.{key}" if where else key
        if place not in places:
            kept[key] = _without(value, places, place) if isinstance(value, dict) else value
    return kept


def _mended(kind: str, value: Any, fresh: Json) -> Json | None:
    """Return an object of a kind, with fresh values where its own are wrong; None where that does not suffice."""
    if not isinstance(value, dict):
        return None
    wrong = {fault.where.partition(".")[0] for fault in faults_of(kind, value)}
    mended = {**value, **{key: fresh[key] for key in wrong if key in fresh}}
    return None if faults_of(kind, mended) else mended


def _mended_event(line: bytes, before: str) -> Json | None:
    """Return the event of a line in which some values are wrong; `before` is the time of the one above."""
    try:
        value = load(line, model.EVENTS, "state.events.read", twice=False)
    except MemdeckError:
        return None
    given = value.get("signals") if isinstance(value, dict) else None
    signals: dict[str, list[str]] = {kind: [] for kind in model.SIGNALS}
    for kind, texts in given.items() if isinstance(given, dict) else ():
        if kind in signals and isinstance(texts, list):
            signals[kind] = [one for one in texts if not faults_of("text", one)]
    fresh = {"createdAt": before, "contentHash": digest(value), "externalItemId": None, "signals": signals}
    fresh["summary"] = "A part of this event was damaged"
    return _mended("event", value, fresh)
