"""The tiebreaker: what is asked where the rules find several plausible targets; its answer is read strictly."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from memory.curated.model import Json, Memory
from memory.curated.models import Model, ModelError

from .candidate import Candidate

_CONTENT, _TARGET = 1000, 300
_KEYS = {"op", "target_id", "confidence", "reason"}


Tiebreaker = Model
"""Who answers a question of the controller."""
TiebreakError = ModelError
"""Why there is no answer that counts."""


@dataclass(frozen=True, slots=True)
class TiebreakAnswer:
    """What the tiebreaker decided: `target_id` is one of those offered, None where the operation needs none."""

    op: str
    target_id: str | None
    confidence: float
    reason: str


def question_of(candidate: Candidate, targets: Sequence[Memory], version: str) -> Json:
    """Return the question about a candidate and the memories that it may be about; long texts are cut."""
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
    """Return an answer; TiebreakError for anything but exactly one JSON object of the four keys."""
    if len(text.encode("utf-8", "surrogatepass")) > limit:
        raise TiebreakError("the answer is too long")
    try:
        values = json.loads(text)
    except (ValueError, RecursionError):
        raise TiebreakError("the answer is not one JSON object") from None
    if not isinstance(values, dict) or not set(values) <= _KEYS or not {"op", "confidence", "reason"} <= set(values):
        raise TiebreakError("the answer has not the keys op, target_id, confidence and reason")
    op, target, confidence, reason = (values.get(key) for key in ("op", "target_id", "confidence", "reason"))
    if op not in ("noop", "add", "update", "delete"):
        raise TiebreakError("the answer names no operation")
    if isinstance(confidence, bool) or not isinstance(confidence, (int, float)) or not 0 <= confidence <= 1:
        raise TiebreakError("the confidence is no number from 0 to 1")
    if not isinstance(reason, str) or not reason.strip():
        raise TiebreakError("the answer gives no reason")
    if op in ("update", "delete"):
        if target not in offered:
            raise TiebreakError("the answer names a target that was not offered")
    elif target not in (None, "", *offered):
        raise TiebreakError("the answer names a target that was not offered")
    return TiebreakAnswer(
        op, target if op in ("update", "delete") else None, float(confidence), " ".join(reason.split())[:240]
    )
