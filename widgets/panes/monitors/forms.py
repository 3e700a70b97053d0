"""The forms of a monitor: its type decides which fields are asked, and what its threshold may refer to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, tzinfo
from typing import Any

from memory.files.monitors import Monitor, add_monitor, edit_monitor
from memory.monitoring.problems import runnable
from memory.monitoring.settings import kind_of
from memory.monitoring.thresholds.threshold import BadThreshold, meaning, parse_threshold
from widgets.input.date_fields import cron_field
from widgets.input.fields import FieldSpec, usage_error
from widgets.pane.offers import Build, FormPlan

TYPES = ("http", "command", "tcp", "file", "heartbeat")
"""The types of monitors."""

ALERTS = ("high", "normal", "low")
"""The priorities of an alert."""

FIX = "a command that may fix it"
"""The placeholder of the fix."""

FOLDER = ". to run in the workspace; else an empty folder"
"""The placeholder of the folder field."""

_NEEDED = {"http": "url", "command": "command", "tcp": "host", "file": "path"}
"""The field that a type requires."""

_OF_TYPES: tuple[tuple[str, str, tuple[str, ...], str], ...] = (
    ("url", "url", ("http",), "https://…"),
    ("expect", "expect", ("http",), 'ok, or json.state == "up"'),
    ("certificate", "certificate", ("http",), "how long it must still be valid: 14d"),
    ("command", "command", ("command",), "runs only after approval"),
    ("unit", "unit", ("command",), "the unit of its number: % used"),
    ("host", "host", ("tcp",), "db.example.com:5432"),
    ("path", "path", ("file",), "relative to the workspace"),
    ("entry", "entry", ("heartbeat",), "title of the journal entry; empty: its name"),
    ("olderThan", "older than", ("heartbeat",), "such as 26h"),
    ("timeout", "timeout", ("http", "command", "tcp"), "such as 10s"),
)
"""Fields that only some types have: key, label, types, placeholder."""

_RARE = ("expect", "certificate", "unit", "timeout")
"""Fields that the form omits for a monitor that does not have them."""


class _Chosen:
    """The type currently chosen in the form, for the fields that depend on it."""

    def __init__(self, kind: str) -> None:
        self.kind = kind

    def among(self, kinds: Sequence[str] = ()) -> Callable[[str], bool]:
        """Return a function that records the type and returns whether a field of `kinds` is shown for it.

        Without `kinds`, or for an unknown type, it always is.
        """

        def shown(value: str) -> bool:
            self.kind = value
            return not kinds or value in kinds or value not in TYPES

        return shown


def adding(now: datetime, zone: tzinfo) -> FormPlan:
    """Return the form of a new monitor."""

    def build(_changed: dict[str, str], values: dict[str, str], now: datetime) -> Build:
        given = {key: value.strip() for key, value in _fitting(values).items() if key != "name" and value.strip()}
        return runnable(lambda snapshot: add_monitor(snapshot, values["name"].strip(), given, now=now))

    values = {"type": TYPES[0], "interval": "*/5 * * * *", "alertPriority": "normal"}
    fields = _fields(values, _Chosen(TYPES[0]), ("expect", "certificate", "unit"), now, zone)
    return FormPlan("New monitor", fields, build, "monitors.add", check=_check)


def editing(monitor: Monitor, now: datetime, zone: tzinfo) -> FormPlan:
    """Return the form of every field of a monitor; unknown fields are shown and kept."""
    known = {key for key, *_ in _OF_TYPES}
    values = {key: monitor.entry.fields.get(key) or "" for key in known if key in monitor.extra}
    values |= {
        "name": monitor.name,
        "type": monitor.type or "",
        "url": monitor.url or "",
        "command": monitor.command or "",
        "interval": monitor.interval or "",
        "threshold": monitor.threshold or "",
        "alertPriority": monitor.alert_priority or "",
        "autoRemediate": monitor.auto_remediate or "",
        "folder": monitor.folder or "",
    }
    rare = tuple(key for key in _RARE if not values.get(key))
    fields = [
        *_fields(values, _Chosen(monitor.type or kind_of(monitor)), rare, now, zone),
        FieldSpec("cronJobId", "cron job", value=monitor.cron_job_id or ""),
        *(
            FieldSpec(key, key, value=str(value or ""), known=False)
            for key, value in monitor.extra.items()
            if key not in known
        ),
    ]
    ref, base = monitor.ref, monitor.entry

    def build(changed: dict[str, str], _values: dict[str, str], now: datetime) -> Build:
        given = {key: value.strip() for key, value in changed.items() if value.strip()}
        gone = tuple(key for key, value in changed.items() if not value.strip())
        return runnable(lambda snapshot: edit_monitor(snapshot, ref, set=given, unset=gone, base=base, now=now))

    return FormPlan("Edit monitor", fields, build, "monitors.edit", check=_check)


def _fields(
    values: dict[str, str], chosen: _Chosen, left_out: Sequence[str], now: datetime, zone: tzinfo
) -> list[FieldSpec]:
    """Return the fields of every monitor with their values."""
    types = TYPES if values["type"] else ("", *TYPES)

    def field(key: str, label: str, placeholder: str, **more: Any) -> FieldSpec:
        return FieldSpec(key, label, value=values.get(key, ""), placeholder=placeholder, **more)

    return [
        field("name", "name", "what it watches", required=True),
        FieldSpec("type", "type", "choice", values["type"], types),
        *_of_types(values, chosen, left_out),
        cron_field("interval", "interval", values["interval"], now, zone),
        _threshold(values.get("threshold", ""), chosen),
        FieldSpec("alertPriority", "alert", "choice", values["alertPriority"], ALERTS),
        field("autoRemediate", "fix", FIX),
        field("folder", "folder", FOLDER),
    ]


def _of_types(values: dict[str, str], chosen: _Chosen, left_out: Sequence[str]) -> list[FieldSpec]:
    return [
        FieldSpec(
            key,
            label,
            value=values.get(key, ""),
            placeholder=words,
            follows="type",
            shown=chosen.among(kinds),
            required=_NEEDED.get(kinds[0]) == key and not (key == "host" and values.get("url")),
        )
        for key, label, kinds, words in _OF_TYPES
        if key not in left_out
    ]  # fmt: skip


def _threshold(value: str, chosen: _Chosen) -> FieldSpec:
    """The field for when it alerts: as it is typed, it shows an error with its column, or the meaning."""

    def validate(text: str) -> str | None:
        return usage_error(lambda: parse_threshold(text, chosen.kind)) if text.strip() else None

    def hint(text: str) -> str:
        try:
            return meaning(parse_threshold(text, chosen.kind), chosen.kind)
        except BadThreshold:
            return ""

    return FieldSpec(
        "threshold",
        "alert when",
        value=value,
        placeholder="status != 200, exit code != 0, value > 90",
        validate=validate,
        hint=hint,
        follows="type",
        shown=chosen.among(),
    )


def _fitting(values: dict[str, str]) -> dict[str, str]:
    """The values without fields of other types."""
    kinds = {key: kinds for key, _, kinds, _ in _OF_TYPES}
    return {key: value for key, value in values.items() if values.get("type", "") in kinds.get(key, TYPES)}


def _check(values: dict[str, str]) -> dict[str, str]:
    """Return an error by field name where a monitor lacks what its type requires."""
    wanted = _NEEDED.get(values.get("type", ""))
    if wanted and not values.get(wanted, "").strip():
        if wanted == "host" and values.get("url", "").strip():
            return {}
        return {wanted: f"a monitor of type {values['type']} needs a {wanted}"}
    untimed = not values.get("olderThan", "").strip() and "age" not in values.get("threshold", "")
    if values.get("type") == "heartbeat" and untimed:
        return {"olderThan": "maximum age of the last sign, such as 26h"}
    return {}
