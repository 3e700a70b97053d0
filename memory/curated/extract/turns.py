"""Turns of sessions become candidates in the inbox: by a model, or only by explicit markers.

Each session has a bounded queue of turns in a private file. Markers need no model: `remember: …`,
`remember(project): …` at the start of a line. Without a model, those of a turn go into the inbox when it is taken.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Sequence
from datetime import datetime

from memory.base.clock import format_utc
from memory.base.secrets import mask
from memory.curated.curated import Curated
from memory.curated.files.names import check_session
from memory.curated.model import DEFAULT_SCOPE, TYPES, Json, OperationCall
from memory.curated.models import ModelError, read_value
from memory.curated.providers.calls import ask
from memory.curated.settings import seconds_of
from memory.curated.sides import Side
from memory.errors import MemdeckError, NotFoundError, UsageError
from memory.storage.transaction import Transaction

from .inbox import (
    UPKEEP,
    consume,
    count,
    failure,
    failures,
    keep_failures,
    note_failures,
    put,
    put_back,
    stamp,
    waiting,
)

LONGEST = 20_000
"""How many characters of a turn are kept."""
SESSIONS = 64
"""How many sessions wait at most."""
LIMIT = 256 * 1024
"""The most bytes of a model's answer."""
_MARK = re.compile(rf"^[ \t]*(?:[-*>][ \t]+)?remember(?:\(({'|'.join(TYPES)})\))?[ \t]*[:：][ \t]*(\S.*)$", re.I | re.M)
_TITLE = re.compile(r"^([^.:;|]{1,60})[ \t]+\|[ \t]+(\S.*)$")
_KEYS = frozenset({"type", "name", "description", "content", "evidence", "entity", "attribute", "scope"})
_TASK = (
    "Name what these turns say that is worth remembering across sessions: preferences of the person, corrections,"
    " decisions and facts of the project, places to look. Leave out code, transcripts, the state of a task, secrets."
)


# -- the queue ------------------------------------------------------------------------------------------------------


def queued(curated: Curated, session: str | None = None) -> dict[str, list[Json]]:
    """Return the waiting turns of all sessions, or of one; the sessions are in order of arrival."""
    found = curated.home.note("turns")
    return {key: turns for key, turns in found.items() if isinstance(turns, list) and session in (None, key)}


def _change(curated: Curated, now: datetime, work: Callable[[dict[str, list[Json]]], None]) -> None:
    def change(values: Json) -> Json:
        found = {key: value for key, value in values.items() if isinstance(value, list)}
        work(found)
        return found

    if not curated.home.change_note("turns", change, command="extract", now=now):
        raise MemdeckError("memory.extractor.no_state", "there is no private folder to keep turns in", "set HOME")


def _place(one: Json) -> tuple[str, int]:
    return one["at"], one["seq"]


def _feed(curated: Curated, session: str, role: str, content: str, turn: int | None, now: datetime) -> str:
    """Queue a turn and return the result: queued, coalesced with waiting turns, or dropped (empty).

    Beyond `extractor.queue.coalesce_max` turns of a session the oldest are dropped, and so is the oldest of more than
    64 sessions.
    """
    records, most = curated.home.records, curated.settings["extractor.queue.coalesce_max"]
    lost: list[tuple[str, int, str]] = []
    before = 0

    def work(found: dict[str, list[Json]]) -> None:
        nonlocal before
        turns = found.setdefault(session, [])
        before = len(turns)
        number = turn if turn is not None else (turns[-1]["seq"] + 1 if turns else 1)
        turns.append({"seq": number, "role": role, "content": mask(content)[:LONGEST], "at": stamp(now)})
        if len(turns) > most:
            lost.append((session, len(turns) - most, "queue_full"))
            del turns[: len(turns) - most]
        while len(found) > SESSIONS:
            oldest = next(iter(found))
            lost.append((oldest, len(found.pop(oldest)), "queue_full"))

    if content.strip():
        _change(curated, now, work)
    else:
        lost.append((session, 1, "empty_snapshot"))
    for name, number, reason in lost:
        records.event("memory.extractor.dropped", now, session_id=name, reason=reason, message_count=number)
    if before:
        records.event("memory.extractor.coalesced", now, session_id=session, message_count=before + 1)
    return "coalesced" if before else "queued" if content.strip() else "dropped"


