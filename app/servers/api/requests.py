"""The content of a request: its arguments, and its sender."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from memory.base.values import no_constant
from memory.errors import MemdeckError, UsageError

Json = dict[str, Any]
ACTOR_HEADER = "memdeck-actor"


def body_of(data: bytes, kind: str) -> Json:
    """Return the JSON object of a body, an empty one if there is no body; MemdeckError `http.type`, `http.json`."""
    if not data.strip():
        return {}
    if kind.partition(";")[0].strip().lower() != "application/json":
        raise MemdeckError("http.type", "the body is not application/json", "set Content-Type: application/json")
    try:
        found = strict_json(data)
    except (ValueError, RecursionError):
        raise UsageError("http.json", "the body is not JSON", "send an object") from None
    if not isinstance(found, dict):
        raise UsageError("http.json", "the body is not an object", "send an object of arguments")
    try:
        json.dumps(found, ensure_ascii=False).encode()
    except UnicodeError:
        raise UsageError("api.text", "the body has characters that no text has", "send UTF-8") from None
    return found


def strict_json(data: bytes) -> Any:
    """Return the value of JSON in UTF-8; ValueError or RecursionError for anything else.

    An object with a duplicate name is refused, because an earlier reader may have used the other value. `NaN` and
    `Infinity` are refused, too: they are not JSON.
    """

    def object_of(pairs: list[tuple[str, Any]]) -> Json:
        if len(found := dict(pairs)) < len(pairs):
            raise ValueError("a name appears twice")
        return found

    return json.loads(data.decode("utf-8-sig"), object_pairs_hook=object_of, parse_constant=no_constant)


def query_of(pairs: Iterable[tuple[str, str]]) -> Json:
    """Return the arguments of a query; one that is given several times becomes a list."""
    found: Json = {}
    for name, value in pairs:
        if "\ufffd" in name + value or "\0" in name + value:
            raise UsageError("api.text", "the query has characters that no text has", "send UTF-8")
        if name in found:
            before = found[name]
            found[name] = [*before, value] if isinstance(before, list) else [before, value]
        else:
            found[name] = value
    return found


def actor_of(headers: Mapping[str, str], fixed: str | None, default: str) -> str:
    """Return the actor of a request: always an agent, unless the user chose another one at the start.

    A caller cannot use the user's own name, whose changes need no approval.
    """
    if fixed is not None:
        return fixed
    given = headers.get(ACTOR_HEADER)
    if given is None:
        return default
    name = given.removeprefix("agent:")
    plain = name.replace("-", "").replace("_", "").replace(".", "")
    if not (plain.isascii() and plain.isalnum()) or len(name) > 60:
        raise UsageError("usage.actor", f"{given[:80]!r} is not a valid actor", "send a name such as agent:builder")
    return f"agent:{name}"
