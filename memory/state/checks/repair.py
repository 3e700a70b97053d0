"""Repair of damaged files: planned first, then done in one transaction; damaged bytes are kept aside."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING, Any

from memory.document.model import BOM
from memory.errors import MemdeckError, RefusedError
from memory.state.files import model
from memory.state.files.archive import put_batch
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
from memory.storage.safe_open import MISSING, Stored

from .check import leads_out, validate
from .finding import Finding, Mend, RepairPlan

if TYPE_CHECKING:
    from memory.storage import Change

_MOST_LOST = 1000
_MOST_TOLD = 8
MOST_FILES = 200
"""How many files one repair changes; a store with more damage needs several repairs."""
_NOT_RECALLED = "; every event counts as not recalled"


def plan_repair(memory: StateFiles, now: datetime) -> RepairPlan:
    """Return what a repair would do with the present files; nothing is written.

    `left` are the failures that are there after it: files that may not be read or written, and a state of which neither
    a bundle nor a checkpoint is left.
    """
    plan = RepairPlan()
    _config(memory, plan)
    sources = _sources(memory, plan, now)
    events = _events(memory, plan, now)
    checkpoints = _checkpoints(memory, plan)
    _state(memory, plan, sources, events, checkpoints, now)
    plan.left = _failures(memory, plan, now)
    gaps = [one for one in plan.left if one.code == "history:continuity"]
    if gaps and events:
        plan.lost = _missing(memory, {number_of(event["id"]) for event in events})
        action = f"record that {plural(len(plan.lost), 'event')} cannot be found"
        plan.steps.append(Mend(model.EVENTS, action, gaps[0].message))
        plan.left = _failures(memory, plan, now)
    return plan


def _failures(memory: StateFiles, plan: RepairPlan, now: datetime) -> list[Finding]:
    return [one for one in validate(_Planned(memory, plan), now) if one.level == "fail"]


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
            here = {path.rpartition("/")[2] for path in plan.files if path.rpartition("/")[0] == folder}
            made = {name for name in here if plan.files[f"{folder}/{name}"] is not None}
            return tuple(sorted({*memory.names(folder)} - here | made))

        super().__init__(memory.root, read, names, {})
        self._made = {path for path, data in plan.files.items() if data is not None}
        self._lost = frozenset(map(number_of, plan.lost))

    def has(self, path: str) -> bool:
        """Return whether a path exists, or is made by the repair."""
        return path in self._made or super().has(path)

    def archived_numbers(self) -> frozenset[int]:
        """Return the numbers of the archived events, and of those that the repair records as lost."""
        return super().archived_numbers() | self._lost


def _config(memory: StateFiles, plan: RepairPlan) -> None:
    try:
        stored = memory.read(model.CONFIG)
        if not stored.exists:
            plan.write(model.CONFIG, DEFAULT_BYTES, "write the default settings", "the file is missing")
            return
        written = load(stored.data, model.CONFIG, "state.config.json")
    except MemdeckError as error:
        if not error.code.startswith("file."):
            plan.keep_aside(model.CONFIG, stored.data)
            plan.write(model.CONFIG, DEFAULT_BYTES, "write the default settings", error.message)
        return
    faults = config_faults(written)
    if faults:
        kept = _without(written, {fault.where for fault in faults}) if isinstance(written, dict) else DEFAULTS
        more = f", and {len(faults) - _MOST_TOLD} more" if len(faults) > _MOST_TOLD else ""
        why = "; ".join(map(str, faults[:_MOST_TOLD])) + more
        plan.keep_aside(model.CONFIG, stored.data)
        plan.write(
            model.CONFIG, ordered_bytes(kept), "let the settings go that are wrong, so that the defaults count", why
        )


def _without(written: Json, places: set[str], where: str = "") -> Json:
    kept: Json = {}
    for key, value in written.items():
        place = f"{where}.{key}" if where else key
        if place not in places:
            kept[key] = _without(value, places, place) if isinstance(value, dict) else value
    return kept


def _sources(memory: StateFiles, plan: RepairPlan, now: datetime) -> int | None:
    """Plan a list of sources that are sound; return how many there are, None where they cannot be read."""
    try:
        stored = memory.read(model.SOURCES)
    except MemdeckError:
        return None
    if not stored.exists:
        plan.write(model.SOURCES, canonical_bytes([]), "write an empty list of sources", "the file is missing")
        return 0
    why = "a source leads out of the workspace"
    kept: dict[str, Json] = {}
    written: Any = None
    try:
        written = load(stored.data, model.SOURCES, "state.sources.json")
        _ = memory.sources
    except MemdeckError as error:
        why = error.message
    fresh = {"createdAt": stamp(now), "updatedAt": stamp(now), **NEVER_SYNCED}
    for one in written if isinstance(written, list) else []:
        source = _mended("source", one, fresh)
        if source is not None and not leads_out(source["path"]):
            kept.setdefault(source["id"], source)
    if [*kept.values()] != written:
        plan.keep_aside(model.SOURCES, stored.data)
        plan.write(
            model.SOURCES, canonical_bytes([*kept.values()]), f"keep the {len(kept)} sources that are sound", why
        )
    return len(kept)


def _mended(kind: str, value: Any, fresh: Json) -> Json | None:
    """Return an object of a kind, with fresh values where its own are wrong; None where that does not suffice."""
    wrong = {fault.where.partition(".")[0] for fault in faults_of(kind, value)}
    if not isinstance(value, dict):
        return None
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


def _missing(memory: StateFiles, kept: Collection[int]) -> list[str]:
    known = memory.archived_numbers().union(kept)
    numbers = (number for number in range(min(kept, default=1), max(kept, default=0)) if number not in known)
    return [event_id(number) for number in islice(numbers, _MOST_LOST)]


def _events(memory: StateFiles, plan: RepairPlan, now: datetime) -> list[Json] | None:
    """Plan a history of the events that can be read; return these, None where the file cannot be read."""
    try:
        stored = memory.read(model.EVENTS)
        if not stored.exists:
            plan.write(model.EVENTS, b"", "begin an empty history", "the file is missing")
            return []
        found = memory.found_events
    except MemdeckError:
        return None
    lines = stored.data.removeprefix(BOM).split(b"\n")
    kept: dict[int, tuple[Json, bytes]] = {}
    twice: list[Json] = []
    for event, line in zip(found.items, found.lines, strict=True):
        if kept.setdefault(number_of(event["id"]), (event, lines[line - 1]))[0] != event:
            twice.append(event)
    for bad in found.bad:
        above = [event["createdAt"] for event, at in zip(found.items, found.lines, strict=True) if at < bad.line]
        mended = _mended_event(lines[bad.line - 1], above[-1] if above else stamp(now))
        if mended is not None:
            kept.setdefault(number_of(mended["id"]), (mended, line_bytes(mended).rstrip(b"\n")))
    highest = max([0, *kept, *memory.archived_numbers()])
    for number, event in enumerate(twice, highest + 1):
        # Two that were made at once, on two branches: the second waits behind all others.
        new = {**event, "id": event_id(number)}
        kept[number] = (new, line_bytes(new).rstrip(b"\n"))
    ordered = [kept[number] for number in sorted(kept)]
    if not found.bad and ordered == [(e, lines[n - 1]) for e, n in zip(found.items, found.lines, strict=True)]:
        return list(found.items)
    plan.keep_aside(model.EVENTS, stored.data)
    data = b"".join(line + b"\n" for _, line in ordered)
    why = f"line {found.bad[0].line} {found.bad[0].why}" if found.bad else "ids are there twice, or out of order"
    plan.lost = _missing(memory, kept)
    plan.write(model.EVENTS, data, f"keep the {len(ordered)} events that can be read, in the order of their ids", why)
    return [event for event, _ in ordered]


def _checkpoints(memory: StateFiles, plan: RepairPlan) -> list[Json]:
    """Plan to remove damaged checkpoints; return the remaining ones, the oldest first."""
    kept = []
    for name in memory.checkpoint_ids:
        path = checkpoint_path(name)
        try:
            checkpoint = memory.checkpoint(name)
            if digest(checkpoint["bundle"]) == checkpoint["bundleHash"]:
                kept.append(checkpoint)
                continue
            why = "its hash is not that of its bundle"
        except MemdeckError as error:
            if error.code.startswith("file."):
                continue
            why = error.message
        if len(plan.files) < MOST_FILES:
            plan.keep_aside(path, memory.read(path).data)
            plan.files[path] = None
            plan.steps.append(Mend(path, "take the checkpoint away", why))
    return kept


# -- the state, and the views that fit it -----------------------------------------------------------------------


def _state(
    memory: StateFiles,
    plan: RepairPlan,
    sources: int | None,
    events: list[Json] | None,
    checkpoints: list[Json],
    now: datetime,
) -> None:
    """Plan a state that fits the other files, and the views that fit the state."""
    state: Json | None = None
    why = ""
    action = "write the counts, pointers and the hash that fit what is there"
    try:
        stored = memory.read(model.STATE)
        new = state = memory.state
    except MemdeckError as error:
        if error.code.startswith("file."):
            return
        rescued = _rescued(stored.data, checkpoints, now)
        if rescued is None:
            return
        (new, action), why = rescued, error.message
        plan.keep_aside(model.STATE, stored.data)
    bundle = _without_gone(memory, new["bundle"])
    if bundle != new["bundle"]:
        action, why = f"{action}, without the paths that are gone", why or "the bundle names paths that are not there"
    new = {**new, "bundle": bundle, "bundleHash": digest(bundle)}
    maintenance = _maintenance(memory, new["maintenance"], sources, events)
    if maintenance["recallCursors"] != new["maintenance"]["recallCursors"] and _NOT_RECALLED not in action:
        action += _NOT_RECALLED
    maintenance["latestCheckpointId"] = _latest(memory, plan, new, checkpoints, events, now)
    new["maintenance"] = maintenance
    if new != state:
        plan.write(model.STATE, canonical_bytes(new), action, why or _differs(state or {}, new))
    _views(memory, plan, new)


def _rescued(data: bytes, checkpoints: list[Json], now: datetime) -> tuple[Json, str] | None:
    """Return a state with the sound parts of a damaged one, and what is done; None where no bundle is left.

    Its cursors are kept: without them every event would be recalled again. The bundle of an older checkpoint lacks what
    was recalled after it, so it starts without cursors.
    """
    try:
        written = load(data, model.STATE, "state.json", twice=False)
    except MemdeckError:
        written = {}
    parts = written if isinstance(written, dict) else {}
    sound: Json = {
        key: parts[key] for key in ("bundle", "provider", "maintenance") if not faults_of(key, parts.get(key))
    }
    whose = "its own bundle"
    if "bundle" not in sound:
        if not checkpoints:
            return None
        last = checkpoints[-1]
        sound["bundle"], whose = last["bundle"], f"the bundle of {last['id']}"
        if "maintenance" in sound and sound["maintenance"]["latestCheckpointId"] != last["id"]:
            del sound["maintenance"]
    parts = {**fresh_parts(model.PROVIDERS[1]), **sound}
    state = state_of(parts, sound["bundle"], digest(sound["bundle"]), stamp(now))
    return state, f"write a state anew, with {whose}{'' if 'maintenance' in sound else _NOT_RECALLED}"


def _without_gone(memory: StateFiles, bundle: Json) -> Json:
    """Return a bundle without the paths that are gone, and with an entry file that may be one."""
    bundle = without_gone(bundle, memory.has)
    if is_entry_file(bundle["project"]["recommendedEntryFile"]):
        return bundle
    there = {name.lower(): name for name in memory.names("")}
    entry = next((there[name.lower()] for name in model.ENTRY_FILES if name.lower() in there), model.ENTRY_FILES[0])
    return {**bundle, "project": {**bundle["project"], "recommendedEntryFile": entry}}


def _differs(state: Json, new: Json) -> str:
    if state["bundleHash"] != new["bundleHash"]:
        return "bundleHash is not the hash of the bundle"
    keys = [key for key, value in new["maintenance"].items() if state["maintenance"].get(key) != value]
    return f"maintenance does not fit: {', '.join(keys)}"


def _maintenance(memory: StateFiles, written: Json, sources: int | None, events: list[Json] | None) -> Json:
    """Return the maintenance part with counts and cursors that fit."""
    cursors = {**written["recallCursors"], **{scope: dict(written["recallCursors"][scope]) for scope in model.SCOPES}}
    new = {**written, "recallCursors": cursors}
    if sources is not None:
        new["importSourceCount"] = sources
    if events is None:
        return new
    new["historyEventCount"] = len(events)
    highest = max([0, *(number_of(event["id"]) for event in events), *memory.archived_numbers()])
    for cursor in (new, *(cursors[scope] for scope in model.SCOPES)):
        if number_of(cursor["lastRecalledEventId"]) > highest:
            # How far a recall came is unknown: what waits must not be passed over, what was taken in says nothing new.
            cursor["lastRecalledAt"] = cursor["lastRecalledEventId"] = None
    return new


def _latest(
    memory: StateFiles,
    plan: RepairPlan,
    state: Json,
    checkpoints: list[Json],
    events: list[Json] | None,
    now: datetime,
) -> str | None:
    """Return the id of the latest checkpoint; plan one where none holds the bundle of the state."""
    there = [name for name in memory.checkpoint_ids if plan.files.get(checkpoint_path(name), b"") is not None]
    if there and checkpoints and there[-1] == checkpoints[-1]["id"] and state["bundle"] == checkpoints[-1]["bundle"]:
        return there[-1]
    name = memory.next_checkpoint()
    try:
        memory.read(checkpoint_path(name))
    except MemdeckError:  # a folder of checkpoints that leads elsewhere
        return state["maintenance"]["latestCheckpointId"]  # type: ignore[no-any-return]
    event = events[-1]["id"] if events else None
    checkpoint = checkpoint_of(name, stamp(now), event, state["bundle"], state["bundleHash"], "repaired")
    action, why = "write a checkpoint of the bundle", "the latest one is not of it"
    plan.write(checkpoint_path(name), canonical_bytes(checkpoint), action, why)
    return name


def _views(memory: StateFiles, plan: RepairPlan, state: Json) -> None:
    """Plan the projections and the entry block of the bundle."""
    for name, text in render_projections(state["bundle"], state["bundleHash"]).items():
        path, data = path_of(name), text.encode()
        try:
            stored = memory.read(path)
        except MemdeckError:
            continue
        if stored.base != data:
            plan.keep_aside(path, stored.data)
            plan.write(path, data, "write the projection of the bundle", "it is missing, or shows something else")
    try:
        path = entry_path(memory.root, state["bundle"])
        stored = memory.read(path)
    except MemdeckError:
        return
    data = put_block(stored.data, render_block(state["bundleHash"]))
    if stored.base != data:
        plan.write(path, data, "put the entry block of the bundle there", "it is missing, or of another bundle")


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