def marked(turns: Sequence[Json], default: str) -> list[Json]:
    """Return the candidates marked in turns; `default` is the type of those that name none.

    The text may begin with a name: `remember(project): Deploy window | deploys happen on tuesdays`.
    """
    found = []
    for kind, text in (mark for turn in turns for mark in _MARK.findall(turn["content"])):
        titled = _TITLE.match(text.strip())
        row: Json = {"type": (kind or default).lower(), "content": (titled[2] if titled else text).strip()}
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
    """Queue a turn, notify the provider, and return the queueing result and the number of candidates from markers."""
    refuse_disabled(curated)
    check_session(session)
    settings, with_model = curated.settings, "extractor" in curated.models
    least, waiting_turns = settings["extractor.throttle_turns"], queued(curated).get(session, [])
    # What would be queued and dropped at once is not written at all: the user would wait for both.
    nothing = least == 1 and not with_model and not waiting_turns and not marked([{"content": text}], "project")
    state = "queued" if nothing and text.strip() else _feed(curated, session, role, text, turn, call.now)
    ask(curated, "turn", call.now, session, role, text, turn)
    if nothing or with_model or len(queued(curated).get(session, [])) < least:
        return state, 0
    candidates = extract(curated, session, call)
    if not settings["extractor.sandbox_inbox_only"]:
        consume(curated, call, session=session)
    return state, candidates


def extract(curated: Curated, session: str, call: OperationCall) -> int:
    """Read the waiting turns of a session and put their candidates into the inboxes; return how many.

    Where a model fails, its turns are kept as a failure, and the markers in them still count.
    """
    turns = queued(curated).get(session, [])
    if not turns:
        return 0
    rows, bad = _asked(curated, session, turns, call.now)
    default = "project" if "workspace" in curated.sides else "user"
    rows += [row for row in marked(turns, default) if row not in rows]
    name = f"{turns[0]['at']}-{turns[-1]['seq']}.jsonl"
    for side in curated.sides.values():
        mine = [row for row in rows if _side_of(curated, row) is side]
        if mine:
            put(curated, side, session, name, mine, call)
    if bad:
        _keep(curated, bad, call)

    def done(found: dict[str, list[Json]]) -> None:
        left = [one for one in found.pop(session, []) if _place(one) not in set(map(_place, turns))]
        if left:
            found[session] = left

    _change(curated, call.now, done)
    return len(rows)


def _side_of(curated: Curated, row: Json) -> Side:
    """Return the side whose inbox gets a candidate; a wrong side is reported when it is consumed."""
    kind = row.get("type")
    scope = row.get("scope") or (DEFAULT_SCOPE[kind] if kind in TYPES else "workspace")
    return curated.sides.get("global" if scope == "global" else "workspace") or next(iter(curated.sides.values()))


def _asked(curated: Curated, session: str, turns: Sequence[Json], now: datetime) -> tuple[list[Json], list[Json]]:
    """Return the model's candidates and the records of its failures; none of either without a model."""
    model = curated.models.get("extractor")
    if model is None:
        return [], []
    question: Json = {
        "version": 1,
        "model": curated.settings["extractor.model"] or None,
        "task": _TASK,
        "turns": [{key: one[key] for key in ("seq", "role", "content")} for one in turns],
        "answer": {"candidates": [{"type": "|".join(TYPES), "name": "a title", "description": "one sentence",
                                   "content": "what to remember", "entity": "optional", "attribute": "optional"}]},
    }  # fmt: skip
    number = curated.home.workspace_id
    source = f"turns {turns[0]['seq']}-{turns[-1]['seq']}"
    try:
        answer = model.ask(question, seconds=curated.settings.seconds("extractor.deadline"), limit=LIMIT, now=now)
        found = read_value(answer, "candidates", LIMIT)
        if not isinstance(found, list):
            raise ModelError("the candidates are no list")
    except ModelError as error:
        why = MemdeckError("memory.extractor.model", str(error)[:240], "`curated extractor replay` asks again")
        record = failure("extract", session, source, 0, why, b"", number, now)
        del record["content"]
        return [], [{**record, "turns": list(turns)}]
    rows: list[Json] = []
    bad: list[Json] = []
    wrong = UsageError("memory.extractor.line", "the model named something else than a candidate", "see `answer`")
    for place, one in enumerate(found, 1):
        if isinstance(one, dict) and set(one) <= _KEYS:
            rows.append({key: value for key, value in one.items() if value not in (None, "")})
            continue
        data = json.dumps(one, ensure_ascii=False).encode("utf-8", "replace")
        bad.append(failure("extract", session, source, place, wrong, data, number, now))
    return rows, bad


