"""Messages of strangers as JSON: read strictly, and how deep they are nested; with nothing but the standard library."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, NoReturn


def strict_json(data: bytes) -> Any:
    """Return what JSON in UTF-8 says; ValueError or RecursionError for anything else.

    An object that has a name twice is refused, for whoever looked at it before may have taken the other value; so are
    `NaN` and `Infinity`, which are no JSON.
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
    """Tell whether objects and lists are nested in more than `most` levels; a plain value is one level."""
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
