"""JSON from untrusted senders: strict parsing, and a nesting limit; only the standard library is imported."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, NoReturn


def strict_json(data: bytes) -> Any:
    """Return the value of JSON in UTF-8; ValueError or RecursionError for anything else.

    An object with a duplicate name is refused, because an earlier reader may have used the other value. `NaN` and
    `Infinity` are refused, too: they are not JSON.
    """
    return json.loads(data.decode("utf-8-sig"), object_pairs_hook=_object, parse_constant=_no_number)


def _object(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise ValueError
        found[name] = value
    return found


def _no_number(_text: str) -> NoReturn:
    raise ValueError


def deeper_than(value: Any, most: int) -> bool:
    """Return whether objects and lists are nested in more than `most` levels; a plain value is one level."""
    depth, level = 0, [value]
    while level:
        depth += 1
        if depth > most:
            return True
        level = [
            inner
            for one in level
            for inner in (one.values() if isinstance(one, dict) else one if isinstance(one, list) else ())
            if isinstance(inner, (dict, list))
        ]
    return False
