"""Repair of damaged files: each is written anew from what can be read of it; the damaged bytes are kept aside.

A repair leaves files that may not be read or written, such as a link or a folder, and a state of which neither a bundle
nor a checkpoint is left.
"""

from __future__ import annotations

from bisect import bisect
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from memory.base.safe_text import plural
from memory.document.model import BOM
from memory.errors import MemdeckError, RefusedError
from memory.state.files import model
from memory.state.files import store as files
from memory.state.files.model import Json, canonical_bytes, digest, is_entry_file, load, number_of
from memory.state.files.reading import EventFile, StateFiles, checkpoint_path
from memory.state.files.schema import DEFAULT_BYTES, config_faults, faults_of
from memory.state.retention import put_batch

from .check import checkpoint_fault, fitting, leads_out, missing_events, validate

if TYPE_CHECKING:
    from memory.storage import Change

_MOST_LOST = 1000
NOT_RECALLED = "; every event counts as not recalled"


class Mend(NamedTuple):
    """One step of a repair: the file, the action on it, and the reason."""

    file: str
    action: str
    why: str


@dataclass(slots=True)
class RepairPlan:
    """A repair: its steps, the new bytes of files (None: the file is removed), and the parts kept aside, by name."""

    steps: list[Mend] = field(default_factory=list)
    files: dict[str, bytes | None] = field(default_factory=dict)
    aside: list[tuple[str, bytes]] = field(default_factory=list)


def plan_repair(memory: StateFiles, now: datetime) -> RepairPlan:
    """Return what a repair would do with the present files; nothing is written."""
    return _Repair(memory, now).plan


def repair(store: files.StateStore, shown: RepairPlan, *, actor: str, now: datetime) -> Change:
    """Carry out a plan in one transaction; `memdeck undo` reverts it.

    RefusedError `state.repair.stale` where the plan would no longer be the same.
    """

    def build(writing: files.StateWriting) -> Change:
        plan = plan_repair(writing.memory, writing.now)
        if plan != shown:
            raise RefusedError("state.repair.stale", "the files changed since the plan was shown", "look at it again")
        for path, data in plan.files.items():
            writing.put(path, data)
        if plan.aside:
            put_batch(writing, "repair", files=plan.aside)
        return writing.commit(f"repaired {plural(len(plan.files), 'file')}")

    return store.change("state.repair", build, actor=actor, now=now)


