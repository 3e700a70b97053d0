"""The part of a repair that writes a state that fits the other files, and the views that fit the state."""

from __future__ import annotations

from datetime import datetime

from memory.errors import MemdeckError
from memory.state.files.json_text import canonical_bytes, digest, load
from memory.state.files.model import (
    GENERATOR,
    PROVIDERS,
    SCHEMA_VERSION,
    SCOPES,
    STATE,
    Json,
    number_of,
    stamp,
)
from memory.state.files.reading import StateFiles, checkpoint_path
from memory.state.files.schema import faults_of
from memory.state.files.store import entry_path, fresh_maintenance
from memory.state.projections.entry_block import put_block, render_block
from memory.state.projections.files import path_of, render_projections

from .finding import RepairPlan

_OWN, _ANEW = "its own bundle", "; every event counts as not recalled"


def mend_state(
    memory: StateFiles,
    plan: RepairPlan,
    sources: int | None,
    events: list[Json] | None,
    checkpoints: list[Json],
    now: datetime,
) -> None:
    """Plan a state that fits the other files, and the views that fit the state."""
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
        bundle, whose = _rescued(stored.data, "bundle", "bundle"), _OWN
        if bundle is None and checkpoints:
            bundle, whose = checkpoints[-1]["bundle"], f"the bundle of {checkpoints[-1]['id']}"
        if bundle is None:
            return
        # Its sound parts stay: without its cursors every event would be recalled again. An older bundle lacks what was
        # recalled after it.
        provider = _rescued(stored.data, "provider", "provider")
        maintenance = _rescued(stored.data, "maintenance", "maintenance")
        if maintenance and whose != _OWN and maintenance["latestCheckpointId"] != checkpoints[-1]["id"]:
            maintenance = None
        plan.keep_aside(STATE, stored.data)
        new: Json = {
            "schemaVersion": SCHEMA_VERSION,
            "generatorVersion": GENERATOR,
            "provider": provider or {"name": PROVIDERS[1], "binary": PROVIDERS[1], "model": None, "sessionId": None},
            "generatedAt": stamp(now),
            "bundleHash": digest(bundle),
            "bundle": bundle,
            "maintenance": maintenance or fresh_maintenance(),
        }
        action = f"write a state anew, with {whose}{'' if maintenance else _ANEW}"
    else:
        new = {**state, "bundleHash": digest(state["bundle"])}
        action = "write the counts, pointers and the hash that fit what is there"
    maintenance = _maintenance(memory, new["maintenance"], sources, events)
    if maintenance["recallCursors"] != new["maintenance"]["recallCursors"] and _ANEW not in action:
        action += _ANEW
    _latest(memory, plan, new, maintenance, checkpoints, events, now)
    new = {**new, "maintenance": maintenance}
    if state is None or new != state:
        plan.write(STATE, canonical_bytes(new), action, why if state is None else _differs(state, new))
    _views(memory, plan, new)


def _rescued(data: bytes, key: str, kind: str) -> Json | None:
    """Return the part of a damaged state at `key`, None where that part is not sound."""
    try:
        state = load(data, STATE, "state.json", twice=False)
    except MemdeckError:
        return None
    part: Json | None = state.get(key) if isinstance(state, dict) else None
    return None if part is None or faults_of(kind, part) else part


def _differs(state: Json, new: Json) -> str:
    if state["bundleHash"] != new["bundleHash"]:
        return "bundleHash is not the hash of the bundle"
    keys = [key for key, value in new["maintenance"].items() if state["maintenance"].get(key) != value]
    return f"maintenance does not fit: {', '.join(keys)}"


def _maintenance(memory: StateFiles, written: Json, sources: int | None, events: list[Json] | None) -> Json:
    """Return the maintenance part with counts and cursors that fit."""
    cursors = {**written["recallCursors"], **{scope: dict(written["recallCursors"][scope]) for scope in SCOPES}}
    new = {**written, "recallCursors": cursors}
    if sources is not None:
        new["importSourceCount"] = sources
    if events is None:
        return new
    new["historyEventCount"] = len(events)
    highest = max([0, *(number_of(event["id"]) for event in events), *memory.archived_numbers()])
    for cursor in (new, *(cursors[scope] for scope in SCOPES)):
        if number_of(cursor["lastRecalledEventId"]) > highest:
            # How far a recall came is unknown: what waits must not be passed over, what was taken in says nothing new.
            cursor["lastRecalledAt"] = cursor["lastRecalledEventId"] = None
    return new


def _latest(
    memory: StateFiles,
    plan: RepairPlan,
    state: Json,
    maintenance: Json,
    checkpoints: list[Json],
    events: list[Json] | None,
    now: datetime,
) -> None:
    """Set the latest checkpoint of the state; make one where none holds its bundle."""
    there = [name for name in memory.checkpoint_ids if plan.files.get(checkpoint_path(name), b"") is not None]
    if there and checkpoints and there[-1] == checkpoints[-1]["id"] and state["bundle"] == checkpoints[-1]["bundle"]:
        maintenance["latestCheckpointId"] = there[-1]
        return
    name = memory.next_checkpoint()
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
    plan.write(checkpoint_path(name), canonical_bytes(checkpoint), action, why)


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
