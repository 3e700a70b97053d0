"""What a threshold may speak of: the names that each type of monitor measures, and its threshold without one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

NameKind = Literal["number", "time", "size", "text", "flag", "any"]
KINDS = ("http", "command", "tcp", "file", "heartbeat")
"""The types of monitors."""
DEFAULTS: Mapping[str, str] = {
    "http": "status >= 400",
    "command": "exit code != 0",
    "tcp": "not open",
    "file": "missing",
    "heartbeat": "missing",
}
"""The threshold of a monitor that has none; a heartbeat with `olderThan` has `age > …` beside it."""
JSON = "json."
"""How names begin that are a path into a JSON answer."""


@dataclass(frozen=True, slots=True)
class KnownName:
    """What is known of a name: what it counts in, and which types of monitors have it."""

    kind: NameKind
    types: tuple[str, ...]


NAMES: Mapping[str, KnownName] = {
    "status": KnownName("number", ("http",)),
    "latency": KnownName("time", ("http", "tcp", "command")),
    "body": KnownName("text", ("http",)),
    "certificate": KnownName("time", ("http",)),
    "size": KnownName("size", ("http", "file")),
    "exit code": KnownName("number", ("command",)),
    "value": KnownName("any", ("command",)),
    "stdout": KnownName("text", ("command",)),
    "stderr": KnownName("text", ("command",)),
    "open": KnownName("flag", ("tcp",)),
    "exists": KnownName("flag", ("file", "heartbeat")),
    "missing": KnownName("flag", ("file", "heartbeat")),
    "age": KnownName("time", ("file", "heartbeat")),
}
_JSON = KnownName("any", ("http", "command"))
_ALIASES = {
    "exitcode": "exit code",
    "exit_code": "exit code",
    "exit status": "exit code",
    "exit": "exit code",
    "code": "exit code",
    "status code": "status",
    "statuscode": "status",
    "response time": "latency",
    "duration": "latency",
    "output": "stdout",
    "certificate days": "certificate",
    "cert": "certificate",
}


def plain_name(words: str) -> str:
    """Return the name that is meant, as `NAMES` has it: `Status Code` is `status`; a path keeps its case."""
    if words.startswith(JSON):
        return words
    words = words.casefold()
    return _ALIASES.get(words, words)


def find_name(name: str) -> KnownName | None:
    """Return what is known of a plain name; `value[2]` and `json.a.b` are names too."""
    if name.startswith(JSON) and len(name) > len(JSON):
        return _JSON
    base, bracket, rest = name.partition("[")
    if bracket:
        return NAMES["value"] if base == "value" and rest.endswith("]") and rest[:-1].isdigit() else None
    return NAMES.get(name)


def names_of(kind: str) -> tuple[str, ...]:
    """Return the names that a type of monitor has, all of them for a type nobody knows."""
    return tuple(name for name, known in NAMES.items() if kind not in KINDS or kind in known.types)


def nearest(name: str, kind: str = "") -> str:
    """Return advice: the name that was probably meant, or all there are."""
    import difflib

    names = names_of(kind)
    close = difflib.get_close_matches(name.casefold()[:40], names, 1)
    return f"did you mean {close[0]}?" if close else "write one of " + ", ".join(names)
