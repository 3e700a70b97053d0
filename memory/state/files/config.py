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

DEFAULTS: Json = {
    "recall": {
        "defaultSection": "all",
        "defaultSource": "all",
        "policy": "balanced",
        "backlogWarnThreshold": 10,
        "preview": {"showDiffByDefault": False},
    },
    "query": {
        "defaultOutput": "text",
        "templates": {
            "answer": {"instructions": "Answer directly from the strongest evidence."},
            "changes": {"instructions": "Say the recent changes first."},
            "next": {"instructions": "Say the concrete next actions first."},
            "traps": {"instructions": "Say the gotchas and risks first."},
        },
    },
    "automation": {
        "intervalMinutes": 15,
        "provider": "auto",
        "importSyncBeforeRecall": True,
        "autoRecall": True,
    },
    "retention": {
        "enabled": True,
        "history": {"maxAgeDays": 90},
        "checkpoints": {"maxAgeDays": 30, "keepRecent": 10},
        "archive": {"expireAfterDays": 180},
    },
}
"""The default settings."""

DEFAULT_BYTES = ordered_bytes(DEFAULTS)

_KINDS = {
    "recall.defaultSection": "section",
    "recall.defaultSource": "scope",
    "recall.policy": "policy",
    "recall.backlogWarnThreshold": "count",
    "recall.preview.showDiffByDefault": "flag",
    "query.defaultOutput": "output",
    **{f"query.templates.{mode}.instructions": "text" for mode in DEFAULTS["query"]["templates"]},
    "automation.intervalMinutes": "minutes",
    "automation.provider": "agent",
    "automation.importSyncBeforeRecall": "flag",
    "automation.autoRecall": "flag",
    "retention.enabled": "flag",
    "retention.history.maxAgeDays": "days",
    "retention.checkpoints.maxAgeDays": "days",
    "retention.checkpoints.keepRecent": "count",
    "retention.archive.expireAfterDays": "days",
}
"""The kind of the value of each setting, by its dotted key."""

KEYS = tuple(_KINDS)


def config_faults(written: Any) -> Faults:
    """Return the faults in a configuration as written; keys unknown to the format are no fault."""
    faults: Faults = []
    if not isinstance(written, dict):
        return [Fault("", "the file is not an object")]
    for key, kind in _KINDS.items():
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
    if key not in _KINDS:
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
    faults = faults_of(_KINDS[key], read, key)
    if faults:
        raise ConfigError("state.config.value", f"{value[:60]!r}: {first_of(faults)}", "give a value that fits")
    changed = copy.deepcopy(written)
    place = changed
    *parents, last = key.split(".")
    for part in parents:
        place = place.setdefault(part, {})
    place[last] = read
    return changed
