"""The operations on sessions: append, end, ledger, replay, prune, repair."""

from __future__ import annotations

import hashlib

from memory.base.secrets import masked
from memory.curated.curated import Curated
from memory.curated.model import Json
from memory.curated.providers.calls import call as ask
from memory.curated.sessions.ledger import SessionLedger, append, end, events_of, read
from memory.curated.sessions.places import EVENTS, LEDGER, SessionFolder, find_session
from memory.curated.sessions.upkeep import prune, repair
from memory.errors import MemdeckError

from .operation import OperationCall


def appended(curated: Curated, args: Json, call: OperationCall) -> Json:
    """Add events to a running session."""
    rows = events_of(args["content"])
    count = append(curated, args["session_id"], rows, args, actor=call.actor, now=call.now)
    return {"session_id": args["session_id"], "appended": len(rows), "events": count}


def ended(curated: Curated, args: Json, call: OperationCall) -> Json:
    """Make the ledger of a session."""
    place = end(curated, args["session_id"], actor=call.actor, now=call.now)
    ask(curated, "session_end", call.now, place.id, place.workspace_id)
    return {"ledger": _meta(*_read(place))}


def _read(place: SessionFolder) -> tuple[SessionFolder, SessionLedger, bytes, bool]:
    data = place.data(LEDGER)
    running = data is None
    data = data if data is not None else place.data(EVENTS) or b""
    return place, read(data), data, running


def _meta(place: SessionFolder, found: SessionLedger, data: bytes, running: bool) -> Json:
    meta = found.meta
    return {
        "version": 1, "session_id": place.id, "workspace_id": place.workspace_id,
        "root_session_id": meta.get("root_session_id"), "parent_session_id": meta.get("spawn_parent_id"),
        "spawn_depth": meta.get("spawn_depth"), "agent_name": meta.get("agent_name"),
        "session_type": meta.get("session_type"), "state": "running" if running else "ended",
        "path": str(place.side.store.root / place.path(EVENTS if running else LEDGER)), "archived": place.archived,
        "checksum": None if running else hashlib.sha256(data).hexdigest(), "events_checksum": meta.get("checksum"),
        "created_at": meta.get("started_at"), "stopped_at": meta.get("ended_at"), "event_count": len(found.events),
    }  # fmt: skip


def ledger(curated: Curated, args: Json, call: OperationCall) -> Json:  # noqa: ARG001
    """Return the ledger of a session; MemdeckError `memory.ledger.damaged` for an unreliable one."""
    place, found, data, running = _read(find_session(curated, args["session_id"], args.get("workspace_id")))
    if found.fault and not running:
        raise MemdeckError(
            "memory.ledger.damaged", f"the ledger of {place.id} is damaged: {found.fault}",
            "`memdeck curated session repair`", file=place.path(LEDGER),
        )  # fmt: skip
    return {"meta": _meta(place, found, data, running), "events": [_event(one) for one in found.events]}


def _event(one: Json) -> Json:
    return {
        "sequence": one["sequence"], "event_type": one.get("event_type"), "emitted_at": one.get("timestamp"),
        "turn_id": one.get("turn_id"), "agent_name": one.get("agent_name"), "payload": masked(one.get("content")),
    }  # fmt: skip


def replay(curated: Curated, args: Json, call: OperationCall) -> Json:
    """Return the events of a session in their order, without those of tools and of memory unless asked for."""
    found = ledger(curated, args, call)
    without = [
        word for word, key in (("tool", "include_tool_events"), ("memory", "include_memory")) if not args.get(key)
    ]
    events = [one for one in found["events"] if not any(word in str(one["event_type"]) for word in without)]
    return {"session_id": args["session_id"], "events": events}


def pruned(curated: Curated, args: Json, call: OperationCall) -> Json:
    """Remove sessions that ended long ago."""
    dry = args.get("dry_run", False)
    return prune(curated, args["older_than_hours"], actor=call.actor, now=call.now, dry_run=dry)


def repaired(curated: Curated, args: Json, call: OperationCall) -> Json:
    """Rebuild damaged or missing ledgers."""
    return repair(curated, actor=call.actor, now=call.now, dry_run=args.get("dry_run", False))
