"""When a failing check becomes an alert, when it ends, and what has to be told of it: a pure state machine; and the
fields of a monitor that set it.

An alert counts as told only after a message was sent: until then every run sends it again. Checks always continue;
mutes, maintenance windows and a parent that is down silence messages, not checks.

The fields are failuresBefore, successesBefore, remind, dependsOn and maintenance. An invalid value is treated as
missing, and is reported with its file and line. A window is `22:00-07:00`, `SUN 02:00-04:00` or `MON-FRI 18:00-08:00`;
several are separated by commas. Wall-clock times of the workspace's zone; a window over midnight belongs to the day on
which it begins; its end is exclusive.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, time, timedelta, tzinfo
from typing import Any, Literal, TypeVar

from memory.base.clock import DAYS, format_utc, read_duration
from memory.base.problems import Problem
from memory.base.values import is_absent, split_remark
from memory.document.nodes import field_line
from memory.errors import UsageError
from memory.files.monitors import PRIORITIES, Monitor
from memory.monitoring.ledger import read_stamp
from memory.monitoring.result import plain

Kind = Literal["alert", "recovered", "reminder"]
Told = Literal["no", "held", "yes"]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class AlertOptions:
    """The parsed fields of a monitor, and the problems with them.

    `failures_before` are the failures in a row before an alert, `successes_before` the successes in a row before it
    ends, `remind` after how long a reminder follows (None: never).
    """

    failures_before: int = 1
    successes_before: int = 1
    remind: timedelta | None = None
    depends_on: tuple[str, ...] = ()
    maintenance: tuple[Window, ...] = ()
    priority: str | None = None
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True)
class AlertState:
    """The alert state of a monitor, kept from one run to the next.

    `alerting` since `since`, `failures` and `successes` in a row, `told` whether a message of the alert was sent (held:
    it waits for the end of quiet hours) and `told_at` when, `checked` when it was measured last.
    """

    alerting: bool = False
    since: datetime | None = None
    failures: int = 0
    successes: int = 0
    told: Told = "no"
    told_at: datetime | None = None
    checked: datetime | None = None

    @property
    def known(self) -> bool:
        """Whether it was ever measured."""
        return self.checked is not None

    def json(self) -> dict[str, Any]:
        """Return the state for storage."""
        values = {name: getattr(self, name) for name in self.__slots__}
        return {name: format_utc(value) if isinstance(value, datetime) else value for name, value in values.items()}

    @classmethod
    def read(cls, values: Mapping[str, Any] | None) -> AlertState:
        """Parse a stored state; missing values get their default, and one that cannot be parsed is a fresh one."""
        found = dict(values or {})
        try:
            found |= {name: read_stamp(found[name]) for name in ("since", "told_at", "checked") if found.get(name)}
            return cls(**found)
        except (TypeError, ValueError):
            return cls()


@dataclass(frozen=True, slots=True)
class Happening:
    """An event to report: `first` if it is new (and goes into the journal), false if it is only repeated.

    `occurrences` are failures in a row, `lasted` is the duration of the alert.
    """

    kind: Kind
    first: bool
    occurrences: int
    lasted: timedelta


def advance(
    state: AlertState, outcome: str, now: datetime, options: AlertOptions
) -> tuple[AlertState, Happening | None]:
    """Return the state after a check, and the event if there is one.

    `outcome` is the state of a result: `failing` and `error` are failures, because a monitor that cannot be checked
    cannot be called healthy. `blocked` and `skipped` measure nothing and change nothing.
    """
    if outcome not in ("healthy", "failing", "error"):
        return state, None
    well = outcome == "healthy"
    new = replace(
        state,
        checked=now,
        failures=0 if well else state.failures + 1,
        successes=state.successes + 1 if well else 0,
        since=state.since or now,
    )
    turned = (
        new.successes >= options.successes_before if new.alerting else new.failures >= options.failures_before
    )  # fmt: skip
    if turned:
        new = replace(new, alerting=not new.alerting, since=now)
    lasted = now - (state.since or now)
    if new.alerting and (turned or new.told == "no"):
        return new, Happening("alert", turned, new.failures, timedelta(0) if turned else lasted)
    if new.alerting:
        since_told = None if new.told_at is None or new.told != "yes" else now - new.told_at
        if options.remind is not None and since_told is not None and since_told >= options.remind:
            return new, Happening("reminder", False, new.failures, lasted)
    elif turned or new.told != "no":
        return new, Happening("recovered", turned, state.failures, lasted if turned else timedelta(0))
    return new, None


def told(state: AlertState, kind: Kind, now: datetime) -> AlertState:
    """Return the state after a message was sent."""
    if kind == "recovered":
        return replace(state, told="no", told_at=None)
    return replace(state, told="yes", told_at=now)


def held(state: AlertState, kind: Kind, now: datetime) -> AlertState:
    """Return the state after a message was held for later: it waits once, and is not sent again meanwhile."""
    if kind == "alert":
        return replace(state, told="held")
    return told(state, kind, now) if kind == "recovered" else state


_MOST = 1000
_LONGEST = timedelta(days=366)


def read_options(monitor: Monitor) -> AlertOptions:
    """Return the options of a monitor; never fails."""
    problems: list[Problem] = []

    def read(key: str, parse: Callable[[str], T], usual: T) -> T:
        text = split_remark(monitor.entry.fields.get(key) or "")[0]
        try:
            return usual if is_absent(text) else parse(text)
        except UsageError as error:
            line = field_line(monitor.entry, key, monitor.line + 1)
            message = f"{monitor.name[:60]}: {key}: {error.message}"
            problems.append(Problem("warning", monitor.file, line, "monitor.setting", message))
            return usual

    priority = (monitor.alert_priority or "").casefold()
    return AlertOptions(
        read("failuresBefore", _count, 1),
        read("successesBefore", _count, 1),
        read("remind", _every, None),
        read("dependsOn", lambda text: tuple(name.strip() for name in text.split(",") if name.strip()), ()),
        read("maintenance", parse_windows, ()),
        priority if priority in PRIORITIES else None,
        tuple(problems),
    )


def _count(text: str) -> int:
    if text.isascii() and text.isdigit() and 1 <= int(text[:9]) <= _MOST:
        return int(text)
    raise UsageError("monitor.setting", f"{text[:30]!r} is not a whole number from 1 to {_MOST}")


def _every(text: str) -> timedelta | None:
    if (found := read_span(text)) is not None:
        return found
    raise UsageError("monitor.setting", f"{text[:30]!r} is not a time such as 4h or 1d")


def read_span(text: str) -> timedelta | None:
    """Parse a duration such as `90 s`, `2h` or `1d`, at most a year; None unless it is valid and above zero."""
    seconds = read_duration(text)
    return None if not seconds or seconds > _LONGEST.total_seconds() else timedelta(seconds=seconds)


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


_DAILY = re.compile(r"(?:([a-z]{3})(?:-([a-z]{3}))?\s+)?(\d{1,2}):(\d{2})\s*(?:-|–|to)\s*(\d{1,2}):(\d{2})", re.ASCII)
_MOST_WINDOWS = 20


@dataclass(frozen=True, slots=True)
class Window:
    """A window of some days (0 is Monday): from a local time, for a length; its end is exclusive."""

    begin: time
    length: timedelta
    days: frozenset[int]

    def until(self, now: datetime, zone: tzinfo) -> datetime | None:
        """Return the instant (UTC) at which the window around `now` ends; None if `now` is outside."""
        local = now.astimezone(zone).replace(tzinfo=None)
        for back in (0, 1):
            begin = datetime.combine(local.date() - timedelta(days=back), self.begin)
            if begin.weekday() in self.days and begin <= local < begin + self.length:
                end = (begin + self.length).replace(tzinfo=zone)
                return max(end.astimezone(UTC), now.astimezone(UTC))
        return None


def parse_windows(text: str) -> tuple[Window, ...]:
    """Parse windows; UsageError `window.invalid` with the invalid part."""
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if len(parts) > _MOST_WINDOWS:
        raise UsageError("window.invalid", f"{len(parts)} windows are too many", f"write {_MOST_WINDOWS} at most")
    return tuple(_window(part) for part in parts)


def _window(text: str) -> Window:
    with suppress(ValueError):
        if found := _DAILY.fullmatch(text.lower()):
            first, last, *clock = found.groups()
            hour, minute, end_hour, end_minute = map(int, clock)
            length = (end_hour * 60 + end_minute - hour * 60 - minute) % 1440 or 1440
            if end_minute < 60 and end_hour * 60 + end_minute <= 1440:
                return Window(time(hour, minute), timedelta(minutes=length), _days(first, last))
    raise UsageError(
        "window.invalid",
        f"{text[:40]!r} is not a window of time",
        "write 22:00-07:00, SUN 02:00-04:00 or MON-FRI 18:00-08:00",
    )


def _days(first: str | None, last: str | None) -> frozenset[int]:
    if first is None:
        return frozenset(range(7))
    begin = DAYS.index(first)
    end = begin if last is None else DAYS.index(last)
    return frozenset((begin + step) % 7 for step in range((end - begin) % 7 + 1))


def ends_at(windows: Iterable[Window], now: datetime, zone: tzinfo) -> datetime | None:
    """Return the instant (UTC) at which the last of the windows around `now` ends; None if `now` is in none."""
    return max((end for window in windows if (end := window.until(now, zone)) is not None), default=None)
