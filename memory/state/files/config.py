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
_PARTS = {key.rsplit(".", number)[0] for key in KEYS for number in range(1, key.count(".") + 1)}
"""The dotted keys of the objects that hold settings."""


def _put(settings: Json, key: str, value: Any) -> None:
    """Set the value at a dotted key in place."""
    *parents, last = key.split(".")
    for part in parents:
        settings = settings.setdefault(part, {})
    settings[last] = value


def _flat(written: Json, where: str = "") -> dict[str, Any]:
    """Return the values of a configuration by their dotted keys; only the objects that hold settings are opened.

    A key that has a dot itself is quoted: it is no setting.
    """
    found: dict[str, Any] = {}
    for key, value in written.items():
        place = f'{where}"{key}"' if "." in key else f"{where}{key}"
        found |= _flat(value, f"{place}.") if place in _PARTS and isinstance(value, dict) else {place: value}
    return found


DEFAULTS: Json = {}
"""The default settings."""
for _key, (_default, _) in _SETTINGS.items():
    _put(DEFAULTS, _key, _default)

DEFAULT_BYTES = ordered_bytes(DEFAULTS)


def config_faults(written: Any) -> Faults:
    """Return the faults in a configuration as written; keys unknown to the format are no fault."""
    if not isinstance(written, dict):
        return [Fault("", "the file is not an object")]
    faults: Faults = []
    for key, value in _flat(written).items():
        if key in _PARTS:
            faults.append(Fault(key, "is not an object"))
        elif key in _SETTINGS:
            faults += faults_of(_SETTINGS[key][1], value, key)
    return faults


def unknown_keys(written: Any) -> list[str]:
    """Return the dotted keys of a configuration that the format does not have, most likely misspelt."""
    flat = _flat(written) if isinstance(written, dict) else {}
    return [key for key in flat if key not in _SETTINGS and key not in _PARTS]


def read_config(data: bytes) -> Json:
    """Return the settings, missing ones filled from the defaults; ConfigError `state.config.*`."""
    written = load(data, CONFIG, "state.config.json")
    if faults := config_faults(written):
        line = line_of(data, faults[0].where.rpartition(".")[2])
        words = f"{CONFIG}:{line}: {first_of(faults)}"
        raise ConfigError("state.config.schema", words, "mend it there", file=CONFIG, line=line)
    settings: Json = copy.deepcopy(written)
    for key, value in {**_flat(DEFAULTS), **_flat(written)}.items():
        if key in _SETTINGS:
            _put(settings, key, value)
    return settings


def setting(config: Json, key: str) -> Any:
    """Return a setting by its dotted key; ConfigError `state.config.key` for an unknown one."""
    if key not in _SETTINGS:
        raise ConfigError("state.config.key", f"there is no setting {key[:60]!r}", f"one of {', '.join(KEYS)}")
    return _flat(config)[key]


def with_setting(written: Json, key: str, value: str) -> Json:
    """Return a configuration with one setting changed in place; `value` is text as the user writes it.

    ConfigError `state.config.key`, `state.config.value`.
    """
    read: Any = value
    if not isinstance(setting(DEFAULTS, key), str):
        with suppress(ValueError):
            read = json.loads(value)
    if faults := faults_of(_SETTINGS[key][1], read, key):
        raise ConfigError("state.config.value", f"{value[:60]!r}: {first_of(faults)}", "give a value that fits")
    changed = copy.deepcopy(written)
    _put(changed, key, read)
    return changed