class _Repair:
    """The sound files, one after the other, and the plan to write them."""

    def __init__(self, memory: StateFiles, now: datetime) -> None:
        self.memory, self.at, self.plan = memory, model.stamp(now), RepairPlan()
        failed = [one for one in validate(memory, now) if one.level == "fail"]
        self.reasons = {one.file: one.message for one in reversed(failed)}
        self.events: dict[int, Json] | None = None
        self.sources: list[Json] | None = None
        self.sound: list[Json] = []
        for part in (self._config, self._events, self._sources, self._checkpoints, self._state):
            with suppress(MemdeckError):
                part()

    def _write(self, path: str, data: bytes | None, action: str) -> None:
        """Plan the bytes of a file (None: it is removed) unless it has them, and keep its present ones aside.

        The reason is what the checks say of the file.
        """
        stored = self.memory.read(path)
        if stored.base != data:
            self.plan.files[path] = data
            why = self.reasons.get(path, "it does not fit the others" if stored.exists else "it is missing")
            self.plan.steps.append(Mend(path, action, why))
            if stored.exists and not is_entry_file(path):
                self.plan.aside.append((f"damaged/{path.replace('/', '+')}", stored.data))

    def _config(self) -> None:
        """Let wrong settings go, so that the defaults apply."""
        stored, written = self.memory.read(model.CONFIG), None
        with suppress(MemdeckError):
            written = load(stored.data, model.CONFIG, "state.config.json")
        if not isinstance(written, dict):
            self._write(model.CONFIG, DEFAULT_BYTES, "write the default settings")
        elif faults := config_faults(written):
            kept = model.ordered_bytes(_without(written, {fault.where for fault in faults}))
            self._write(model.CONFIG, kept, "drop wrong settings, so that the defaults apply")

    def _events(self) -> None:
        """Keep the events that can be read, or be read in part, in the order of their ids; record the lost ones."""
        path, stored = model.EVENTS, self.memory.read(model.EVENTS)
        found = self.memory.found_events if stored.exists else EventFile((), (), ())
        lines = stored.data.removeprefix(BOM).split(b"\n")
        kept: dict[int, Json] = {}
        raw: dict[int, bytes] = {}
        twice: list[Json] = []
        for event, line in zip(found.items, found.lines, strict=True):
            number = number_of(event["id"])
            twice += [event] if kept.setdefault(number, event) != event else []
            raw.setdefault(number, lines[line - 1] + b"\n")
        for bad in found.bad:
            above = bisect(found.lines, bad.line)
            new = _mended_event(lines[bad.line - 1], found.items[above - 1]["createdAt"] if above else self.at)
            if new is not None:
                kept.setdefault(number_of(new["id"]), new)
        # Two that were made at once, on two branches: the second waits behind all others.
        for number, event in enumerate(twice, max([0, *kept, *self.memory.archived_numbers()]) + 1):
            kept[number] = {**event, "id": model.event_id(number)}
        events = self.events = {number: kept[number] for number in sorted(kept)}
        if not stored.exists or found.bad or [*events.values()] != [*found.items]:
            action = f"keep {plural(len(kept), 'event')} that can be read, in the order of their ids"
            data = b"".join(raw.get(number) or model.line_bytes(event) for number, event in events.items())
            self._write(path, data, action)
        lost = [model.event_id(number) for number in islice(missing_events(self.memory, events), _MOST_LOST)]
        if lost:
            expired = {**self.memory.expired, "events": [*self.memory.expired["events"], *lost]}
            action = f"record that {plural(len(lost), 'event')} cannot be found"
            self._write(model.EXPIRED, canonical_bytes(expired), action)

    def _sources(self) -> None:
        """Keep the sources that are sound, or become so with fresh values."""
        stored, written = self.memory.read(model.SOURCES), None
        with suppress(MemdeckError):
            written = load(stored.data, model.SOURCES, "state.sources.json") if stored.exists else None
        fresh = {"createdAt": self.at, "updatedAt": self.at, **files.NEVER_SYNCED}
        found = [_mended("source", one, fresh) for one in (written if isinstance(written, list) else [])]
        kept = {one["id"]: one for one in reversed(found) if one is not None and not leads_out(one["path"])}
        self.sources = [*reversed(kept.values())]
        if self.sources != written:
            action = f"write a list of {plural(len(kept), 'sound source')}"
            self._write(model.SOURCES, canonical_bytes(self.sources), action)

    def _checkpoints(self) -> None:
        """Take damaged checkpoints away."""
        for name in self.memory.checkpoint_ids:
            if not checkpoint_fault(self.memory, name)[0]:
                self.sound.append(self.memory.checkpoint(name))
            else:
                with suppress(MemdeckError):
                    self._write(checkpoint_path(name), None, "remove the checkpoint")

    def _state(self) -> None:
        """Write a state that fits the other files, a checkpoint of its bundle, and the views that fit it."""
        stored, action = self.memory.read(model.STATE), "rewrite it to fit the other files"
        try:
            old = found = self.memory.state
        except MemdeckError:
            last = self.sound[-1] if self.sound else None
            old, (found, whose, recalled) = {}, _rescued(stored.data, last, self.at)
            action = f"write a new state, with {whose}{'' if recalled else NOT_RECALLED}"
        bundle = self._without_gone(found["bundle"])
        sources = None if self.sources is None else len(self.sources)
        maintenance = fitting(found["maintenance"], self.events, sources, self.memory.archived_numbers())
        if maintenance["recallCursors"] != found["maintenance"]["recallCursors"] and NOT_RECALLED not in action:
            action += NOT_RECALLED
        new = {**found, "bundle": bundle, "bundleHash": digest(bundle), "maintenance": maintenance}
        maintenance["latestCheckpointId"] = self._latest(new)
        if new != old:
            self._write(model.STATE, canonical_bytes(new), action)
        for path, data in files.views_of(self.memory, bundle, new["bundleHash"]):
            with suppress(MemdeckError):
                self._write(path, data, "write what it shows of the bundle")

    def _without_gone(self, bundle: Json) -> Json:
        """Return a bundle without the paths that are gone, and with an entry file that may be one."""
        bundle = model.without_gone(bundle, self.memory.has)
        if is_entry_file(bundle["project"]["recommendedEntryFile"]):
            return bundle
        entry = next(filter(is_entry_file, self.memory.names("")), model.ENTRY_FILES[0])
        return {**bundle, "project": {**bundle["project"], "recommendedEntryFile": entry}}

    def _latest(self, state: Json) -> str:
        """Return the id of the latest checkpoint; plan one where none has the bundle of the state."""
        there = [name for name in self.memory.checkpoint_ids if checkpoint_path(name) not in self.plan.files]
        last = self.sound[-1] if self.sound else {"id": None, "bundle": None}
        if there and there[-1] == last["id"] and state["bundle"] == last["bundle"]:
            return there[-1]
        name, event = self.memory.next_checkpoint(), model.event_id(max(self.events)) if self.events else None
        made = files.checkpoint_of(name, self.at, event, state["bundle"], state["bundleHash"], "repaired")
        self._write(checkpoint_path(name), canonical_bytes(made), "write a checkpoint of the bundle")
        return name


