"""The decision on a candidate: the rules, the tiebreaker where they leave it open, and the bytes to write.

The tiebreaker is a model that chooses where the rules find several plausible targets; its answer is parsed strictly.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import NamedTuple

from memory.base.clock import format_utc
from memory.base.scan import scan
from memory.curated.files.header import text_of
from memory.curated.files.listing import digest
from memory.curated.files.names import filename
from memory.curated.model import Header, Json, Memory, Provenance
from memory.curated.models import Model, ModelError, ModelTimeoutError, read_json
from memory.curated.settings import CuratedSettings
from memory.errors import RefusedError

from .candidate import Candidate, slot
from .decision import ABSENT, Decision, RuleTrace
from .rules import RulesVerdict, judge
from .view import View

_TIMEOUT = "memory.controller.timeout"
_CONTENT, _TARGET = 1000, 300
_KEYS = {"op", "target_id", "confidence", "reason"}
Read = Callable[[str], bytes | None]
"""Returns the bytes of a file of the folder, None where it does not exist."""


def decide(
    candidate: Candidate,
    view: View,
    settings: CuratedSettings,
    read: Read,
    *,
    now: datetime,
    writes: int = 0,
    tiebreaker: Model | None = None,
) -> Decision:
    """Return the decision on a candidate, without key and id; nothing is written.

    RefusedError `memory.file_invalid` and `memory.exists` for a file that must not be overwritten, `memory.changed` for
    one that changed between two readings.
    """
    verdict = judge(candidate, view, settings, writes)
    llm: Json | None = None
    source, confidence = "rule", verdict.confidence
    version = settings["controller.llm.prompt_version"]
    targets = verdict.open
    if not targets and settings["controller.mode"] == "llm" and verdict.op == "add":
        targets = tuple(view.alike(candidate.content))
    asks = settings["controller.mode"] != "rules" and settings["controller.llm.enabled"]
    if targets and asks and tiebreaker is not None:
        source = "llm"
        llm, confidence = _ask(candidate, verdict, targets, settings, tiebreaker, now)
    # A rejected text may be a secret or an instruction to a model: nothing of it is kept.
    header = None if verdict.op == "reject" else candidate.header
    made = Decision(
        candidate.root,
        verdict.op,
        () if verdict.target is None else (verdict.target.filename,),
        verdict.filename,
        _bounded(candidate.metadata.get("reason") or verdict.reason, verdict.op),
        tuple(verdict.traces),
        confidence,
        candidate.hash,
        candidate.origin,
        {} if header is None else header.json(),
        "" if header is None else slot(candidate.entity),
        "" if header is None else slot(candidate.attribute),
        source=source,
        llm_trace=llm,
        prompt_version=version,
        workspace_id=candidate.workspace_id,
    )
    return _with_bytes(made, candidate, verdict, view, settings, read, now) if made.changes else made


def changed_meanwhile(name: str) -> RefusedError:
    """Return the error for a file that changed after the decision was made."""
    return RefusedError("memory.changed", f"{name} was changed meanwhile", "look at it and try again")


def _with_bytes(
    made: Decision,
    candidate: Candidate,
    verdict: RulesVerdict,
    view: View,
    settings: CuratedSettings,
    read: Read,
    now: datetime,
) -> Decision:
    """Return a decision with the bytes of its file before and after."""
    target = verdict.target
    prior = None if made.op == "add" else read(made.source_file)
    if target is not None and (prior is None or digest(prior) != target.hash):
        raise changed_meanwhile(target.filename)
    if made.target_filename != made.source_file or made.op == "add":
        there = view.file(made.target_filename)
        if there is not None:
            raise RefusedError(
                "memory.exists", f"{made.target_filename} is there already", "choose another name or type"
            )
    made = made._replace(prior=prior, prior_hash=ABSENT if prior is None else digest(prior))
    if made.op == "delete":
        return made
    assert candidate.header is not None
    header = _stamped(candidate.header, candidate.origin, target, now)
    post = text_of(header, candidate.content).encode()
    most = settings["decisions.max_post_content_bytes"]
    if len(post) > most:
        trace = RuleTrace(
            "controller.policy.max_post_content_bytes", False, f"the file has {len(post)} bytes of {most}"
        )
        return made._replace(
            op="reject", reason=trace.reason, trace=(*made.trace, trace), prior=None, prior_hash=ABSENT,
            confidence=1.0, target_filename="", targets=(),
        )  # fmt: skip
    return made._replace(header=header.json(), post=post, post_hash=digest(post))


def _stamped(header: Header, origin: str, before: Memory | None, now: datetime) -> Header:
    """Return a header with author and time of the write; provenance of the earlier version is kept."""
    source = header.provenance
    old = Provenance() if before is None else before.header.provenance
    sessions = tuple(dict.fromkeys((*old.source_sessions, *source.source_sessions)))
    moment = format_utc(now)
    return header._replace(
        provenance=Provenance(
            origin,
            sessions,
            source.confidence or old.confidence,
            source.superseded_by or old.superseded_by,
            old.created_at or moment,
            moment,
        ),
    )


def _ask(
    candidate: Candidate,
    verdict: RulesVerdict,
    targets: tuple[Memory, ...],
    settings: CuratedSettings,
    tiebreaker: Model,
    now: datetime,
) -> tuple[Json, float]:
    """Ask about the targets and add the answer to the verdict; return the trace and the confidence."""
    offered = targets[: settings["controller.llm.top_k"]]
    version, limit = settings["controller.llm.prompt_version"], settings["controller.llm.max_tokens_out"] * 4
    seconds = min(settings.seconds("controller.llm.timeout"), settings.seconds("controller.max_latency"))
    trace: Json = {
        "model": settings["controller.llm.model"], "prompt_version": version, "latency_ms": 0, "error": None
    }  # fmt: skip
    begun = time.perf_counter()
    try:
        text = tiebreaker.ask(question_of(candidate, offered, version), seconds=seconds, limit=limit, now=now)
        answer = read_answer(text, [one.filename for one in offered], limit)
    except ModelError as error:
        late = f"{_TIMEOUT}: " if isinstance(error, ModelTimeoutError) else ""
        trace["error"] = f"{late}{error}"[:240]
        verdict.traces.append(RuleTrace("controller.tiebreak_failed", False, trace["error"]))
        verdict.op, verdict.target, verdict.filename = settings["controller.default_op_on_fail"], None, ""
        verdict.reason = "the tiebreaker gave no answer that counts"
        return trace, verdict.confidence
    finally:
        trace["latency_ms"] = round((time.perf_counter() - begun) * 1000)
    verdict.traces.append(RuleTrace("controller.tiebreak", True, f"the answer is {answer.op}", answer.target_id or ""))
    verdict.op, verdict.reason = answer.op, _clean(answer.reason)
    verdict.target = target = next((one for one in offered if one.filename == answer.target_id), None)
    assert candidate.header is not None
    kind = candidate.header.type
    if answer.op == "add":
        verdict.filename = candidate.target or filename(kind, candidate.header.name)
    elif target is None:
        verdict.filename = ""
    else:
        moves = answer.op == "update" and kind != target.header.type
        verdict.filename = f"{kind}_{target.slug}.md" if moves else target.filename
    return trace, answer.confidence


def _clean(reason: str) -> str:
    """Return the reason of an answer, or a plain one where the content scan would reject it."""
    if any(hit.action == "reject" for hit in scan((reason,))):
        return "the reason of the answer is left out: the content scan rejects it"
    return reason


def _bounded(reason: str, op: str) -> str:
    """Return a reason of at most 240 bytes; a caller's reason that the scan rejects is left out."""
    text = _clean(" ".join(reason.split()))
    return text.encode("utf-8", "replace")[:240].decode("utf-8", "ignore") if text else op


