"""JSON objects in texts that others may have written: what holds none is an empty one."""

from __future__ import annotations

import json
from typing import Any


def read_object(text: str | bytes | None) -> dict[str, Any]:
    """Return the JSON object in a text; an empty one where there is no text, no JSON, or JSON of another kind."""
    try:
        values = json.loads(text or b"{}")
    except (ValueError, RecursionError):
        return {}
    return values if isinstance(values, dict) else {}
