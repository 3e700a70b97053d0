"""Repair of damaged files: planned first, then done in one transaction; damaged bytes are kept aside."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING, Any

from memory.document.model import BOM
from memory.errors import MemdeckError, RefusedError
from memory.state.files.archive import put_batch
from memory.state.files.config import DEFAULT_BYTES, DEFAULTS, config_faults
from memory.state.files.json_text import canonical_bytes, digest, line_bytes, load, ordered_bytes
from memory.state.files.model import CONFIG, EVENTS, SIGNALS, SOURCES, Json, event_id, number_of, plural, stamp
from memory.state.files.reading import StateFiles, checkpoint_path
from memory.state.files.schema import faults_of
from memory.state.files.store import StateStore, StateWriting
from memory.storage.safe_open import MISSING, Stored

from .check import validate
from .finding import Finding, Mend, RepairPlan
from .repair_state import mend_state

if TYPE_CHECKING:
    from memory.storage import Change

_MOST_LOST = 1000
_MOST_TOLD = 8
MOST_FILES = 200
"""How many files one repair changes; a store with more damage needs several repairs."""


def plan_repair(memory: StateFiles, now: datetime) -> RepairPlan:
    """Return what a repair would do with the present files; nothing is written.

    `left` are the failures that are there after it: missing paths that the bundle names, and files that may not be read
    or written.
    """
    plan = RepairPlan()
    _config(memory, plan)
    sources = _sources(memory, plan, now)
    events = _events(memory, plan, now)
    checkpoints = _checkpoints(memory, plan)
    mend_state(memory, plan, sources, events, checkpoints, now)
    plan.left = _failures(memory, plan, now)
    gaps = [one for one in plan.left if one.code == "history:continuity"]
    if gaps and events:
        numbers = {number_of(event["id"]) for event in events}
        plan.lost = _missing(memory, numbers)
        plan.steps.append(
            Mend(EVENTS, f"record that {plural(len(plan.lost), 'event')} cannot be found", gaps[0].message)
        )
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
            found = set(memory.names(folder))
            for path, data in plan.files.items():
                where, _, name = path.rpartition("/")
                if where == folder:
                    found = found - {name} if data is None else found | {name}
            return tuple(sorted(found))

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
        stored = memory.read(CONFIG)
        if not stored.exists:
            plan.write(CONFIG, DEFAULT_BYTES, "write the default settings", "the file is missing")
            return
        written = load(stored.data, CONFIG, "state.config.json")
    except MemdeckError as error:
        if error.code.startswith("file."):
            return
        plan.keep_aside(CONFIG, memory.read(CONFIG).data)
        plan.write(CONFIG, DEFAULT_BYTES, "write the default settings", error.message)
        return
    faults = config_faults(written)
    if not faults:
        return
    plan.keep_aside(CONFIG, stored.data)
    mended = DEFAULT_BYTES
    if isinstance(written, dict):
        kept = _without(written, {fault.where for fault in faults})
        mended = DEFAULT_BYTES if config_faults(kept) else ordered_bytes(kept)
    more = f", and {len(faults) - _MOST_TOLD} more" if len(faults) > _MOST_TOLD else ""
    why = "; ".join(map(str, faults[:_MOST_TOLD])) + more
    plan.write(CONFIG, mended, "let the settings go that are wrong, so that the defaults count", why)


def _without(written: Json, places: set[str], where: str = "") -> Json:
    kept: Json = {}
    for key, value in written.items():
        place = f"{where}.{key}" if where else key
        if place not in places:
            kept[key] = _without(value, places, place) if isinstance(value, dict) else value
    return kept


def _sources(memory: StateFiles, plan: RepairPlan, now: datetime) -> int | None:
    try:
        stored = memory.read(SOURCES)
    except MemdeckError:
        return None
    if not stored.exists:
        plan.write(SOURCES, canonical_bytes([]), "write an empty list of sources", "the file is missing")
        return 0
    try:
        return len(memory.sources)
    except MemdeckError as error:
        why = error.message
    kept: dict[str, Json] = {}
    try:
        written = load(stored.data, SOURCES, "state.sources.json")
    except MemdeckError:
        written = []
    at = stamp(now)
    fresh = {"createdAt": at, "updatedAt": at, "lastSyncedAt": None, "lastSyncStatus": "never", "lastSyncError": None}
    for one in written if isinstance(written, list) else []:
        source = _mended("source", one, {**fresh, "lastImportedCount": 0})
        if source is not None:
            kept.setdefault(source["id"], source)
    plan.keep_aside(SOURCES, stored.data)
    plan.write(SOURCES, canonical_bytes(list(kept.values())), f"keep the {len(kept)} sources that are sound", why)
    return len(kept)


def _mended(kind: str, value: Any, fresh: Json) -> Json | None:
    """Return an object of a kind, with fresh values where its own are wrong; None where that does not suffice."""
    wrong = {fault.where.partition(".")[0] for fault in faults_of(kind, value)}
    if not wrong:
        return value  # type: ignore[no-any-return]
    if not isinstance(value, dict):
        return None
    mended = {**value, **{key: fresh[key] for key in wrong if key in fresh}}
    return None if faults_of(kind, mended) else mended


def _mended_event(line: bytes, before: str) -> Json | None:
    """Return the event of a line in which some values are wrong; `before` is the time of the one above."""
    try:
        value = load(line, EVENTS, "state.events.read", twice=False)
    except MemdeckError:
        return None
    given = value.get("signals") if isinstance(value, dict) else None
    signals = {kind: given.get(kind) if isinstance(given, dict) else None for kind in SIGNALS}
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
    try:
        stored = memory.read(EVENTS)
        if not stored.exists:
            plan.write(EVENTS, b"", "begin an empty history", "the file is missing")
            return []
        found = memory.found_events
    except MemdeckError:
        return None
    lines = stored.data.removeprefix(BOM).split(b"\n")
    kept: dict[int, tuple[Json, bytes]] = {}
    twice: list[Json] = []
    for event, line in zip(found.items, found.lines, strict=True):
        number = number_of(event["id"])
        if kept.setdefault(number, (event, lines[line - 1]))[0] != event:
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
    plan.keep_aside(EVENTS, stored.data)
    data = b"".join(line + b"\n" for _, line in ordered)
    why = f"line {found.bad[0].line} {found.bad[0].why}" if found.bad else "ids are there twice, or out of order"
    plan.lost = _missing(memory, kept)
    plan.write(EVENTS, data, f"keep the {len(ordered)} events that can be read, in the order of their ids", why)
    return [event for event, _ in ordered]


def _checkpoints(memory: StateFiles, plan: RepairPlan) -> list[Json]:
    """Plan to remove damaged checkpoints; return the remaining ones, the oldest first."""
    kept = []
    for name in memory.checkpoint_ids:
        path = checkpoint_path(name)
        try:
            checkpoint = memory.checkpoint(name)
            why = (
                "" if digest(checkpoint["bundle"]) == checkpoint["bundleHash"] else "its hash is not that of its bundle"
            )
        except MemdeckError as error:
            if error.code.startswith("file."):
                continue
            why = error.message
            checkpoint = {}
        if not why:
            kept.append(checkpoint)
        elif len(plan.files) < MOST_FILES:
            plan.keep_aside(path, memory.read(path).data)
            plan.files[path] = None
            plan.steps.append(Mend(path, "take the checkpoint away", why))
    return kept


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
