"""The limits of injection and storing, from `memory` in `.aegis/agent.json`."""

from __future__ import annotations

import re

from memory.errors import ConfigError
from memory.named_tuple import NamedTuple

from .model import FOLDER, SETTINGS

MODES = ("relevant", "recent_only", "off")
_WHERE = f"{FOLDER}/{SETTINGS}"
_MOST = 10**9
_DIGITS = re.compile(rb"[0-9]{4300}")
"""What Python refuses to read as a number."""


class FactLimits(NamedTuple):
    """The limits: characters of text and facts in one injection, facts in the file."""

    inject_mode: str = "relevant"
    max_inject_chars: int = 2000
    max_inject_count: int = 10
    max_total: int = 500


def read_settings(data: bytes | None) -> FactLimits:
    """Return the settings of a file; what is missing, null or zero is the default.

    ConfigError `facts.settings` for an unknown mode, a number that is none, and a file that does not parse.
    """
    if data is None:
        return FactLimits()
    import json

    try:
        values = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise _bad(data, "is no JSON that can be read", "", line=getattr(error, "lineno", 0)) from None
    memory = values.get("memory") if isinstance(values, dict) else None
    if not isinstance(values, dict) or not isinstance(memory, dict | None):
        raise _bad(data, 'has no object "memory"', "memory")
    memory = memory or {}
    default = FactLimits()
    mode = memory.get("inject_mode") or default.inject_mode
    if mode not in MODES:
        raise _bad(data, f"has the inject_mode {_shown(mode)}", "inject_mode", f"use one of {', '.join(MODES)}")
    numbers = ("max_inject_chars", "max_inject_count", "max_total")
    return FactLimits(str(mode), *(_number(data, memory, key, getattr(default, key)) for key in numbers))


def _number(data: bytes, values: dict[str, object], key: str, default: int) -> int:
    value = values.get(key)
    if value is None or value == 0:
        return default
    if isinstance(value, bool) or not isinstance(value, int) or not 0 < value < _MOST:
        raise _bad(data, f"has {_shown(value)} as {key}", key, f"write a whole number below {_MOST:,}")
    return value


def _shown(value: object) -> str:
    return repr(str(value)[:40])


def _bad(data: bytes, what: str, key: str, hint: str = "mend it", line: int = 0) -> ConfigError:
    """Return an error about a key, or what cannot be read; its line where that can be told."""
    at = data.find(f'"{key}"'.encode()) if key else next((found.start() for found in _DIGITS.finditer(data)), -1)
    line = line or data.count(b"\n", 0, max(at, 0)) + 1
    message = f"{_WHERE}:{line}: it {what}"
    return ConfigError("facts.settings", message, hint, file=_WHERE, line=line, field=key)
