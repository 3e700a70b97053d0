"""Turns of sessions become candidates in the inbox: those that a turn marks at once, those of a model with a drain.

A mark is `remember: …` or `remember(project): …` at the start of a line. Only with a model do turns wait for it, in the
records, bounded for each session.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Iterable
from datetime import datetime
from hashlib import sha256

from memory.base.clock import format_utc, read_duration
from memory.base.secrets import mask
from memory.curated.curated import Curated
from memory.curated.files import check_session
from memory.curated.model import DEFAULT_SCOPE, TYPES, Json, OperationCall
from memory.curated.providers import ask
from memory.curated.settings import ModelError, read_value
from memory.curated.sides import Side
from memory.errors import MemdeckError, NotFoundError, UsageError

from .inbox import consume, count, failures, put, put_back, stamp, waiting

LONGEST = 20_000
"""How many characters of a turn are kept."""
SESSIONS = 64
"""How many sessions wait at most."""
LIMIT = 256 * 1024
"""The most bytes of a model's answer."""
_MARK = re.compile(rf"^[ \t]*(?:[-*>][ \t]+)?remember(?:\(({'|'.join(TYPES)})\))?[ \t]*[:：][ \t]*(\S.*)$", re.I | re.M)
_TITLE = re.compile(r"^([^.:;|]{1,60})[ \t]+\|[ \t]+(\S.*)$")
_KEYS = ("type", "name", "description", "content", "evidence", "entity", "attribute", "scope")
_TASK = (
    "Name what these turns say that is worth remembering across sessions: preferences of the person, corrections,"
    " decisions and facts of the project, places to look. Leave out code, transcripts, the state of a task, secrets."
)


# -- turns that wait for a model --------------------------------------------------------------------------------------


def queued(curated: Curated, session: str | None = None) -> dict[str, list[Json]]:
    """Return the waiting turns of all sessions, or of one; the sessions are in order of arrival."""
    found = curated.home.records.note("turns")
    return {key: turns for key, turns in found.items() if session in (None, key)}


def _queue(curated: Curated, session: str, role: str, content: str, turn: int | None, now: datetime) -> str:
    """Queue a turn and return the result: queued, or coalesced with waiting turns.

    Beyond `extractor.queue.coalesce_max` turns of a session the oldest are dropped, and so is the oldest of more than
    64 sessions.
    """
    records, most = curated.home.records, curated.settings["extractor.queue.coalesce_max"]
    lost: dict[str, int] = {}
    before = len(queued(curated).get(session, ()))

    def work(found: Json) -> None:
        turns = found.setdefault(session, [])
        number = turn if turn is not None else (turns[-1]["seq"] + 1 if turns else 1)
        turns.append({"seq": number, "role": role, "content": mask(content)[:LONGEST], "at": stamp(now)})
        lost[session] = max(len(turns) - most, 0)
        del turns[: lost[session]]
        while len(found) > SESSIONS:
            oldest = next(iter(found))
            lost[oldest] = len(found.pop(oldest))

    curated.home.records.change_note("turns", work)
    for name, number in lost.items():
        if number:
            facts: Json = {"reason": "queue_full", "message_count": number}
            records.event("memory.extractor.dropped", now, session_id=name, **facts)
    if before:
        records.event("memory.extractor.coalesced", now, session_id=session, message_count=before + 1)
    return "coalesced" if before else "queued"


def marked(text: str, default: str) -> list[Json]:
    """Return the candidates marked in a text; `default` is the type of those that name none.

    The marked text may begin with a name: `remember(project): Deploy window | deploys happen on tuesdays`.
    """
    found = []
    for kind, said in _MARK.findall(text):
        titled = _TITLE.match(said.strip())
        row: Json = {"type": (kind or default).lower(), "content": (titled[2] if titled else said).strip()}
        if titled:
            row["name"] = titled[1].strip()
        if row not in found:
            found.append(row)
    return found