def _keep(curated: Curated, bad: Sequence[Json], call: OperationCall) -> None:
    side = curated.home
    side.prepare(actor=call.actor, now=call.now)

    def write(transaction: Transaction) -> str:
        keep_failures(curated, side, transaction, bad)
        return f"kept {len(bad)} failures of an extraction"

    side.change("curated.extract", write, actor=call.actor, now=call.now)
    note_failures(side, bad, call.now)


# -- operations -----------------------------------------------------------------------------------------------------


def feed(curated: Curated, args: Json, call: OperationCall) -> Json:
    """Queue a turn; without a model its markers go to the inbox at once."""
    session, role = args["session_id"], args.get("role", "assistant")
    state, candidates = take_turn(curated, session, role, args["content"], args.get("turn_seq"), call)
    left = len(queued(curated).get(session, []))
    return {"session_id": session, "state": state, "candidates": candidates, "waiting_turns": left}


def status(curated: Curated, args: Json, call: OperationCall) -> Json:  # noqa: ARG001
    """Return what waits, how much was dropped, and how much failed.

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
    """Return what failed, the oldest first."""
    empty = {"agent_name": None, "workspace_id": None, "line": None, "source": None}
    found = [{"scope": side.name, **empty, **one} for side, one in failures(curated, args.get("session_id"))]
    return {"failures": [{key: value for key, value in one.items() if key != "turns"} for one in found]}


def replay(curated: Curated, args: Json, call: OperationCall) -> Json:
    """Put failed lines back into the inbox, and failed turns back into the queue."""
    refuse_disabled(curated)
    if "session_id" not in args and "failure_id" not in args:
        raise UsageError("memory.validation", "name a session or a failure", "see --session and --failure")
    wanted = args.get("failure_id")
    found = [pair for pair in failures(curated, args.get("session_id")) if wanted in (None, pair[1]["id"])]
    if not found:
        raise NotFoundError("memory.not_found", "there is no such failure", "`memdeck curated extractor list-pending`")
    retried = 0
    for side, one in found:
        turns, session = one.get("turns"), one.get("session_id")
        if not isinstance(turns, list) or not session:
            retried += put_back(curated, side, one, now=call.now)
            continue

        def requeue(found: dict[str, list[Json]], session: str = session, turns: list[Json] = turns) -> None:
            known = found.get(session, [])
            found[session] = [*(one for one in turns if _place(one) not in set(map(_place, known))), *known]

        _change(curated, call.now, requeue)
        stored = side.store.read(one["path"])
        with side.store.transaction("curated.replay-failure", actor=UPKEEP, now=call.now) as transaction:
            transaction.remove(one["path"], base=stored.data)
            transaction.commit(f"queued the turns of {one['id']} again")
        retried += 1
    return {"retried": retried, "failed": len(found) - retried}


def drain(curated: Curated, args: Json, call: OperationCall) -> Json:
    """Extract from all waiting turns, then decide on all candidates; both stop when the time is up."""
    refuse_disabled(curated)
    try:
        end = time.monotonic() + seconds_of(args.get("timeout", "60s"))
    except ValueError:
        raise UsageError("memory.validation", "the timeout is no span", "such as 60s", field="timeout") from None
    wanted, candidates = args.get("session_id"), 0
    for session in list(queued(curated, wanted)):
        if time.monotonic() < end:
            candidates += extract(curated, session, call)
    left = max(0.0, end - time.monotonic())
    done = consume(curated, call, session=wanted, seconds=left)
    turns = sum(map(len, queued(curated, wanted).values()))
    return {
        "remaining": done.remaining + turns, "consumed": done.consumed, "failed": done.failed,
        "decisions": done.decisions, "reason": done.reason, "extracted": candidates,
        "drained_at": format_utc(call.now),
    }  # fmt: skip
