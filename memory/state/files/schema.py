"""The shapes of the format, and its settings, as tables, checked strictly: every fault has its place in the object.

Missing settings are filled from the defaults. Keys unknown to the format are left alone: another tool may have written
them.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable
from contextlib import suppress
from functools import cache, partial
from itertools import chain
from typing import Any, NamedTuple

from memory.errors import ConfigError
from memory.state.files import model
from memory.state.files.model import Json, line_of, load, ordered_bytes, stays_inside

_HASH = re.compile(r"[0-9a-f]{64}")
_LONGEST = 1_000_000  # The most days or minutes that a time can be counted back by.


class Fault(NamedTuple):
    """A fault at one place (`bundle.project.name`) of an object."""

    where: str
    what: str

    def __str__(self) -> str:
        """Return both as one sentence."""
        return f"{self.where} {self.what}" if self.where else self.what


Faults = list[Fault]

SHAPES: dict[str, dict[str, str]] = {
    "provider": {"name": "text", "binary": "text", "model": "text?", "sessionId": "text?"},
    "project": {
        "name": "text", "summary": "text", "primaryEcosystem": "text", "packageManager": "text",
        "workspaceManager": "text", "recommendedEntryFile": "path", "keyPaths": "path*",
    },
    "module": {"name": "text", "path": "path", "responsibility": "text"},
    "entrypoint": {"path": "path", "role": "text"},
    "area": {"path": "path", "note": "text"},
    "map": {
        "modules": "module*", "entrypoints": "entrypoint*", "denseSourceAreas": "area*", "architectureNotes": "text*",
        "firstFilesToRead": "path*",
    },
    "result": {"label": "text", "command": "text", "status": "ended", "summary": "text"},
    "snapshot": {"status": "validated", "validatedAt": "time?", "summary": "text", "results": "result*"},
    "focus": {
        "summary": "text", "currentState": "text*", "knownRisks": "text*", "validationSnapshot": "snapshot",
        "suggestedNextActions": "text*",
    },
    "gotcha": {"title": "text", "symptom": "text", "cause": "text", "correctPath": "text"},
    "step": {"title": "text", "why": "text", "start": "text", "done": "text"},
    "command": {"label": "text", "command": "text+", "purpose": "text"},
    "bundle": {
        "project": "project", "projectMap": "map", "currentFocus": "focus", "gotchas": "gotcha*", "nextSteps": "step*",
        "validationCommands": "command*2",
    },
    "cursor": {"lastRecalledAt": "time?", "lastRecalledEventId": "event id?"},
    "cursors": dict.fromkeys(model.SCOPES, "cursor"),
    "maintenance": {
        "lastRecalledAt": "time?", "lastRecalledEventId": "event id?", "latestCheckpointId": "checkpoint id?",
        "historyEventCount": "count", "importSourceCount": "count", "recallCursors": "cursors",
    },
    "state": {
        "schemaVersion": "version", "generatorVersion": "text", "provider": "provider", "generatedAt": "time",
        "bundleHash": "hash", "bundle": "bundle", "maintenance": "maintenance",
    },
    "signals": dict.fromkeys(model.SIGNALS, "text*"),
    "event": {
        "id": "event id", "kind": "kind", "sourceId": "text", "externalItemId": "text?", "createdAt": "time",
        "contentHash": "hash", "summary": "text", "signals": "signals", "sourceRef": "text",
    },
    "checkpoint": {
        "id": "checkpoint id", "createdAt": "time", "eventId": "event id?", "bundleHash": "hash", "bundle": "bundle",
        "summary": "text",
    },
    "source": {
        "id": "text", "type": "source type", "path": "text", "createdAt": "time", "updatedAt": "time",
        "lastSyncedAt": "time?", "lastSyncStatus": "synced", "lastSyncError": "text?", "lastImportedCount": "count",
    },
    "manifest": {
        "createdAt": "time", "archivedEventIds": "event id*", "archivedCheckpointIds": "checkpoint id*",
        "historyMaxAgeDays": "count", "checkpointMaxAgeDays": "count", "keepRecent": "count",
        "expireAfterDays": "count",
    },
    "import": {"sourceId": "text", "externalItemId": "text?", "contentHash": "hash"},
    "expired": {"events": "event id*", "imports": "import*"},
}  # fmt: skip
"""The objects of the format: their keys, each with the kind of its value.