def refuse_disabled(curated: Curated) -> None:
    """Raise MemdeckError `memory.disabled` or `memory.extractor.disabled` where the settings disable it."""
    curated.refuse_disabled()
    if not curated.settings["extractor.enabled"]:
        hint = "set memory.extractor.enabled in config.toml"
        raise MemdeckError("memory.extractor.disabled", "the extractor is switched off", hint)


# -- extraction -----------------------------------------------------------------------------------------------------


def take_turn(
    curated: Curated, session: str, role: str, text: str, turn: int | None, call: OperationCall
) -> tuple[str, int]:
    """Put the marked candidates of a turn into the inbox, queue it for a model, and notify the provider.

    Return queued, coalesced, dropped for an empty one, or read without a model; and the number of marked candidates.
    """
    refuse_disabled(curated)
    check_session(session)
    if not text.strip():
        facts: Json = {"reason": "empty_snapshot", "message_count": 1}
        curated.home.records.event("memory.extractor.dropped", call.now, session_id=session, **facts)
        return "dropped", 0
    rows = marked(mask(text)[:LONGEST], "project" if "workspace" in curated.sides else "user")
    digest = sha256(text.encode("utf-8", "replace")).hexdigest()[:8]
    _put(curated, session, f"{stamp(call.now)}-{turn or 0}-{digest}.jsonl", rows, call)
    state = _queue(curated, session, role, text, turn, call.now) if "extractor" in curated.models else "read"
    ask(curated, "turn", call.now, session, role, text, turn)
    return state, len(rows)


def extract(curated: Curated, session: str, call: OperationCall) -> int:
    """Ask the model about the waiting turns of a session, put its candidates into the inboxes, and return how many.

    ModelError where there is no valid answer: the turns go on waiting.
    """
    model, turns = curated.models.get("extractor"), queued(curated).get(session, [])
    if model is None or not turns:
        return 0
    question: Json = {
        "version": 1,
        "model": curated.settings["extractor.model"] or None,
        "task": _TASK,
        "turns": [{key: one[key] for key in ("seq", "role", "content")} for one in turns],
        "answer": {"candidates": [{"type": "|".join(TYPES), "name": "a title", "description": "one sentence",
                                   "content": "what to remember", "entity": "optional", "attribute": "optional"}]},
    }  # fmt: skip
    try:
        answer = model.ask(question, seconds=curated.settings.seconds("extractor.deadline"), limit=LIMIT, now=call.now)
        found = read_value(answer, "candidates", LIMIT)
        if not isinstance(found, list):
            raise ModelError("the candidates are no list")
    except ModelError as error:
        facts: Json = {"session_id": session, "reason": str(error)[:200]}
        curated.home.records.event("memory.extractor.failed", call.now, target_id=f"turns of {session}", **facts)
        raise
    rows = [{key: one[key] for key in _KEYS if one.get(key)} if isinstance(one, dict) else one for one in found]
    _put(curated, session, f"{turns[0]['at']}-{turns[-1]['seq']}-model.jsonl", rows, call)

    def done(found: Json) -> None:
        left = [one for one in found.pop(session, []) if one not in turns]
        if left:
            found[session] = left

    curated.home.records.change_note("turns", done)
    return len(rows)


def extract_all(
    curated: Curated, sessions: Iterable[str], call: OperationCall, end: float = math.inf
) -> tuple[int, str]:
    """Extract from some sessions until a time, and return the number of candidates, and why a model gave none."""
    candidates, why = 0, ""
    for session in sessions:
        try:
            candidates += extract(curated, session, call) if time.monotonic() < end else 0
        except ModelError as error:
            why = f"the turns wait for a model: {error}"
    return candidates, why


def _put(curated: Curated, session: str, name: str, rows: list[Json], call: OperationCall) -> None:
    """Put candidates into the inboxes of their sides; a wrong one is reported when it is consumed."""
    for side in curated.sides.values():
        mine = [row for row in rows if _side_of(curated, row) is side]
        if mine:
            put(side, session, name, mine, call)


def _side_of(curated: Curated, row: Json) -> Side:
    """Return the side whose inbox gets a candidate."""
    kind, scope = (row.get("type"), row.get("scope")) if isinstance(row, dict) else (None, None)
    scope = scope or (DEFAULT_SCOPE[kind] if kind in TYPES else "workspace")
    return curated.sides.get("global" if scope == "global" else "workspace") or next(iter(curated.sides.values()))


