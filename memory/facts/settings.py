"""The limits of injection and storing, from `memory` in `.aegis/agent.json`."""

from __future__ import annotations

from dataclasses import dataclass

from memory.errors import ConfigError

from .model import FOLDER, SETTINGS

MODES = ("relevant", "recent_only", "off")
_WHERE = f"{FOLDER}/{SETTINGS}"


@dataclass(frozen=True, slots=True)
class Settings:
    """The limits: characters of text and facts in one injection, facts in the file."""

    inject_mode: str = "relevant"
    max_inject_chars: int = 2000
    max_inject_count: int = 10
    max_total: int = 500


def read_settings(data: bytes | None) -> Settings:
    """Return the settings of a file; what is missing, null or zero is the default.

    ConfigError `facts.settings` for an unknown mode, a number that is none, and a file that does not parse.
    """
    if data is None:
        return Settings()
    import json

    try:
        values = json.loads(data)
    except (ValueError, RecursionError):
        raise _bad("is no JSON", "") from None
    memory = values.get("memory") if isinstance(values, dict) else None
    if not isinstance(values, dict) or not isinstance(memory, dict | None):
        raise _bad('has no object "memory"', "memory")
    memory = memory or {}
    default = Settings()
    mode = memory.get("inject_mode") or default.inject_mode
    if mode not in MODES:
        raise _bad(f"has the inject_mode {str(mode)[:40]!r}", "inject_mode", f"use one of {', '.join(MODES)}")
    return Settings(
        str(mode),
        *(_number(memory, key, getattr(default, key)) for key in ("max_inject_chars", "max_inject_count", "max_total")),
    )


def _number(values: dict[str, object], key: str, default: int) -> int:
    value = values.get(key)
    if value is None or value == 0:
        return default
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise _bad(f"has {str(value)[:40]!r} as {key}", key, "write a whole number")
    return value


def _bad(what: str, key: str, hint: str = "mend it") -> ConfigError:
    return ConfigError("facts.settings", f"{_WHERE} {what}", hint, file=_WHERE, field=key)
