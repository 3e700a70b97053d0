"""Models behind curated memory: one interface for all questions to a model, and the errors without an answer."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any, Protocol

from .model import Json


class Model(Protocol):
    """Answers questions; `ask` raises `ModelError` where there is no answer in time."""

    def ask(self, question: Json, *, seconds: float, limit: int, now: datetime) -> str:
        """Return the answer to a question as text: one JSON object of at most `limit` bytes."""


class ModelError(Exception):
    """There is no valid answer; the text says why."""


class ModelTimeoutError(ModelError):
    """No answer came in time."""


def read_json(text: str, limit: int) -> Any:
    """Return the JSON value of an answer of at most `limit` bytes; ModelError for anything else."""
    if len(text.encode("utf-8", "surrogatepass")) > limit:
        raise ModelError("the answer is too long")
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise ModelError("the answer is not one JSON object") from None


def read_value(text: str, key: str, limit: int) -> Any:
    """Return the value of an answer that is one JSON object with this key alone; ModelError for anything else."""
    values = read_json(text, limit)
    if not isinstance(values, dict) or set(values) != {key}:
        raise ModelError(f"the answer has not the keys {key} alone")
    return values[key]