# -- operations -----------------------------------------------------------------------------------------------------


def feed(curated: Curated, args: Json, call: OperationCall) -> Json:
    """Give the extractor a turn of a session."""
    session, role = args["session_id"], args.get("role", "assistant")
    state, candidates = take_turn(curated, session, role, args["content"], args.get("turn_seq"), call)
    left = len(queued(curated).get(session, []))
    return {"session_id": session, "state": state, "candidates": candidates, "waiting_turns": left}


def status(curated: Curated, args: Json, call: OperationCall) -> Json:  # noqa: ARG001
    """Say what waits for the extractor, what it dropped, and how much failed.

    What other processes do at the moment is not known: those values are null.
    """
    session = args.get("session_id")
    turns, files = queued(curated, session), waiting(curated, session)
    tally = {"coalesced": 0, "empty_snapshot": 0, "queue_full": 0}
    for side in curated.sides.values():
        for row in side.records.events(ops=("memory.extractor.coalesced", "memory.extractor.dropped"), limit=100_000):
            if session in (None, row["session_id"]):
                key = row["metadata"].get("reason", "coalesced")
                tally[key] += 1 if key == "coalesced" else row["metadata"].get("message_count", 1)
    state = "queued" if turns or files else "idle"
    return {
        "extractor": {
            "status": state if curated.settings["extractor.enabled"] else "disabled",
            "queued_sessions": len(turns), "waiting_turns": sum(map(len, turns.values())),
            "in_flight_sessions": None, "active_provider_sessions": None,
            "backpressured_sessions": max(0, len(turns) - curated.settings["extractor.queue.capacity"]),
            "dropped_turns": tally["queue_full"], "coalesced_turns": tally["coalesced"],
            "skipped_turns": tally["empty_snapshot"], "inbox_files": len(files),
            "inbox_candidates": count(curated, session), "failure_count": len(failures(curated, session)),
            "model": bool(curated.models.get("extractor")),
        }
    }  # fmt: skip


def list_failures(curated: Curated, args: Json, call: OperationCall) -> Json:  # noqa: ARG001
    """List the suggestions that failed, with the reason."""
    empty = {"agent_name": None, "workspace_id": None, "line": None, "source": None}
    return {
        "failures": [{"scope": side.name, **empty, **one} for side, one in failures(curated, args.get("session_id"))]
    }


def replay(curated: Curated, args: Json, call: OperationCall) -> Json:
    """Queue suggestions that failed again."""
    refuse_disabled(curated)
    if "session_id" not in args and "failure_id" not in args:
        raise UsageError("memory.validation", "name a session or a failure", "see --session and --failure")
    wanted = args.get("failure_id")
    found = [pair for pair in failures(curated, args.get("session_id")) if wanted in (None, pair[1]["id"])]
    if not found:
        raise NotFoundError("memory.not_found", "there is no such failure", "`memdeck curated extractor list-pending`")
    retried = sum(put_back(side, one, now=call.now) for side, one in found)
    return {"retried": retried, "failed": len(found) - retried}


def drain(curated: Curated, args: Json, call: OperationCall) -> Json:
    """Process all turns and suggestions that wait."""
    refuse_disabled(curated)
    seconds = read_duration(args.get("timeout", "60s"))
    if seconds is None:
        raise UsageError("memory.validation", "the timeout is not a span", "such as 60s", field="timeout")
    end = time.monotonic() + seconds
    wanted = args.get("session_id")
    candidates, why = extract_all(curated, list(queued(curated, wanted)), call, end)
    done = consume(curated, call, session=wanted, seconds=max(0.0, end - time.monotonic()))
    turns = sum(map(len, queued(curated, wanted).values()))
    return {
        "remaining": done.remaining + turns, "consumed": done.consumed, "failed": done.failed,
        "decisions": done.decisions, "reason": done.reason or why, "extracted": candidates,
        "drained_at": format_utc(call.now),
    }  # fmt: skip
