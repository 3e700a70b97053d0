"""The settings: `[memory]` in `$AGH_HOME/config.toml`, every key checked, with its line where it is wrong.

Only the person's own file counts: one that came with a repository must not choose what the controller lets through.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from memory.base.patterns import late
from memory.curated.model import ORIGINS, Json

from .keys import BY_NAME, KEYS, Key

if TYPE_CHECKING:
    from memory.base.toml_text import Toml
    from memory.storage import Store

FILE = "config.toml"
_CODE = "memory.config"
_SPAN = late(r"(\d{1,9}(?:\.\d{1,3})?)(ms|s|m|h|d)")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


class CuratedSettings:
    """The values of all keys; `lines` are those of keys that the file sets."""

    __slots__ = ("lines", "values")

    def __init__(self, values: Mapping[str, Any], lines: Mapping[str, int]) -> None:
        """Keep both."""
        self.values = values
        self.lines = lines

    def __getitem__(self, name: str) -> Any:
        """Return the value of a key of `keys.KEYS`."""
        return self.values[name]

    def seconds(self, name: str) -> float:
        """Return a span in seconds."""
        return seconds_of(self.values[name])

    @property
    def names_commands(self) -> bool:
        """Whether any command is named that answers for a model."""
        return any(self.values[key.name].strip() for key in KEYS if key.name.endswith(".command"))

    def json(self) -> list[Json]:
        """Return every key with its value, default and source."""
        return [
            {
                "key": key.name,
                "value": _plain(self.values[key.name]),
                "default": _plain(key.default),
                "source": f"{FILE}:{self.lines[key.name]}" if key.name in self.lines else "default",
                "mutable": not key.locked,
                "does": key.does,
            }
            for key in KEYS
        ]


DEFAULTS = CuratedSettings({key.name: key.default for key in KEYS}, {})


def read_settings(store: Store | None) -> CuratedSettings:
    """Return the settings of a person; ConfigError `memory.config` with file and line for what is wrong in them."""
    if store is None:
        return DEFAULTS
    stored = store.read(FILE)
    return settings_of(stored.data, str(store.root / FILE)) if stored.exists else DEFAULTS


def settings_of(data: bytes, file: str) -> CuratedSettings:
    """Return the settings that a file says; errors as `read_settings`."""
    from memory.base.toml_text import config_error, read_toml

    toml = read_toml(data, file, code=_CODE)
    table = toml.values.get("memory", {})
    if not isinstance(table, Mapping):
        raise config_error(_CODE, "memory is no table", file, toml.line_of("memory"))
    values = dict(DEFAULTS.values)
    lines: dict[str, int] = {}
    for name, value in _flat(table, ()):
        line = toml.line_of("memory", *name.split("."))
        key = BY_NAME.get(name)
        if key is None:
            raise config_error(_CODE, f"unknown key memory.{name[:80]}", file, line, _near(name))
        why = _fault(key, value)
        if why is not None:
            raise config_error(_CODE, f"memory.{name} {why}", file, line)
        values[name] = tuple(value) if isinstance(value, list) else value
        lines[name] = line
    settings = CuratedSettings(values, lines)
    _check_together(settings, toml, file)
    return settings


def seconds_of(text: str) -> float:
    """Return a span such as `300ms`, `60s` or `24h` in seconds; ValueError for another text."""
    found = _SPAN.fullmatch(text)
    if found is None:
        raise ValueError(text)
    return float(found[1]) * _SECONDS[found[2]]


def _flat(table: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    for key, value in table.items():
        if isinstance(value, Mapping) and ".".join((*path, key)) not in BY_NAME:
            if not value and not any(name.startswith(".".join((*path, key)) + ".") for name in BY_NAME):
                yield ".".join((*path, key)), value
            yield from _flat(value, (*path, key))
        else:
            yield ".".join((*path, key)), value


def _near(name: str) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name, BY_NAME, 1)
    return f"did you mean memory.{near[0]}?" if near else "`memdeck curated config` lists the keys"


def _fault(key: Key, value: object) -> str | None:
    """Return why a value is refused, None where it is taken."""
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    match key.kind:
        case "bool":
            return None if isinstance(value, bool) else "takes true or false"
        case "text":
            return None if isinstance(value, str) and value.isprintable() else "takes a text on one line"
        case "path":
            good = bool(isinstance(value, str) and value.isprintable() and ".." not in value.split("/"))
            return None if good and not str(value).startswith(("/", "~")) else "takes a path beneath $AGH_HOME"
        case "segment":
            pattern = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9_-]|\.(?!\.))*")
            good = isinstance(value, str) and bool(pattern.fullmatch(value))
            return None if good else "takes the name of one folder"
        case "count" | "positive" | "hour":
            whole = isinstance(value, int) and not isinstance(value, bool)
            least, most = (1 if key.kind == "positive" else 0), (23 if key.kind == "hour" else 2**53)
            if whole and least <= value <= most:  # type: ignore[operator]
                return None
            return f"takes a whole number from {least}" + (" to 23" if key.kind == "hour" else " on")
        case "share":
            return None if number and 0 <= value <= 1 else "takes a number from 0 to 1"  # type: ignore[operator]
        case "span":
            good = isinstance(value, str) and bool(_SPAN.fullmatch(value)) and seconds_of(value) > 0
            return None if good else "takes a time such as 300ms, 60s, 10m or 24h"
        case "rotation":
            pattern = re.compile(r"[A-Za-z0-9_-]*\{date\}[._-]\{seq\}[A-Za-z0-9_-]*\.md")
            good = isinstance(value, str) and bool(pattern.fullmatch(value))
            return None if good else "takes a file name such as {date}.{seq}.md"
        case "origins":
            good = isinstance(value, list) and bool(value) and len(set(map(str, value))) == len(value)
            if good and all(one in ORIGINS for one in value):  # type: ignore[attr-defined]
                return None
            return f"takes a list of some of {', '.join(ORIGINS)}, each once"
    choices = key.kind.split("|")
    return None if value in choices else f"takes {' or '.join(choices)}"


def _check_together(settings: CuratedSettings, toml: Toml, file: str) -> None:
    from memory.base.toml_text import config_error

    lines = settings.lines

    def fail(name: str, message: str) -> None:
        raise config_error(_CODE, message, file, toml.line_of("memory", *name.split(".")))

    for table in ("recall.weights", "dream.scoring.weights"):
        total = sum(settings[key.name] for key in KEYS if key.name.startswith(f"{table}."))
        if abs(total - 1) > 1e-6:
            name = next((key.name for key in KEYS if key.name.startswith(f"{table}.") and key.name in lines), table)
            fail(name, f"the weights of memory.{table} add up to {total:g}, not to 1")
    if settings["recall.raw_candidates"] < settings["recall.top_k"]:
        fail("recall.raw_candidates", "memory.recall.raw_candidates is less than memory.recall.top_k")
    if settings["extractor.queue.coalesce_max"] < settings["extractor.throttle_turns"]:
        fail("extractor.queue.coalesce_max", "memory.extractor.queue.coalesce_max is less than throttle_turns")
    if settings["controller.mode"] == "llm" and not settings["controller.llm.enabled"]:
        fail("controller.mode", "memory.controller.mode is llm, and memory.controller.llm.enabled is false")


def _plain(value: object) -> object:
    return list(value) if isinstance(value, tuple) else value
