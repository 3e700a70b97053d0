"""config.json: recall, query, automation and retention; missing parts are filled from the defaults."""

from __future__ import annotations

import copy
import json
from contextlib import suppress
from typing import Any

from memory.errors import ConfigError

from .json_text import line_of, load, ordered_bytes
from .model import CONFIG, Json
from .schema import Fault, Faults, faults_of, first_of

_SETTINGS: dict[str, tuple[Any, str]] = {
    "recall.defaultSection": ("all", "section"),
    "recall.defaultSource": ("all", "scope"),
    "recall.policy": ("balanced", "policy"),
    "recall.backlogWarnThreshold": (10, "count"),
    "recall.preview.showDiffByDefault": (False, "flag"),
    "query.defaultOutput": ("text", "output"),
    "query.templates.answer.instructions": ("Answer directly from the strongest evidence.", "text"),
    "query.templates.changes.instructions": ("Say the recent changes first.", "text"),
    "query.templates.next.instructions": ("Say the concrete next actions first.", "text"),
    "query.templates.traps.instructions": ("Say the gotchas and risks first.", "text"),
    "automation.intervalMinutes": (15, "minutes"),
    "automation.provider": ("auto", "agent"),
    "automation.importSyncBeforeRecall": (True, "flag"),
    "automation.autoRecall": (True, "flag"),
    "retention.enabled": (True, "flag"),
    "retention.history.maxAgeDays": (90, "days"),
    "retention.checkpoints.maxAgeDays": (30, "days"),
    "retention.checkpoints.keepRecent": (10, "count"),
    "retention.archive.expireAfterDays": (180, "days"),
}
"""The settings by their dotted keys: the default and the kind of each value."""

KEYS = tuple(_SETTINGS)


def _put(settings: Json, key: str, value: Any) -> None:
    """Set the value at a dotted key in place."""
    *parents, last = key.split(".")
    for part in parents:
        settings = settings.setdefault(part, {})
    settings[last] = value


DEFAULTS: Json = {}
"""The default settings."""
for _key, (_default, _) in _SETTINGS.items():
    _put(DEFAULTS, _key, _default)

DEFAULT_BYTES = ordered_bytes(DEFAULTS)


def config_faults(written: Any) -> Faults:
    """Return the faults in a configuration as written; keys unknown to the format are no fault."""
    faults: Faults = []
    if not isinstance(written, dict):
        return [Fault("", "the file is not an object")]
    for key, (_, kind) in _SETTINGS.items():
        value: Any = written
        seen = ""
        for part in key.split("."):
            if not isinstance(value, dict):
                fault = Fault(seen, "is not an object")
                faults += [] if fault in faults else [fault]
                break
            if part not in value:
                break
            value, seen = value[part], f"{seen}.{part}" if seen else part
        else:
            faults += faults_of(kind, value, key)
    return faults


def unknown_keys(written: Any, known: Json = DEFAULTS, where: str = "") -> list[str]:
    """Return the dotted keys of a configuration that the format does not have, most likely misspelt."""
    if not isinstance(written, dict):
        return []
    found: list[str] = []
    for key, value in written.items():
        place = f"{where}.{key}" if where else key
        if key not in known:
            found.append(place)
        elif isinstance(known[key], dict):
            found += unknown_keys(value, known[key], place)
    return found


def read_config(data: bytes) -> Json:
    """Return the settings, missing ones filled from the defaults; ConfigError `state.config.*`."""
    written = load(data, CONFIG, "state.config.json")
    faults = config_faults(written)
    if faults:
        line = line_of(data, faults[0].where.rpartition(".")[2])
        raise ConfigError(
            "state.config.schema", f"{CONFIG}:{line}: {first_of(faults)}", "mend it there", file=CONFIG, line=line
        )
    return _filled(DEFAULTS, written)


def _filled(defaults: Json, written: Json) -> Json:
    filled = {**copy.deepcopy(defaults), **written}
    for key, default in defaults.items():
        if isinstance(default, dict):
            filled[key] = _filled(default, written.get(key, {}))
    return filled


def setting(config: Json, key: str) -> Any:
    """Return a setting by its dotted key; ConfigError `state.config.key` for an unknown one."""
    if key not in _SETTINGS:
        raise ConfigError("state.config.key", f"there is no setting {key[:60]!r}", f"one of {', '.join(KEYS)}")
    value: Any = config
    for part in key.split("."):
        value = value[part]
    return value


def with_setting(written: Json, key: str, value: str) -> Json:
    """Return a configuration with one setting changed in place; `value` is text as the user writes it.

    ConfigError `state.config.key`, `state.config.value`.
    """
    read: Any = value
    if not isinstance(setting(DEFAULTS, key), str):
        with suppress(ValueError):
            read = json.loads(value)
    faults = faults_of(_SETTINGS[key][1], read, key)
    if faults:
        raise ConfigError("state.config.value", f"{value[:60]!r}: {first_of(faults)}", "give a value that fits")
    changed = copy.deepcopy(written)
    _put(changed, key, read)
    return changed
