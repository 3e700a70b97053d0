"""The one form in which objects are written and hashed: keys sorted, two spaces, UTF-8 as it is.

It is what `json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False)` gives, several times as fast.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

_quote = json.encoder.encode_basestring
_GAPS = tuple("\n" + "  " * depth for depth in range(24))


def canonical(value: Any) -> str:
    """Return the sorted form of JSON-able data, without a newline at the end."""
    pieces: list[str] = []
    _write(value, 0, pieces.append)
    return "".join(pieces)


def canonical_bytes(value: Any) -> bytes:
    """Return what a file holds: the sorted form and one newline."""
    return (canonical(value) + "\n").encode("utf-8", "surrogatepass")


def ordered_bytes(value: Any) -> bytes:
    """Return the same with the keys in the order in which they are, as config.json has them."""
    return (json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode("utf-8", "surrogatepass")


def line_bytes(value: Any) -> bytes:
    """Return one line of events.jsonl, its newline included."""
    return (json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n").encode("utf-8", "surrogatepass")


def digest(value: Any) -> str:
    """Return the SHA-256 (hex) of the sorted form without the final newline."""
    return hashlib.sha256(canonical(value).encode("utf-8", "surrogatepass")).hexdigest()


def _write(value: Any, depth: int, put: Any) -> None:
    if isinstance(value, str):
        put(_quote(value))
    elif isinstance(value, dict):
        if not value:
            put("{}")
            return
        gap, before = _gap(depth + 1), "{"
        for key in sorted(value):
            put(f"{before}{gap}{_quote(key)}: ")
            _write(value[key], depth + 1, put)
            before = ","
        put(_gap(depth) + "}")
    elif isinstance(value, (list, tuple)):
        if not value:
            put("[]")
            return
        gap, before = _gap(depth + 1), "["
        for one in value:
            put(before + gap)
            _write(one, depth + 1, put)
            before = ","
        put(_gap(depth) + "]")
    else:
        put(json.dumps(value, allow_nan=False))


def _gap(depth: int) -> str:
    return _GAPS[depth] if depth < len(_GAPS) else "\n" + "  " * depth
