"""Reads JSON objects from untrusted texts; a text without one is read as an empty object."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any


def read_object(text: str | bytes | None) -> dict[str, Any]:
    """Return the JSON object in a text; {} where there is no text, no valid JSON, or another JSON value."""
    try:
        values = json.loads(text or b"{}")
    except (ValueError, RecursionError):
        return {}
    return values if isinstance(values, dict) else {}
