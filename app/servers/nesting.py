"""How deep a message is nested, told without recursion and with nothing but the standard library."""

from __future__ import annotations

from typing import Any


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