# -- the question to a model ----------------------------------------------------------------------------------------


class TiebreakAnswer(NamedTuple):
    """The tiebreaker's decision: `target_id` is one of those offered, None where the operation needs none."""

    op: str
    target_id: str | None
    confidence: float
    reason: str


def question_of(candidate: Candidate, targets: Sequence[Memory], version: str) -> Json:
    """Return the question about a candidate and its plausible memories; long texts are cut."""
    assert candidate.header is not None
    return {
        "version": version,
        "candidate": {
            "name": candidate.header.name,
            "type": candidate.header.type,
            "description": candidate.header.description,
            "entity": candidate.entity,
            "attribute": candidate.attribute,
            "content": candidate.content[:_CONTENT],
        },
        "targets": [
            {"target_id": one.filename, "name": one.header.name, "type": one.header.type, "content": one.body[:_TARGET]}
            for one in targets
        ],
        "answer": {"op": "noop|add|update|delete", "target_id": "one of the targets, or null", "confidence": "0 to 1",
                   "reason": "one sentence"},
    }  # fmt: skip


def read_answer(text: str, offered: Sequence[str], limit: int) -> TiebreakAnswer:
    """Return the parsed answer; ModelError for anything but exactly one JSON object with the four keys."""
    values = read_json(text, limit)
    if not isinstance(values, dict) or not set(values) <= _KEYS or not {"op", "confidence", "reason"} <= set(values):
        raise ModelError("the answer has not the keys op, target_id, confidence and reason")
    op, target, confidence, reason = (values.get(key) for key in ("op", "target_id", "confidence", "reason"))
    if op not in ("noop", "add", "update", "delete"):
        raise ModelError("the answer names no operation")
    if isinstance(confidence, bool) or not isinstance(confidence, (int, float)) or not 0 <= confidence <= 1:
        raise ModelError("the confidence is no number from 0 to 1")
    if not isinstance(reason, str) or not reason.strip():
        raise ModelError("the answer gives no reason")
    needed = op in ("update", "delete")
    if target not in (offered if needed else (None, "", *offered)):
        raise ModelError("the answer names a target that was not offered")
    return TiebreakAnswer(op, target if needed else None, float(confidence), " ".join(reason.split())[:240])
