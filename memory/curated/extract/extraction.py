"""Extraction: turns of a session become candidates in the inbox, by a model or only by explicit markers."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime

from memory.curated.curated import Curated
from memory.curated.dreaming.lock import counts
from memory.curated.files.names import check_session
from memory.curated.index.records import milliseconds
from memory.curated.model import DEFAULT_SCOPE, TYPES, Json
from memory.curated.models import ModelError, read_value
from memory.curated.providers.calls import call
from memory.curated.sides import Side
from memory.errors import MemdeckError, UsageError
from memory.storage.transaction import Transaction

from .consume import consume
from .inbox import failure, plan, put
from .turns import done_with, feed, marked, queued, refuse_disabled

LIMIT = 256 * 1024
"""The most bytes of a model's answer."""
_KEYS = frozenset({"type", "name", "description", "content", "evidence", "entity", "attribute", "scope"})
_TASK = (
    "Name what these turns say that is worth remembering across sessions: preferences of the person, corrections,"
    " decisions and facts of the project, places to look. Leave out code, transcripts, the state of a task, secrets."
)


def take_turn(
    curated: Curated, session: str, role: str, text: str, turn: int | None, *, actor: str, now: datetime
) -> tuple[str, int]:
    """Queue a turn, notify the provider, and return the queueing result and the number of candidates from markers."""
    refuse_disabled(curated)
    if _says_nothing(curated, session, text):
        call(curated, "turn", now, session, role, text, turn)
        return "queued", 0
    state = feed(curated, session, role, text, turn, now)
    call(curated, "turn", now, session, role, text, turn)
    least = curated.settings["extractor.throttle_turns"]
    if "extractor" in curated.models or len(queued(curated).get(session, [])) < least:
        return state, 0
    candidates = extract(curated, session, actor=actor, now=now)
    if not curated.settings["extractor.sandbox_inbox_only"]:
        consume(curated, actor=actor, now=now, session=session)
    return state, candidates


def _says_nothing(curated: Curated, session: str, text: str) -> bool:
    """Return whether a turn would be queued and dropped at once: no model, no waiting turn, no marker.

    Then neither is written, because the user would wait for both.
    """
    check_session(session)
    if not text.strip() or "extractor" in curated.models or curated.settings["extractor.throttle_turns"] > 1:
        return False
    return not queued(curated).get(session) and not marked([{"content": text}], "project")


def extract(curated: Curated, session: str, *, actor: str, now: datetime) -> int:
    """Read the waiting turns of a session and put their candidates into the inboxes; return how many.

    Where a model fails, its turns are kept as a failure, and the markers in them still count.
    """
    turns = queued(curated).get(session, [])
    if not turns:
        return 0
    rows, bad = _asked(curated, session, turns, now)
    default = "project" if "workspace" in curated.sides else "user"
    rows += [row for row in marked(turns, default) if row not in rows]
    name = f"{turns[0]['at']}-{turns[-1]['seq']}.jsonl"
    for side in curated.sides.values():
        mine = [row for row in rows if _side_of(curated, row) is side]
        if mine:
            put(curated, side, session, name, mine, actor=actor, now=now)
    if bad:
        _keep(curated, curated.home, bad, actor, now)
    done_with(curated, session, turns, now)
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
        seconds = curated.settings.seconds("extractor.deadline")
        with _asking(curated, session, now):
            answer = model.ask(question, seconds=seconds, limit=LIMIT, now=now)
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
    for place, one in enumerate(found, 1):
        if isinstance(one, dict) and set(one) <= _KEYS:
            rows.append({key: value for key, value in one.items() if value not in (None, "")})
            continue
        wrong = UsageError("memory.extractor.line", "the model named something else than a candidate", "see `answer`")
        data = json.dumps(one, ensure_ascii=False).encode("utf-8", "replace")
        bad.append(failure("extract", session, source, place, wrong, data, number, now))
    return rows, bad


def _keep(curated: Curated, side: Side, bad: Sequence[Json], actor: str, now: datetime) -> None:
    side.prepare(actor=actor, now=now)

    def write(transaction: Transaction) -> str:
        plan(curated, side, transaction, bad)
        return f"kept {len(bad)} failures of an extraction"

    side.change("curated.extract", write, actor=actor, now=now)
    for one in bad:
        facts = {"session_id": one["session_id"], "failure_id": one["id"], "reason": one["reason"][:200]}
        side.records.event("memory.extractor.failed", now, **facts)


@contextmanager
def _asking(curated: Curated, session: str, now: datetime) -> Iterator[None]:
    """Record for other processes that a model is asked about a session; a failure to record it is ignored."""
    _note(curated, session, {session: {"pid": os.getpid(), "since": milliseconds(now)}}, now)
    try:
        yield
    finally:
        _note(curated, session, {}, now)


def asked(curated: Curated, now: datetime) -> tuple[str, ...]:
    """Return the sessions about which a running process asks."""
    return tuple(_live(curated.home.note("asking"), now))


def _note(curated: Curated, session: str, more: Json, now: datetime) -> None:
    def change(values: Json) -> Json:
        live = _live(values, now)
        live.pop(session, None)
        return live | more

    with suppress(MemdeckError):
        curated.home.change_note("asking", change, command="extract", now=now)


def _live(values: Json, now: datetime) -> Json:
    return {name: one for name, one in values.items() if isinstance(one, dict) and counts(one, now)}