def _without(written: Json, places: set[str], where: str = "") -> Json:
    """Return an object without the values at some dotted places."""
    kept: Json = {}
    for key, value in written.items():
        if f"{where}{key}" not in places:
            kept[key] = _without(value, places, f"{where}{key}.") if isinstance(value, dict) else value
    return kept


def _mended(kind: str, value: Any, fresh: Json) -> Json | None:
    """Return an object of a kind, with fresh values where its own are wrong; None where that does not suffice."""
    if not isinstance(value, dict):
        return None
    wrong = {fault.where.partition(".")[0] for fault in faults_of(kind, value)}
    found = {**value, **{key: fresh[key] for key in wrong if key in fresh}}
    return None if faults_of(kind, found) else found


def _mended_event(line: bytes, before: str) -> Json | None:
    """Return the event of a line in which some values are wrong; `before` is the time of the one above."""
    try:
        value = load(line, model.EVENTS, "state.events.read")
    except MemdeckError:
        return None
    given = value.get("signals") if isinstance(value, dict) else None
    lists = {kind: given.get(kind) if isinstance(given, dict) else None for kind in model.SIGNALS}
    signals = {
        kind: [one for one in texts if not faults_of("text", one)] if isinstance(texts, list) else []
        for kind, texts in lists.items()
    }
    fresh = {"createdAt": before, "contentHash": digest(value), "externalItemId": None, "signals": signals}
    return _mended("event", value, {**fresh, "summary": "A part of this event was damaged"})


def _rescued(data: bytes, last: Json | None, at: str) -> tuple[Json, str, bool]:
    """Return a state with the sound parts of a damaged one, whose bundle it has, and whether it keeps its cursors.

    `last` is the newest sound checkpoint. Without cursors every event would be recalled again. The bundle of an older
    checkpoint lacks what was recalled after it, so it starts without them. MemdeckError if no bundle is left.
    """
    written: Any = {}
    with suppress(MemdeckError):
        written = load(data, model.STATE, "state.json")
    parts = written if isinstance(written, dict) else {}
    sound = {key: parts[key] for key in ("bundle", "provider", "maintenance") if not faults_of(key, parts.get(key))}
    whose = "its own bundle"
    if "bundle" not in sound:
        if last is None:
            raise MemdeckError("state.lost", "there is no bundle, here or in a checkpoint")
        sound["bundle"], whose = last["bundle"], f"the bundle of {last['id']}"
        if "maintenance" in sound and sound["maintenance"]["latestCheckpointId"] != last["id"]:
            del sound["maintenance"]
    found = {**files.fresh_parts(model.PROVIDERS[1]), **sound}
    return files.state_of(found, sound["bundle"], digest(sound["bundle"]), at), whose, "maintenance" in sound
