"""The fields of a monitor by which it alerts: failuresBefore, successesBefore, remind, dependsOn, maintenance.

A value that cannot be read counts as not there, and is reported with its file and line.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from memory.base.problems import Problem
from memory.base.remarks import is_absent, split_remark
from memory.errors import UsageError

from .state import AlertSettings
from .windows import Window, parse_windows

if TYPE_CHECKING:
    from memory.files.monitors import Monitor

_MOST = 1000
_LONGEST = timedelta(days=366)
PRIORITIES = ("low", "normal", "high")


@dataclass(frozen=True, slots=True)
class AlertOptions:
    """What the fields say, and what is wrong with them."""

    settings: AlertSettings
    depends_on: tuple[str, ...] = ()
    maintenance: tuple[Window, ...] = ()
    priority: str | None = None
    problems: tuple[Problem, ...] = ()

    @property
    def sentences(self) -> tuple[str, ...]:
        """The problems with their file and line."""
        return tuple(f"{one.place}: {one.message}" for one in self.problems)


def read_options(monitor: Monitor) -> AlertOptions:
    """Return the options of a monitor; never fails."""
    fields = monitor.entry.fields
    problems: list[Problem] = []

    def text(key: str) -> str | None:
        value = split_remark(fields.get(key) or "")[0]
        return None if is_absent(value) else value

    def wrong(key: str, why: str) -> None:
        message = f"{monitor.name[:60]}: {key}: {why}"
        problems.append(Problem("warning", monitor.file, _line(monitor, key), "monitor.setting", message))

    def number(key: str) -> int:
        value = text(key)
        if value is None:
            return 1
        if value.isascii() and value.isdigit() and 1 <= int(value[:9]) <= _MOST:
            return int(value)
        wrong(key, f"{value[:30]!r} is no whole number from 1 to {_MOST}")
        return 1

    remind = text("remind")
    every = None if remind is None else read_span(remind)
    if remind is not None and every is None:
        wrong("remind", f"{remind[:30]!r} is no time such as 4h or 1d")
    windows: tuple[Window, ...] = ()
    value = text("maintenance")
    if value is not None:
        try:
            windows = parse_windows(value)
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
    """Read a span of time such as `90 s`, `2h` or `1d`, at most a year; None unless it is one above zero."""
    from memory.monitoring.thresholds.units import read_duration

    seconds = read_duration(text)
    if seconds is None or seconds > _LONGEST.total_seconds():
        return None
    return timedelta(seconds=seconds)


def _line(monitor: Monitor, key: str) -> int:
    nodes = monitor.entry.fields.nodes
    return monitor.line + 1 + next((1 + node.line for node in nodes if node.key == key), 0)


def ancestors(name: str, parents: Mapping[str, Sequence[str]]) -> Iterable[str]:
    """Yield the monitors that one depends on, directly or through others, each once; circles end."""
    seen = {name}
    waiting = list(parents.get(name, ()))
    while waiting:
        parent = waiting.pop(0)
        if parent in seen:
            continue
        seen.add(parent)
        yield parent
        waiting += parents.get(parent, ())


def in_order(names: Iterable[str], parents: Mapping[str, Sequence[str]]) -> list[str]:
    """Return names with parents before their children; those in a circle keep the order given."""
    wanted = list(names)
    known = set(wanted)
    done: dict[str, None] = {}
    # A stack of its own: a long chain of monitors must not end in a recursion that is too deep.
    for name in wanted:
        stack = [(name, iter(parents.get(name, ())))]
        path = {name}
        while stack:
            current, rest = stack[-1]
            parent = next((one for one in rest if one in known and one not in done and one not in path), None)
            if parent is None:
                stack.pop()
                path.discard(current)
                done.setdefault(current)
            else:
                path.add(parent)
                stack.append((parent, iter(parents.get(parent, ()))))
    return list(done)
