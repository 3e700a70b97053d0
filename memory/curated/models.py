"""Models behind curated memory: one interface for all that is asked of one, and why there is no answer."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Protocol

from .model import Json


class Model(Protocol):
    """What answers a question; `ask` raises `ModelError` where there is no answer in time."""

    def ask(self, question: Json, *, seconds: float, limit: int, now: datetime) -> str:
        """Return the answer to a question as text: one JSON object of at most `limit` bytes."""


class ModelError(Exception):
    """Why there is no answer that counts."""


class ModelTimeoutError(ModelError):
    """No answer came in time."""


def read_object(text: str, keys: frozenset[str], limit: int) -> Json:
    """Return an answer that is exactly one JSON object with these keys and no others; ModelError for any other."""
    if len(text.encode("utf-8", "surrogatepass")) > limit:
        raise ModelError("the answer is too long")
    try:
        values = json.loads(text)
    except (ValueError, RecursionError):
        raise ModelError("the answer is not one JSON object") from None
    if not isinstance(values, dict) or set(values) != keys:
        raise ModelError(f"the answer has not the keys {', '.join(sorted(keys))} alone")
    return values
