"""The part of a repair that writes a state which fits what is there, and the views that fit the state."""

from __future__ import annotations

from datetime import datetime

from memory.errors import MemdeckError

from .files import schema
from .files.canonical import canonical_bytes, digest
from .files.json_text import load
from .files.model import (
    GENERATOR,
    PROVIDERS,
    SCHEMA_VERSION,
    SCOPES,
    STATE,
    Json,
    checkpoint_id,
    event_id,
    number_of,
    stamp,
)
from .files.reading import StateFiles, checkpoint_path
from .files.schema import faults_of
from .files.store import entry_path, fresh_maintenance
from .projections.entry_block import put_block, render_block
from .projections.files import path_of, render_projections
from .repair_plan import RepairPlan, archived_ids, keep_aside, write


def mend_state(
    memory: StateFiles,
    plan: RepairPlan,
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
        bundle, whose = _rescued(stored.data, "bundle", schema.BUNDLE), "its own bundle"
        if bundle is None and checkpoints:
            bundle, whose = checkpoints[-1]["bundle"], f"the bundle of {checkpoints[-1]['id']}"
        if bundle is None:
            return
        # What is sound of it stays: without its cursors every event would wait for a recall again.
        provider = _rescued(stored.data, "provider", schema.PROVIDER)
        maintenance = _rescued(stored.data, "maintenance", schema.MAINTENANCE)
        keep_aside(plan, STATE, stored.data)
        new: Json = {
            "schemaVersion": SCHEMA_VERSION,
            "generatorVersion": GENERATOR,
            "provider": provider or {"name": PROVIDERS[1], "binary": PROVIDERS[1], "model": None, "sessionId": None},
            "generatedAt": stamp(now),
            "bundleHash": digest(bundle),
            "bundle": bundle,
            "maintenance": maintenance or fresh_maintenance(),
        }
        cursors = "" if maintenance else "; every event counts as not recalled"
        action = f"write a state anew, with {whose}{cursors}"
    else:
        new = {**state, "bundleHash": digest(state["bundle"])}
        action = "write the counts, pointers and the hash that fit what is there"
    maintenance = _maintenance(memory, new["maintenance"], sources, events)
    _latest(memory, plan, new, maintenance, checkpoints, events, now)
    new = {**new, "maintenance": maintenance}
    if state is None or new != state:
        write(plan, STATE, canonical_bytes(new), action, why or _differs(state, new))
    _views(memory, plan, new)


def _rescued(data: bytes, key: str, rule: schema.Rule) -> Json | None:
    """Return a part of a state that is wrong elsewhere, None where it has none that is sound."""
    try:
        state = load(data, STATE, "state.json", twice=False)
    except MemdeckError:
        return None
    part: Json | None = state.get(key) if isinstance(state, dict) else None
    return None if part is None or faults_of(rule, part) else part


def _differs(state: Json | None, new: Json) -> str:
    if state is None:
        return "there is none"
    if state["bundleHash"] != new["bundleHash"]:
        return "bundleHash is not the hash of the bundle"
    keys = [key for key, value in new["maintenance"].items() if state["maintenance"].get(key) != value]
    return f"maintenance does not fit: {', '.join(keys)}"


def _maintenance(memory: StateFiles, written: Json, sources: int | None, events: list[Json] | None) -> Json:
    """Return the maintenance part with counts and cursors that fit."""
    new = {**written, "recallCursors": dict(written["recallCursors"])}
    if sources is not None:
        new["importSourceCount"] = sources
    if events is None:
        return new
    new["historyEventCount"] = len(events)
    ids = [number_of(event["id"]) for event in events]
    ids += [number_of(one) for batch in memory.batches for one in archived_ids(memory, batch)]
    highest = max(ids, default=0)
    for scope in SCOPES:
        cursor = new["recallCursors"][scope]
        if number_of(cursor["lastRecalledEventId"]) > highest:
            new["recallCursors"][scope] = {**cursor, "lastRecalledEventId": event_id(highest) if highest else None}
    if number_of(new["lastRecalledEventId"]) > highest:
        new["lastRecalledEventId"] = event_id(highest) if highest else None
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
    write(plan, checkpoint_path(name), canonical_bytes(checkpoint), action, why)


def _views(memory: StateFiles, plan: RepairPlan, state: Json) -> None:
    """Plan projections and entry block that are those of the bundle."""
    for name, text in render_projections(state["bundle"], state["bundleHash"]).items():
        path, data = path_of(name), text.encode()
        try:
            stored = memory.read(path)
        except MemdeckError:
            continue
        if stored.base != data:
            keep_aside(plan, path, stored.data)
            write(plan, path, data, "write the projection of the bundle", "it is missing, or shows something else")
    try:
        path = entry_path(memory.root, state["bundle"])
        stored = memory.read(path)
    except MemdeckError:
        return
    data = put_block(stored.data, render_block(state["bundleHash"]))
    if stored.base != data:
        write(plan, path, data, "put the entry block of the bundle there", "it is missing, or of another bundle")
