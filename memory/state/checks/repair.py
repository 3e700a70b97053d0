"""Repair of damaged files: planned first, then done in one transaction; damaged bytes are kept aside."""

from __future__ import annotations

from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING

from memory.document.model import BOM
from memory.errors import MemdeckError, RefusedError
from memory.state.files import schema
from memory.state.files.archive import put_batch
from memory.state.files.config import DEFAULT_BYTES, DEFAULTS, config_faults
from memory.state.files.json_text import canonical_bytes, digest, line_bytes, load, ordered_bytes
from memory.state.files.model import CHECKPOINTS, CONFIG, EVENTS, SOURCES, Json, event_id, number_of, plural
from memory.state.files.reading import StateFiles, checkpoint_path
from memory.state.files.schema import faults_of
from memory.state.files.store import StateStore, StateWriting

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

    `left` are the failures that no repair fixes: missing paths that the bundle names, and files that may not be read or
    written.
    """
    plan = RepairPlan()
    _config(memory, plan)
    sources = _sources(memory, plan)
    events = _events(memory, plan)
    checkpoints = _checkpoints(memory, plan)
    mend_state(memory, plan, sources, events, checkpoints, now)
    plan.left = [one for one in validate(memory, now) if one.level == "fail" and not _answers(plan, one)]
    return plan


def _answers(plan: RepairPlan, finding: Finding) -> bool:
    if finding.code in ("bundle:paths", "validation:freshness", "history:continuity"):
        return False
    if finding.code == "checkpoints:missing":
        return any(path.startswith(CHECKPOINTS) and data is not None for path, data in plan.files.items())
    return finding.file in plan.files


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


def _sources(memory: StateFiles, plan: RepairPlan) -> int | None:
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
    for source in written if isinstance(written, list) else []:
        if not faults_of(schema.SOURCE, source):
            kept.setdefault(source["id"], source)
    plan.keep_aside(SOURCES, stored.data)
    plan.write(SOURCES, canonical_bytes(list(kept.values())), f"keep the {len(kept)} sources that are sound", why)
    return len(kept)


def _events(memory: StateFiles, plan: RepairPlan) -> list[Json] | None:
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
    known = kept.keys() | memory.archived_numbers()
    missing = (number for number in range(min(kept, default=1), max(kept, default=0)) if number not in known)
    plan.lost = [event_id(number) for number in islice(missing, _MOST_LOST)]
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
        if plan.aside:
            put_batch(writing, "repair", DEFAULTS, files=plan.aside, lost=plan.lost)
        return plan, writing.commit(f"repaired {plural(len(plan.files), 'file')}")

    return store.change("state.repair", build, actor=actor, now=now)
