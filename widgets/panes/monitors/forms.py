"""The forms of a monitor: its type decides which fields are asked, and what its threshold may refer to."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, tzinfo

from memory.files.monitors.model import Monitor
from memory.monitoring.settings import kind_of
from memory.monitoring.threshold import DEFAULTS, parse_threshold
from widgets.input.date_fields import cron_field
from widgets.input.fields import FieldSpec, usage_error
from widgets.pane.offers import FormPlan
from widgets.pane.operation_form import add_form_of, edit_form_of

TYPES = tuple(DEFAULTS)
"""The types of monitors."""

ALERTS = ("high", "normal", "low")
"""The priorities of an alert."""

_NEEDED = {"http": "url", "command": "command", "tcp": "host", "file": "path"}
"""The field that a type requires."""

_FIELDS: tuple[tuple[str, str, tuple[str, ...], str], ...] = (
    ("name", "name", (), "what it watches"),
    ("type", "type", (), ""),
    ("url", "url", ("http",), "https://…"),
    ("command", "command", ("command",), "runs only after approval"),
    ("host", "host", ("tcp",), "db.example.com:5432"),
    ("path", "path", ("file",), "relative to the workspace"),
    ("timeout", "timeout", ("http", "command", "tcp"), "such as 10s"),
    ("interval", "interval", (), ""),
    ("threshold", "alert when", (), "status != 200, exit code != 0, value > 90"),
    ("alertPriority", "alert", (), ""),
    ("autoRemediate", "fix", (), "a command that may fix it"),
    ("folder", "folder", (), ". to run in the workspace; else an empty folder"),
)
"""The fields of monitors: key, label, the types that have it (none: all), placeholder."""


def adding(now: datetime, zone: tzinfo) -> FormPlan:
    """Return the form of a new monitor."""
    values = {"type": TYPES[0], "interval": "*/5 * * * *", "alertPriority": "normal"}
    fields = _fields(values, TYPES[0], (), now, zone)
    return add_form_of("monitors add", "New monitor", fields)


def editing(monitor: Monitor, now: datetime, zone: tzinfo) -> FormPlan:
    """Return the form of every field of a monitor; unknown fields are shown and kept."""
    known = [key for key, *_ in _FIELDS]
    fields = {"cronJobId": monitor.cron_job_id or "", **{key: value or "" for key, value in monitor.extra.items()}}
    values = {key: monitor.text_of(key) or fields.pop(key, "") for key in known} | {"name": monitor.name}
    # The form omits it for a monitor that does not have it.
    rare = () if values["timeout"] else ("timeout",)
    shown = _fields(values, monitor.type or kind_of(monitor), rare, now, zone)
    shown.append(FieldSpec("cronJobId", "cron job", value=fields.pop("cronJobId")))
    shown += [FieldSpec(key, key, value=str(value), known=False) for key, value in fields.items()]
    return edit_form_of("monitors edit", "Edit monitor", monitor, shown, "name")


def _fields(
    values: Mapping[str, str], kind: str, left_out: Sequence[str], now: datetime, zone: tzinfo
) -> list[FieldSpec]:
    """Return the fields of a monitor with their values; those that depend on the type follow it."""
    chosen = [kind]

    def among(kinds: Sequence[str]) -> Callable[[str], bool]:
        def shown(value: str) -> bool:
            chosen[:] = [value]
            return not kinds or value in kinds or value not in TYPES

        return shown

    def validate(text: str) -> str | None:
        return usage_error(lambda: parse_threshold(text, chosen[0])) if text.strip() else None

    def hint(text: str) -> str:
        usual = DEFAULTS.get(chosen[0])
        return f"without one it alerts when {usual}" if usual and not text.strip() else ""

    fields: list[FieldSpec] = []
    for key, label, kinds, words in _FIELDS:
        if key in left_out:
            continue
        value = values.get(key, "")
        field = FieldSpec(key, label, value=value, placeholder=words, required=key == "name")
        if kinds:
            needed = _NEEDED.get(kinds[0]) == key and not (key == "host" and values.get("url"))
            field = replace(field, follows="type", shown=among(kinds), required=needed)
        elif key == "interval":
            field = cron_field(key, label, value, now, zone)
        elif key == "threshold":
            field = replace(field, follows="type", shown=among(()), validate=validate, hint=hint)
        elif key in ("type", "alertPriority"):
            offered = TYPES if key == "type" else ALERTS
            field = replace(field, kind="choice", options=offered if value or key != "type" else ("", *offered))
        fields.append(field)
    return fields
