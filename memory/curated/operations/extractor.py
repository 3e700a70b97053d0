"""The operations on the extractor: feed, status, failures, replay, drain."""

from __future__ import annotations

import time

from memory.base.clock import format_utc
from memory.curated.curated import Curated
from memory.curated.extract.consume import consume, count
from memory.curated.extract.extraction import asked, extract, take_turn
from memory.curated.extract.inbox import UPKEEP, failures, put_back, waiting
from memory.curated.extract.turns import queued, refuse_disabled, requeue
from memory.curated.model import Json
from memory.curated.settings import seconds_of
from memory.errors import NotFoundError, UsageError

from .operation import OperationCall


def fed(curated: Curated, args: Json, call: OperationCall) -> Json:
    """Queue a turn; without a model its markers go to the inbox at once."""
    session = args["session_id"]
    state, candidates = take_turn(
        curated, session, args.get("role", "assistant"), args["content"], args.get("turn_seq"), actor=call.actor,
        now=call.now,
    )  # fmt: skip
    return {
        "session_id": session, "state": state, "candidates": candidates,
        "waiting_turns": len(queued(curated).get(session, [])),
    }  # fmt: skip


def status(curated: Curated, args: Json, call: OperationCall) -> Json:
    """Return what waits, how much was dropped, and how much failed."""
    session = args.get("session_id")
    turns = {name: found for name, found in queued(curated).items() if session in (None, name)}
    files = waiting(curated, session)
    running = sum(session in (None, name) for name in asked(curated, call.now))
    tally = {"coalesced": 0, "empty_snapshot": 0, "queue_full": 0}
    for side in curated.sides.values():
        for row in side.records.events(ops=("memory.extractor.coalesced", "memory.extractor.dropped"), limit=100_000):
            if session in (None, row["session_id"]):
                key = row["metadata"].get("reason", "coalesced")
                tally[key] += 1 if key == "coalesced" else row["metadata"].get("message_count", 1)
    capacity = curated.settings["extractor.queue.capacity"]
    state = "running" if running else "queued" if turns or files else "idle"
    return {
        "extractor": {
            "status": state if curated.settings["extractor.enabled"] else "disabled",
            "queued_sessions": len(turns), "waiting_turns": sum(len(one) for one in turns.values()),
            "in_flight_sessions": running, "active_provider_sessions": running,
            "backpressured_sessions": max(0, len(turns) - capacity),
            "dropped_turns": tally["queue_full"], "coalesced_turns": tally["coalesced"],
            "skipped_turns": tally["empty_snapshot"], "inbox_files": len(files),
            "inbox_candidates": count(curated, session), "failure_count": len(failures(curated, session)),
            "model": bool(curated.models.get("extractor")),
        }
    }  # fmt: skip


def list_failures(curated: Curated, args: Json, call: OperationCall) -> Json:  # noqa: ARG001
    """Return what failed, the oldest first."""
    found = []
    for side, one in failures(curated, args.get("session_id")):
        row = {"scope": side.name, "agent_name": None, "workspace_id": None, "line": None, "source": None, **one}
        row.pop("turns", None)
        found.append(row)
    return {"failures": found}


def replay(curated: Curated, args: Json, call: OperationCall) -> Json:
    """Put failed lines back into the inbox, and failed turns back into the queue."""
    refuse_disabled(curated)
    if "session_id" not in args and "failure_id" not in args:
        raise UsageError("memory.validation", "name a session or a failure", "see --session and --failure")
    found = [
        (side, one)
        for side, one in failures(curated, args.get("session_id"))
        if args.get("failure_id") in (None, one["id"])
    ]
    if not found:
        raise NotFoundError("memory.not_found", "there is no such failure", "`memdeck curated extractor list-pending`")
    retried = 0
    for side, one in found:
        turns = one.get("turns")
        if isinstance(turns, list) and one.get("session_id"):
            requeue(curated, one["session_id"], turns, call.now)
            stored = side.store.read(one["path"])
            with side.store.transaction("curated.replay-failure", actor=UPKEEP, now=call.now) as transaction:
                transaction.remove(one["path"], base=stored.data)
                transaction.commit(f"queued the turns of {one['id']} again")
            retried += 1
        elif put_back(curated, side, one, now=call.now):
            retried += 1
    return {"retried": retried, "failed": len(found) - retried}


def drain(curated: Curated, args: Json, call: OperationCall) -> Json:
    """Extract from all waiting turns, then decide on all candidates; both stop when the time is up."""
    refuse_disabled(curated)
    try:
        seconds = seconds_of(args.get("timeout", "60s"))
    except ValueError:
        raise UsageError("memory.validation", "the timeout is no span", "such as 60s", field="timeout") from None
    wanted, end = args.get("session_id"), time.monotonic() + seconds
    candidates = 0
    for session in list(queued(curated)):
        if wanted in (None, session) and time.monotonic() < end:
            candidates += extract(curated, session, actor=call.actor, now=call.now)
    left = max(0.0, end - time.monotonic())
    done = consume(curated, actor=call.actor, now=call.now, session=wanted, seconds=left)
    turns = sum(len(found) for name, found in queued(curated).items() if wanted in (None, name))
    return {
        "remaining": done.remaining + turns, "consumed": done.consumed, "failed": done.failed,
        "decisions": done.decisions, "reason": done.reason, "extracted": candidates,
        "drained_at": format_utc(call.now),
    }  # fmt: skip
