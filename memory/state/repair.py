"""What can be mended in damaged files: planned first, then done in one transaction, what is damaged kept aside."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING

from memory.errors import MemdeckError, RefusedError

from . import schema
from .archive import put_batch
from .canonical import canonical_bytes, digest, ordered_bytes
from .checks import validate
from .config import DEFAULT_BYTES, DEFAULTS, config_faults
from .entry_block import put_block, render_block
from .finding import Finding
from .model import (
    CHECKPOINTS,
    CONFIG,
    EVENTS,
    GENERATOR,
    PROVIDERS,
    SCHEMA_VERSION,
    SCOPES,
    SOURCES,
    STATE,
    Json,
    checkpoint_id,
    event_id,
    number_of,
    stamp,
)
from .projections import path_of, render_projections
from .reading import Memory, checkpoint_path, load
from .schema import faults_of
from .store import StateStore, Writing, entry_path, fresh_maintenance

if TYPE_CHECKING:
    from memory.storage import Change

_MOST_LOST = 1000
MOST_FILES = 200
"""How many files one repair changes; a store with more damage is mended in several."""


@dataclass(frozen=True, slots=True)
class Mend:
    """One step of a repair: the file, what is done to it, and the codes of the findings that it answers."""

    file: str
    action: str
    why: str

    def json(self) -> Json:
        """Return it for programs."""
        return {"file": self.file, "action": self.action, "why": self.why}


@dataclass(slots=True)
class Plan:
    """A repair: its steps, the bytes that files get (None: the file goes), and what is kept aside, by its name.

    `lost` are the ids of events that cannot be read in what is kept aside; `left` what no step answers.
    """

    steps: list[Mend] = field(default_factory=list)
    files: dict[str, bytes | None] = field(default_factory=dict)
    aside: list[tuple[str, bytes]] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    left: list[Finding] = field(default_factory=list)

    @property
    def id(self) -> str:
        """What tells this plan from another: the hash of what it would write."""
        told = hashlib.sha256()
        for path, data in sorted(self.files.items()):
            told.update(repr((path, None if data is None else hashlib.sha256(data).hexdigest())).encode())
        return told.hexdigest()

    def json(self) -> Json:
        """Return it for programs."""
        return {"steps": [one.json() for one in self.steps], "left": [one.json() for one in self.left]}


def plan_repair(memory: Memory, now: datetime) -> Plan:
    """Return what a repair would do with the files as they are; nothing is written.

    `left` are the failures that no repair answers: paths that the bundle names and that are not there, and files that
    may not be read or written.
    """
    plan = Plan()
    _config(memory, plan)
    sources = _sources(memory, plan)
    events = _events(memory, plan)
    checkpoints = _checkpoints(memory, plan)
    _state(memory, plan, sources, events, checkpoints, now)
    plan.left = [one for one in validate(memory, now) if one.level == "fail" and not _answers(plan, one)]
    return plan


def _answers(plan: Plan, finding: Finding) -> bool:
    if finding.code in ("bundle:paths", "validation:freshness", "history:continuity"):
        return False
    if finding.code == "checkpoints:missing":
        return any(path.startswith(CHECKPOINTS) and data is not None for path, data in plan.files.items())
    return finding.file in plan.files


def _keep(plan: Plan, path: str, data: bytes) -> None:
    """Keep the bytes of a damaged file aside, under its own name."""
    if data:
        plan.aside.append((f"damaged/{path.replace('/', '+')}", data))


def _config(memory: Memory, plan: Plan) -> None:
    try:
        stored = memory.read(CONFIG)
        if not stored.exists:
            _write(plan, CONFIG, DEFAULT_BYTES, "write the default settings", "the file is missing")
            return
        written = load(stored.data, CONFIG, "state.config.json")
    except MemdeckError as error:
        if error.code.startswith("file."):
            return
        _keep(plan, CONFIG, memory.read(CONFIG).data)
        _write(plan, CONFIG, DEFAULT_BYTES, "write the default settings", error.message)
        return
    faults = config_faults(written)
    if not faults:
        return
    _keep(plan, CONFIG, stored.data)
    mended = DEFAULT_BYTES
    if isinstance(written, dict):
        kept = _without(written, {fault.where for fault in faults})
        mended = DEFAULT_BYTES if config_faults(kept) else ordered_bytes(kept)
    _write(plan, CONFIG, mended, "let the settings go that are wrong, so that the defaults count", str(faults[0]))


def _without(written: Json, places: set[str], where: str = "") -> Json:
    kept: Json = {}
    for key, value in written.items():
        place = f"{where}.{key}" if where else key
        if place not in places:
            kept[key] = _without(value, places, place) if isinstance(value, dict) else value
    return kept


def _write(plan: Plan, path: str, data: bytes, action: str, why: str) -> None:
    plan.files[path] = data
    plan.steps.append(Mend(path, action, why))


def _sources(memory: Memory, plan: Plan) -> int | None:
    try:
        stored = memory.read(SOURCES)
    except MemdeckError:
        return None
    if not stored.exists:
        _write(plan, SOURCES, canonical_bytes([]), "write an empty list of sources", "the file is missing")
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
    _keep(plan, SOURCES, stored.data)
    _write(plan, SOURCES, canonical_bytes(list(kept.values())), f"keep the {len(kept)} sources that are sound", why)
    return len(kept)


def _events(memory: Memory, plan: Plan) -> list[Json] | None:
    try:
        stored = memory.read(EVENTS)
        if not stored.exists:
            _write(plan, EVENTS, b"", "begin an empty history", "the file is missing")
            return []
        found = memory.found_events
    except MemdeckError:
        return None
    lines = stored.data.split(b"\n")
    kept: dict[int, tuple[Json, bytes]] = {}
    twice = 0
    for event, line in zip(found.items, found.lines, strict=True):
        number = number_of(event["id"])
        twice += number in kept
        kept.setdefault(number, (event, lines[line - 1]))
    ordered = [kept[number] for number in sorted(kept)]
    if (
        not found.bad
        and not twice
        and ordered == [(e, lines[n - 1]) for e, n in zip(found.items, found.lines, strict=True)]
    ):
        return list(found.items)
    _keep(plan, EVENTS, stored.data)
    data = b"".join(line + b"\n" for _, line in ordered)
    why = f"line {found.bad[0].line} {found.bad[0].why}" if found.bad else "ids are there twice, or out of order"
    known = kept.keys() | {number_of(one) for batch in memory.batches for one in _archived(memory, batch)}
    missing = (number for number in range(min(kept, default=1), max(kept, default=0)) if number not in known)
    plan.lost = [event_id(number) for number in islice(missing, _MOST_LOST)]
    _write(plan, EVENTS, data, f"keep the {len(ordered)} events that can be read, in the order of their ids", why)
    return [event for event, _ in ordered]


def _archived(memory: Memory, batch: str) -> list[str]:
    try:
        ids: list[str] = memory.manifest(batch)["archivedEventIds"]
    except MemdeckError:
        return []
    return ids


def _checkpoints(memory: Memory, plan: Plan) -> list[Json]:
    """Plan that checkpoints go that are damaged; return those that stay, the oldest first."""
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
            _keep(plan, path, memory.read(path).data)
            plan.files[path] = None
            plan.steps.append(Mend(path, "take the checkpoint away", why))
    return kept


def _state(
    memory: Memory,
    plan: Plan,
    sources: int | None,
    events: list[Json] | None,
    checkpoints: list[Json],
    now: datetime,
) -> None:
    """Plan a state that fits what is there, and the views that fit the state."""
    try:
        stored = memory.read(STATE)
    except MemdeckError:
        return
    state, why = None, ""
    try:
        state = memory.state
    except MemdeckError as error:
        why = error.message
    if state is None:
        bundle = _rescued(stored.data) or (checkpoints[-1]["bundle"] if checkpoints else None)
        if bundle is None:
            return
        _keep(plan, STATE, stored.data)
        new: Json = {
            "schemaVersion": SCHEMA_VERSION,
            "generatorVersion": GENERATOR,
            "provider": {"name": PROVIDERS[1], "binary": PROVIDERS[1], "model": None, "sessionId": None},
            "generatedAt": stamp(now),
            "bundleHash": digest(bundle),
            "bundle": bundle,
            "maintenance": fresh_maintenance(),
        }
        action = "write a state anew, from its own bundle or the latest sound checkpoint"
    else:
        new = {**state, "bundleHash": digest(state["bundle"])}
        action = "write the counts, pointers and the hash that fit what is there"
    maintenance = _maintenance(memory, new["maintenance"], sources, events)
    _latest(memory, plan, new, maintenance, checkpoints, events, now)
    new = {**new, "maintenance": maintenance}
    if state is None or new != state:
        _write(plan, STATE, canonical_bytes(new), action, why or _differs(state, new))
    _views(memory, plan, new)


def _rescued(data: bytes) -> Json | None:
    """Return the bundle of a state that is wrong elsewhere, None where there is none that is sound."""
    try:
        state = load(data, STATE, "state.json", twice=False)
    except MemdeckError:
        return None
    bundle = state.get("bundle") if isinstance(state, dict) else None
    return None if bundle is None or faults_of(schema.BUNDLE, bundle) else bundle


def _differs(state: Json | None, new: Json) -> str:
    if state is None:
        return "there is none"
    if state["bundleHash"] != new["bundleHash"]:
        return "bundleHash is not the hash of the bundle"
    keys = [key for key, value in new["maintenance"].items() if state["maintenance"].get(key) != value]
    return f"maintenance does not fit: {', '.join(keys)}"


def _maintenance(memory: Memory, written: Json, sources: int | None, events: list[Json] | None) -> Json:
    """Return the maintenance part with counts and cursors that fit."""
    new = {**written, "recallCursors": dict(written["recallCursors"])}
    if sources is not None:
        new["importSourceCount"] = sources
    if events is None:
        return new
    new["historyEventCount"] = len(events)
    ids = [number_of(event["id"]) for event in events]
    ids += [number_of(one) for batch in memory.batches for one in _archived(memory, batch)]
    highest = max(ids, default=0)
    for scope in SCOPES:
        cursor = new["recallCursors"][scope]
        if number_of(cursor["lastRecalledEventId"]) > highest:
            new["recallCursors"][scope] = {**cursor, "lastRecalledEventId": event_id(highest) if highest else None}
    if number_of(new["lastRecalledEventId"]) > highest:
        new["lastRecalledEventId"] = event_id(highest) if highest else None
    return new


def _latest(
    memory: Memory,
    plan: Plan,
    state: Json,
    maintenance: Json,
    checkpoints: list[Json],
    events: list[Json] | None,
    now: datetime,
) -> None:
    """Let the state name its latest checkpoint; make one where there is none of its bundle."""
    there = [name for name in memory.checkpoint_ids if plan.files.get(checkpoint_path(name), b"") is not None]
    if there and checkpoints and there[-1] == checkpoints[-1]["id"] and state["bundle"] == checkpoints[-1]["bundle"]:
        maintenance["latestCheckpointId"] = there[-1]
        return
    name = checkpoint_id(memory.highest_checkpoint() + 1)
    try:
        memory.read(checkpoint_path(name))
    except MemdeckError:  # a folder of checkpoints that leads elsewhere
        return
    last = events[-1]["id"] if events else None
    checkpoint = {
        "id": name,
        "createdAt": stamp(now),
        "eventId": last,
        "bundleHash": state["bundleHash"],
        "bundle": state["bundle"],
        "summary": "repaired",
    }
    maintenance["latestCheckpointId"] = name
    action, why = "write a checkpoint of the bundle", "the latest one is not of it"
    _write(plan, checkpoint_path(name), canonical_bytes(checkpoint), action, why)


def _views(memory: Memory, plan: Plan, state: Json) -> None:
    """Plan projections and entry block that are those of the bundle."""
    for name, text in render_projections(state["bundle"], state["bundleHash"]).items():
        path, data = path_of(name), text.encode()
        try:
            stored = memory.read(path)
        except MemdeckError:
            continue
        if stored.base != data:
            _keep(plan, path, stored.data)
            _write(plan, path, data, "write the projection of the bundle", "it is missing, or shows something else")
    try:
        path = entry_path(memory.root, state["bundle"])
        stored = memory.read(path)
    except MemdeckError:
        return
    data = put_block(stored.data, render_block(state["bundleHash"]))
    if stored.base != data:
        _write(plan, path, data, "put the entry block of the bundle there", "it is missing, or of another bundle")


def repair(store: StateStore, shown: Plan, *, actor: str, now: datetime) -> tuple[Plan, Change]:
    """Do what a plan says, in one transaction; `memdeck undo` takes it back.

    RefusedError `state.repair.stale` where another plan would be made by now.
    """

    def build(writing: Writing) -> tuple[Plan, Change]:
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
        return plan, writing.commit(f"repaired {len(plan.files)} files")

    return store.change("state repair", build, actor=actor, now=now)
