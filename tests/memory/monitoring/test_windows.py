"""Windows of time, and the fields of a monitor by which it alerts."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from memory.base.clock import find_zone
from memory.document import parse
from memory.errors import UsageError
from memory.files.monitors import Monitors
from memory.monitoring.alerts import ends_at, parse_windows, read_options, read_span
from memory.monitoring.settings import monitor_problems
from tests.memory_files import snapshot_of

BERLIN = find_zone("Europe/Berlin")


@pytest.mark.parametrize(
    ("text", "now", "end"),
    [
        ("22:00-07:00", "2026-01-15 21:59", None),
        ("22:00-07:00", "2026-01-15 22:00", "2026-01-16 07:00"),
        ("22:00-07:00", "2026-01-16 06:59", "2026-01-16 07:00"),
        ("22:00-07:00", "2026-01-16 07:00", None),
        ("09:00-17:00", "2026-01-15 12:00", "2026-01-15 17:00"),
        ("sun 02:00-04:00", "2026-01-18 03:00", "2026-01-18 04:00"),
        ("SUN 02:00-04:00", "2026-01-17 03:00", None),
        ("FRI-MON 22:00-06:00", "2026-01-20 05:00", "2026-01-20 06:00"),
        ("FRI-MON 22:00-06:00", "2026-01-20 23:00", None),
        ("00:00-24:00", "2026-01-15 12:00", "2026-01-16 00:00"),
        ("09:00-10:00, 09:30-11:00", "2026-01-15 09:45", "2026-01-15 11:00"),
        # The night in which clocks go forward, and the one in which they go back.
        ("22:00-07:00", "2026-03-29 01:59", "2026-03-29 07:00"),
        ("22:00-07:00", "2026-10-25 02:30", "2026-10-25 07:00"),
    ],
)
def test_when_a_window_ends(text: str, now: str, end: str | None) -> None:
    """Each time lies in the window until the end beside it, by the wall clock."""
    at = datetime.fromisoformat(now).replace(tzinfo=BERLIN)
    expected = None if end is None else datetime.fromisoformat(end).replace(tzinfo=BERLIN).astimezone(UTC)
    assert ends_at(parse_windows(text), at.astimezone(UTC), BERLIN) == expected


@pytest.mark.parametrize(
    "text", ["always", "25:00-26:00", "xyz 10:00-11:00", "2026-01-20 10:00 to 2026-01-21 10:00", "1-2"]
)
def test_what_is_no_window(text: str) -> None:
    """It is refused with what to write instead."""
    with pytest.raises(UsageError) as raised:
        parse_windows(text)
    assert raised.value.code == "window.invalid"


def test_options_of_a_monitor() -> None:
    """Fields are read with their remarks, and what is wrong is told with its line."""
    text = """## Monitors

### One
- failuresBefore: 3 (in a row)
- successesBefore: 0
- remind: 4h
- dependsOn: Gateway, Database
- maintenance: SUN 02:00-04:00, nonsense
- alertPriority: HIGH
"""
    found = read_options(Monitors("monitors.md", parse(text.encode())).items[0])
    assert (found.failures_before, found.successes_before) == (3, 1)
    assert found.remind == timedelta(hours=4)
    assert (found.depends_on, found.priority, found.maintenance) == (("Gateway", "Database"), "high", ())
    assert sorted(problem.place for problem in found.problems) == ["monitors.md:5", "monitors.md:8"]


@pytest.mark.parametrize(("text", "minutes"), [("30m", 30), ("2h", 120), ("1d", 1440), ("-1h", None), ("9999d", None)])
def test_spans(text: str, minutes: int | None) -> None:
    """A span of time has a unit and an end."""
    assert read_span(text) == (None if minutes is None else timedelta(minutes=minutes))


def test_check_tells_of_them() -> None:
    """What is wrong in the fields of alerts is a warning of `check`, a parent that is not there too."""
    text = "## Monitors\n\n### One\n- type: command\n- command: true\n- remind: soon\n- dependsOn: Nobody\n"
    found = monitor_problems(snapshot_of({"monitors.md": text}))
    assert [(one.level, one.line, one.message) for one in found] == [
        ("warning", 6, "One: remind: 'soon' is not a time such as 4h or 1d"),
        ("warning", 7, "One: dependsOn: there is no monitor 'Nobody'"),
    ]
