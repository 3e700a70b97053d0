"""The alert fields of a monitor: failuresBefore, successesBefore, remind, dependsOn, maintenance.

An invalid value is treated as missing, and is reported with its file and line.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo

from memory.base.problems import Problem
from memory.base.values import is_absent, split_remark
from memory.document.nodes import field_line
from memory.errors import UsageError
from memory.files.monitors import PRIORITIES, Monitor
from memory.monitoring.thresholds.units import read_duration
from memory.monitoring.words import plain

from .state import AlertSettings
from .windows import Window, ends_at, parse_windows

_MOST = 1000
_LONGEST = timedelta(days=366)


@dataclass(frozen=True, slots=True)
class AlertOptions:
    """The parsed fields, and the problems with them."""

    settings: AlertSettings
    depends_on: tuple[str, ...] = ()
    maintenance: tuple[Window, ...] = ()
    priority: str | None = None
    problems: tuple[Problem, ...] = ()


def read_options(monitor: Monitor) -> AlertOptions:
    """Return the options of a monitor; never fails."""
    fields = monitor.entry.fields
    problems: list[Problem] = []

    def text(key: str) -> str | None:
        value = split_remark(fields.get(key) or "")[0]
        return None if is_absent(value) else value

    def wrong(key: str, why: str) -> None:
        message = f"{monitor.name[:60]}: {key}: {why}"
        line = field_line(monitor.entry, key, monitor.line + 1)
        problems.append(Problem("warning", monitor.file, line, "monitor.setting", message))

    def number(key: str) -> int:
        value = text(key) or "1"
        if value.isascii() and value.isdigit() and 1 <= int(value[:9]) <= _MOST:
            return int(value)
        wrong(key, f"{value[:30]!r} is no whole number from 1 to {_MOST}")
        return 1

    remind = text("remind")
    every = None if remind is None else read_span(remind)
    if remind is not None and every is None:
        wrong("remind", f"{remind[:30]!r} is no time such as 4h or 1d")
    windows: tuple[Window, ...] = ()
    try:
        windows = parse_windows(text("maintenance") or "")
    except UsageError as error:
        wrong("maintenance", error.message)
    priority = (monitor.alert_priority or "").casefold()
    return AlertOptions(
        AlertSettings(number("failuresBefore"), number("successesBefore"), every),
        tuple(name.strip() for name in (text("dependsOn") or "").split(",") if name.strip()),
        windows,
        priority if priority in PRIORITIES else None,
        tuple(problems),
    )


def read_span(text: str) -> timedelta | None:
    """Parse a duration such as `90 s`, `2h` or `1d`, at most a year; None unless it is valid and above zero."""
    seconds = read_duration(text)
    return None if seconds is None or seconds > _LONGEST.total_seconds() else timedelta(seconds=seconds)


def silenced(
    name: str, options: Mapping[str, AlertOptions], alerting: Callable[[str], bool], now: datetime, zone: tzinfo
) -> str:
    """Return why no message about a monitor is sent now, apart from a mute: its window, or an alert of a monitor on
    which it depends, directly or indirectly; "" if one is sent.
    """
    end = ends_at(options[name].maintenance, now, zone)
    if end is not None:
        return f"maintenance window until {end.astimezone(zone):%H:%M}"
    seen = {name}
    waiting = [*options[name].depends_on]
    while waiting:
        parent = waiting.pop(0)
        if parent in seen or parent not in options:
            continue
        if alerting(parent):
            return f"{plain(parent, 60)} is down"
        seen.add(parent)
        waiting += options[parent].depends_on
    return ""
