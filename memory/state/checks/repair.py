"""Repair of damaged files: planned first, then done in one transaction; damaged bytes are kept aside."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING, Any

from memory.document.model import BOM
from memory.errors import MemdeckError, RefusedError
from memory.state.files import model
from memory.state.files.config import DEFAULT_BYTES, DEFAULTS, config_faults
from memory.state.files.json_text import canonical_bytes, digest, line_bytes, load, ordered_bytes
from memory.state.files.model import Json, event_id, is_entry_file, number_of, plural, stamp
from memory.state.files.reading import StateFiles, checkpoint_path
from memory.state.files.schema import faults_of
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
from memory.storage.safe_open import MISSING, Stored

from .check import leads_out, validate
from .finding import Finding, Mend, RepairPlan

if TYPE_CHECKING:
    from memory.storage import Change

_MOST_LOST, _MOST_TOLD = 1000, 8
MOST_FILES = 200
"""How many files one repair changes; a store with more damage needs several repairs."""
_NOT_RECALLED = "; every event counts as not recalled"


def plan_repair(memory: StateFiles, now: datetime) -> RepairPlan:
    """Return what a repair would do with the present files; nothing is written.

    `left` are the failures that remain after it: files that may not be read or written, and a state of which neither
    a bundle nor a checkpoint is left.
    """
    repair = _Repair(memory, now)
    for step in (repair.config, repair.sources, repair.events, repair.checkpoints, repair.state):
        # What cannot be read, such as a link or a folder, is left to the person.
        with suppress(MemdeckError):
            step()
    plan = repair.plan
    plan.left = repair.failures()
    if gaps := [one for one in plan.left if one.code == "history:continuity"]:
        plan.lost = repair.missing(repair.kept)
        action = f"record that {plural(len(plan.lost), 'event')} cannot be found"
        plan.steps.append(Mend(model.EVENTS, action, gaps[0].message))
        plan.left = repair.failures()
    return plan


class _Planned(StateFiles):
    """The files as they are after a repair."""

    def __init__(self, memory: StateFiles, plan: RepairPlan) -> None:
        """Nothing is read yet."""

        def read(path: str) -> Stored:
            if path not in plan.files:
                return memory.read(path)
            data = plan.files[path]
            return MISSING if data is None else Stored(data, memory.read(path).version._replace(size=len(data)))

        def names(folder: str) -> tuple[str, ...]:
            here = {path.rpartition("/")[2]: data for path, data in plan.files.items() if path.startswith(f"{folder}/")}
            made = {name for name, data in here.items() if data is not None}
            return tuple(sorted({*memory.names(folder)} - here.keys() | made))

        super().__init__(memory.root, read, names, {})
        self._plan = plan

    def has(self, path: str) -> bool:
        """Return whether a path exists, or is made by the repair."""
        return self._plan.files.get(path) is not None or super().has(path)

    def archived_numbers(self) -> frozenset[int]:
        """Return the numbers of the archived events, and of those that the repair records as lost."""
        return super().archived_numbers() | frozenset(map(number_of, self._plan.lost))


class _Repair:
    """A repair that is planned file by file; `kept` are the events, `sound` the checkpoints that stay."""

    def __init__(self, memory: StateFiles, now: datetime) -> None:
        self.memory, self.now, self.plan = memory, now, RepairPlan()
        self.source_count: int | None = None
        self.kept: dict[int, Json] | None = None
        self.sound: list[Json] = []

    def failures(self) -> list[Finding]:
        """Return the failures that remain after the repair."""
        found = validate(_Planned(self.memory, self.plan), self.now)
        return [one for one in found if one.level == "fail"]

    def missing(self, kept: Iterable[int] | None) -> list[str]:
        """Return the ids of events between those that stay that are in no archive."""
        known = self.memory.archived_numbers().union(kept or ())
        numbers = range(min(kept or (), default=1), max(kept or (), default=0))
        return [event_id(number) for number in islice((one for one in numbers if one not in known), _MOST_LOST)]

    def config(self) -> None:
        """Plan settings without wrong values, so that the defaults count."""
        path, stored = model.CONFIG, self.memory.read(model.CONFIG)
        if not stored.exists:
            self.plan.write(path, DEFAULT_BYTES, "write the default settings", "the file is missing")
            return
        try:
            written = load(stored.data, path, "state.config.json")
        except MemdeckError as error:
            self.plan.write(path, DEFAULT_BYTES, "write the default settings", error.message, damaged=stored.data)
            return
        if faults := config_faults(written):
            places = {fault.where for fault in faults}
            kept = _without(written, places) if isinstance(written, dict) else DEFAULTS
            action = "let the settings go that are wrong, so that the defaults count"
            more = f", and {len(faults) - _MOST_TOLD} more" if len(faults) > _MOST_TOLD else ""
            why = "; ".join(map(str, faults[:_MOST_TOLD])) + more
            self.plan.write(path, ordered_bytes(kept), action, why, damaged=stored.data)

    def sources(self) -> None:
        """Plan a list of the sources that are sound, or become so with fresh values."""
        path, stored = model.SOURCES, self.memory.read(model.SOURCES)
        fresh = {"createdAt": stamp(self.now), "updatedAt": stamp(self.now), **NEVER_SYNCED}
        kept: dict[str, Json] = {}
        written, why = None, "the file is missing" if not stored.exists else "a source leads out of the workspace"
        try:
            written = load(stored.data, path, "state.sources.json") if stored.exists else None
            _ = self.memory.sources
        except MemdeckError as error:
            why = error.message
        for one in written if isinstance(written, list) else []:
            source = _mended("source", one, fresh)
            if source is not None and not leads_out(source["path"]):
                kept.setdefault(source["id"], source)
        self.source_count = len(kept)
        if [*kept.values()] != written:
            action = (
                f"keep the {len(kept)} sources that are sound" if stored.exists else "write an empty list of sources"
            )
            self.plan.write(path, canonical_bytes([*kept.values()]), action, why, damaged=stored.data)

    def events(self) -> None:
        """Plan a history of the events that can be read, in the order of their ids."""
        path, stored = model.EVENTS, self.memory.read(model.EVENTS)
        if not stored.exists:
            self.kept = {}
            self.plan.write(path, b"", "begin an empty history", "the file is missing")
            return
        found = self.memory.found_events
        lines = stored.data.removeprefix(BOM).split(b"\n")
        kept: dict[int, tuple[Json, bytes]] = {}
        twice: list[Json] = []
        for event, line in zip(found.items, found.lines, strict=True):
            if kept.setdefault(number_of(event["id"]), (event, lines[line - 1]))[0] != event:
                twice.append(event)
        for bad in found.bad:
            above = [event["createdAt"] for event, at in zip(found.items, found.lines, strict=True) if at < bad.line]
            mended = _mended_event(lines[bad.line - 1], above[-1] if above else stamp(self.now))
            if mended is not None:
                kept.setdefault(number_of(mended["id"]), (mended, line_bytes(mended).rstrip(b"\n")))
        highest = max([0, *kept, *self.memory.archived_numbers()])
        for number, event in enumerate(twice, highest + 1):
            # Two that were made at once, on two branches: the second waits behind all others.
            new = {**event, "id": event_id(number)}
            kept[number] = (new, line_bytes(new).rstrip(b"\n"))
        self.kept = {number: kept[number][0] for number in sorted(kept)}
        if found.bad or [*self.kept.values()] != [*found.items]:
            data = b"".join(kept[number][1] + b"\n" for number in self.kept)
            action = f"keep the {len(kept)} events that can be read, in the order of their ids"
            why = f"line {found.bad[0].line} {found.bad[0].why}" if found.bad else "ids are twice, or out of order"
            self.plan.lost = self.missing(kept)
            self.plan.write(path, data, action, why, damaged=stored.data)

    def checkpoints(self) -> None:
        """Plan to remove damaged checkpoints."""
        for name in self.memory.checkpoint_ids:
            path = checkpoint_path(name)
            try:
                checkpoint = self.memory.checkpoint(name)
                if digest(checkpoint["bundle"]) == checkpoint["bundleHash"]:
                    self.sound.append(checkpoint)
                    continue
                why = "its hash is not that of its bundle"
            except MemdeckError as error:
                if error.code.startswith("file."):
                    continue
                why = error.message
            if len(self.plan.files) < MOST_FILES:
                self.plan.write(path, None, "take the checkpoint away", why, damaged=self.memory.read(path).data)

    # -- the state, and the views that fit it -------------------------------------------------------------------------

    def state(self) -> None:
        """Plan a state that fits the other files, and the views that fit the state."""
        path, stored = model.STATE, self.memory.read(model.STATE)
        state: Json = {}
        action, why = "write the counts, pointers and the hash that fit the other files", ""
        try:
            new = state = self.memory.state
        except MemdeckError as error:
            new, action = self._rescued(stored.data)
            why = error.message
            self.plan.keep_aside(path, stored.data)
        bundle = self._without_gone(new["bundle"])
        if bundle != new["bundle"]:
            action, why = f"{action}, without the paths that are gone", why or "the bundle names paths that are gone"
        new = {**new, "bundle": bundle, "bundleHash": digest(bundle)}
        maintenance = self._maintenance(new["maintenance"])
        if maintenance["recallCursors"] != new["maintenance"]["recallCursors"] and _NOT_RECALLED not in action:
            action += _NOT_RECALLED
        new["maintenance"] = {**maintenance, "latestCheckpointId": self._latest(new)}
        if new != state:
            keys = [key for key in new if new[key] != state.get(key)]
            self.plan.write(path, canonical_bytes(new), action, why or f"does not fit: {', '.join(keys)}")
        self._views(new)

    def _rescued(self, data: bytes) -> tuple[Json, str]:
        """Return a state with the sound parts of a damaged one, and the action; MemdeckError if no bundle is left.

        Its cursors are kept: without them every event would be recalled again. The bundle of an older checkpoint lacks
        what was recalled after it, so it starts without cursors.
        """
        try:
            written = load(data, model.STATE, "state.json", twice=False)
        except MemdeckError:
            written = {}
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
        try:
            self.memory.read(checkpoint_path(name))
        except MemdeckError:  # a folder of checkpoints that leads elsewhere
            return state["maintenance"]["latestCheckpointId"]  # type: ignore[no-any-return]
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
                    self.plan.write(path, data, "write the projection of the bundle", why, damaged=stored.data)
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
    signals = {kind: given.get(kind) if isinstance(given, dict) else None for kind in model.SIGNALS}
    fresh = {
        "createdAt": before,
        "contentHash": digest(value),
        "externalItemId": None,
        "summary": "A part of this event was damaged",
        "signals": {
            kind: [one for one in texts if not faults_of("text", one)] if isinstance(texts, list) else []
            for kind, texts in signals.items()
        },
    }
    return _mended("event", value, fresh)


def repair(store: StateStore, shown: RepairPlan, *, actor: str, now: datetime) -> tuple[RepairPlan, Change]:
    """Carry out a plan in one transaction; `memdeck undo` reverts it.

    RefusedError `state.repair.stale` where the plan would no longer be the same.
    """

    def build(writing: StateWriting) -> tuple[RepairPlan, Change]:
        plan = plan_repair(writing.memory, writing.now)
        if plan.id != shown.id:
            raise RefusedError("state.repair.stale", "the files changed since the plan was shown", "look at it again")
        for path, data in plan.files.items():
            if data is None:
                writing.take_away(path)
            else:
                writing.put(path, data)
        if plan.aside or plan.lost:
            put_batch(writing, "repair", DEFAULTS, files=plan.aside, lost=plan.lost)
        return plan, writing.commit(f"repaired {plural(len(plan.files), 'file')}")

    return store.change("state.repair", build, actor=actor, now=now)