A kind is a shape, a choice or a value; `?` allows null, `*` makes a list of any length (`*2`: of at most two), `+` a
list that is not empty.
"""

CHOICES: dict[str, tuple[str, ...]] = {
    "validated": ("not-run", "passed", "failed", "mixed"),
    "ended": ("passed", "failed", "unavailable"),
    "kind": ("tool_run", "imported_session"),
    "source type": model.SOURCE_TYPES,
    "synced": ("never", "passed", "failed"),
    "section": ("all", *model.SECTIONS),
    "scope": model.SCOPES,
    "policy": model.POLICIES,
    "output": ("text", "json"),
    "agent": ("auto", *model.PROVIDERS),
}
"""The kinds that are one of some values."""


def _is_text(value: Any) -> bool:
    if not isinstance(value, str) or not value.strip():
        return False
    return value.isascii() or value.encode(errors="ignore").decode() == value


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


VALUES: dict[str, tuple[Callable[[Any], object], str]] = {
    "text": (_is_text, "is not text, or it is blank"),
    "path": (lambda value: _is_text(value) and stays_inside(value), "is not a path in the workspace"),
    "count": (_is_count, "is not a whole number from 0"),
    "days": (lambda value: _is_count(value) and value <= _LONGEST, f"is not a whole number from 0 to {_LONGEST}"),
    "minutes": (lambda value: _is_count(value) and 0 < value <= _LONGEST, "is not a whole number from 1"),
    "version": (lambda value: _is_count(value) and value == model.SCHEMA_VERSION, f"is not {model.SCHEMA_VERSION}"),
    "flag": (lambda value: isinstance(value, bool), "is neither true nor false"),
    "hash": (lambda value: isinstance(value, str) and _HASH.fullmatch(value), "is not a SHA-256 in 64 hex digits"),
    "time": (model.moment, "is not a time such as 2026-01-31T12:00:00.000Z"),
    "event id": (model.number_of, "is not the id of an event such as evt-000001"),
    "checkpoint id": (partial(model.number_of, kind="chk"), "is not the id of a checkpoint such as chk-000001"),
    **{kind: (values.__contains__, f"is not one of {', '.join(values)}") for kind, values in CHOICES.items()},
}
"""The kinds of plain values: the test of each, and the fault of a value that fails it."""


@cache
def _parts(kind: str) -> tuple[str, str, int]:
    """Return the name of a kind, its sign, and the most entries of its list (0: any number)."""
    name, sign, most = re.fullmatch(r"([a-z ]+)([?*+]?)(\d?)", kind).groups()  # type: ignore[union-attr]
    return name, sign, int(most or 0)


def faults_of(kind: str, value: Any, where: str = "") -> Faults:
    """Return the faults of a value of a kind, empty where it has none; `where` is its place."""
    if kind in VALUES:
        fits, what = VALUES[kind]
        return [] if fits(value) else [Fault(where, what)]
    name, sign, most = _parts(kind)
    if sign == "?":
        return [] if value is None else faults_of(name, value, where)
    found: Faults = []
    if sign:
        if not isinstance(value, list):
            return [Fault(where, "is not a list")]
        if (most and len(value) > most) or (sign == "+" and not value):
            found.append(Fault(where, f"has {len(value)} entries" + (f", at most {most} are allowed" if most else "")))
        for index, one in enumerate(value):
            found += faults_of(name, one, f"{where}[{index}]")
        return found
    if not isinstance(value, dict):
        return [Fault(where, "is not an object")]
    for key, part in SHAPES[name].items():
        place = f"{where}.{key}" if where else key
        found += faults_of(part, value[key], place) if key in value else [Fault(place, "is missing")]
    return found


def first_of(faults: Faults) -> str:
    """Return the first few faults as one sentence."""
    more = f", and {len(faults) - 3} more" if len(faults) > 3 else ""
    return "; ".join(map(str, faults[:3])) + more


SETTINGS: dict[str, tuple[Any, str]] = {
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

DEFAULTS = {key: default for key, (default, _) in SETTINGS.items()}
_PARTS = {key.rsplit(".", number)[0] for key in SETTINGS for number in range(1, key.count(".") + 1)}
"""The dotted keys of the objects that hold settings."""


def nested(settings: Json) -> Json:
    """Return settings by their dotted keys as the objects of config.json."""
    whole: Json = {}
    for key, value in settings.items():
        _put(whole, key, value)
    return whole


def _put(settings: Json, key: str, value: Any) -> None:
    """Set the value at a dotted key in place."""
    *parents, last = key.split(".")
    for part in parents:
        settings = settings.setdefault(part, {})
    settings[last] = value


def _flat(written: Json, where: str = "") -> Json:
    """Return the values of a configuration by their dotted keys; only the objects that hold settings are opened.

    A key that has a dot itself is quoted: it is no setting.
    """
    found: Json = {}
    for key, value in written.items():
        place = f'{where}"{key}"' if "." in key else f"{where}{key}"
        found |= _flat(value, f"{place}.") if place in _PARTS and isinstance(value, dict) else {place: value}
    return found


DEFAULT_BYTES = ordered_bytes(nested(DEFAULTS))


def config_faults(written: Any) -> Faults:
    """Return the faults in a configuration as written; keys unknown to the format are no fault."""
    if not isinstance(written, dict):
        return [Fault("", "the file is not an object")]
    flat = _flat(written)
    faults = [Fault(key, "is not an object") for key in flat if key in _PARTS]
    checked = (faults_of(SETTINGS[key][1], value, key) for key, value in flat.items() if key in SETTINGS)
    return [*faults, *chain.from_iterable(checked)]


def unknown_keys(written: Json) -> list[str]:
    """Return the dotted keys of a configuration that the format does not have, most likely misspelt."""
    return [key for key in _flat(written) if key not in SETTINGS and key not in _PARTS]


def read_config(data: bytes) -> Json:
    """Return the settings by their dotted keys, missing ones with their defaults; ConfigError `state.config.*`."""
    written = load(data, model.CONFIG, "state.config.json")
    if faults := config_faults(written):
        line = line_of(data, faults[0].where.rpartition(".")[2])
        words = f"{model.CONFIG}:{line}: {first_of(faults)}"
        raise ConfigError("state.config.schema", words, "fix it there", file=model.CONFIG, line=line)
    return DEFAULTS | {key: value for key, value in _flat(written).items() if key in SETTINGS}


def known_setting(key: str) -> str:
    """Return the dotted key of a setting; ConfigError `state.config.key` for an unknown one."""
    if key not in SETTINGS:
        raise ConfigError("state.config.key", f"there is no setting {key[:60]!r}", f"one of {', '.join(SETTINGS)}")
    return key


def with_setting(written: Json, key: str, value: str) -> Json:
    """Return a configuration with one setting changed in place; `value` is text as the user writes it.

    ConfigError `state.config.key`, `state.config.value`.
    """
    default, kind = SETTINGS[known_setting(key)]
    read: Any = value
    if not isinstance(default, str):
        with suppress(ValueError):
            read = json.loads(value)
    if faults := faults_of(kind, read, key):
        raise ConfigError("state.config.value", f"{value[:60]!r}: {first_of(faults)}", "give a value that fits")
    changed = copy.deepcopy(written)
    _put(changed, key, read)
    return changed
