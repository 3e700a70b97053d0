"""Extraction: the turns of a session become candidates in the inbox, by a model or by explicit markers alone."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from memory.base.tries import again
from memory.curated.model import TYPES, Json
from memory.curated.models import ModelError, read_object
from memory.curated.places.roots import default_scope
from memory.errors import MemdeckError, UsageError

from .asking import asking
from .failures import failure, plan
from .inbox import put
from .markers import marked
from .turns import done_with, queued, side_of_turns

if TYPE_CHECKING:
    from memory.curated.curated import Curated
    from memory.curated.sides import Side

LIMIT = 256 * 1024
"""Bytes that a model may answer."""
_KEYS = frozenset({"type", "name", "description", "content", "evidence", "entity", "attribute", "scope"})
_TASK = (
    "Name what these turns say that is worth remembering across sessions: preferences of the person, corrections,"
    " decisions and facts of the project, places to look. Leave out code, transcripts, the state of a task, secrets."
)


def extract(curated: Curated, session: str, *, actor: str, now: datetime) -> int:
    """Look at the turns of a session that wait, put what they give into the inboxes; return how many candidates.

    Where a model fails its turns are kept as a failure, and the markers in them count nevertheless.
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
        _keep(curated, side_of_turns(curated), bad, actor, now)
    done_with(curated, session, turns, now)
    return len(rows)


def _side_of(curated: Curated, row: Json) -> Side:
    """Return the side whose inbox gets a candidate: a wrong one is told where it is consumed."""
    kind = row.get("type")
    scope = row.get("scope") or (default_scope(kind) if kind in TYPES else "workspace")
    return curated.sides.get("global" if scope == "global" else "workspace") or next(iter(curated.sides.values()))


def _asked(curated: Curated, session: str, turns: Sequence[Json], now: datetime) -> tuple[list[Json], list[Json]]:
    """Return the candidates of the model and the records of what it failed at; none of either without a model."""
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
    number = side_of_turns(curated).workspace_id
    source = f"turns {turns[0]['seq']}-{turns[-1]['seq']}"
    try:
        seconds = curated.settings.seconds("extractor.deadline")
        with asking(curated, session, now):
            answer = model.ask(question, seconds=seconds, limit=LIMIT, now=now)
        found = read_object(answer, frozenset({"candidates"}), LIMIT)["candidates"]
        if not isinstance(found, list):
            raise ModelError("the candidates are no list")
    except ModelError as error:
        why = MemdeckError("memory.extractor.model", str(error)[:240], "`curated extractor replay` asks again")
        record = failure("extract", session, source, 0, why, b"", number, now)
        del record["content"]
        return [], [{**record, "turns": list(turns)}]
    rows: list[Json] = []
    bad: list[Json] = []
    import json

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

    def attempt() -> None:
        with side.store.transaction("curated.extract", actor=actor, now=now) as transaction:
            plan(curated, side, transaction, bad)
            transaction.commit(f"kept {len(bad)} failures of an extraction")

    again(attempt)
    for one in bad:
        facts = {"session_id": one["session_id"], "failure_id": one["id"], "reason": one["reason"][:200]}
        side.records.event("memory.extractor.failed", now, **facts)
