"""Cron expressions: what is accepted, when they run, how they are said."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from croniter import croniter
from hypothesis import given
from hypothesis import strategies as st

from memory.base.cron import BadCron, check_cron, describe, latest_run, next_runs
from tests.patience import PATIENCE

NEW_YORK = ZoneInfo("America/New_York")
NOW = datetime(2024, 1, 15, 11, 0, tzinfo=UTC)

INSTANTS = st.integers(946684800, 2208988800).map(lambda seconds: datetime.fromtimestamp(seconds, UTC))


def _field(low: int, high: int, *names: str) -> st.SearchStrategy[str]:
    """Build one field: lists of stars, numbers, names, ranges and steps."""
    number = st.integers(low, high).map(str)
    value = st.one_of(number, st.sampled_from(names)) if names else number
    step = st.integers(1, high).map(lambda size: f"/{size}")
    span = st.one_of(st.just("*"), st.tuples(number, number).map("-".join))
    part = st.one_of(value, span, st.tuples(span, step).map("".join))
    return st.lists(part, min_size=1, max_size=3).map(",".join)


EXPRESSIONS = st.tuples(
    _field(0, 59), _field(0, 23), _field(1, 31), _field(1, 12, "jan", "DEC"), _field(0, 7, "MON", "sat")
).map(" ".join)


@pytest.mark.parametrize(
    "expr",
    [
        "*/5 * * * *",
        " 0  9 * *\tmon-fri ",
        "0 0 1,15 jan,jul ?",
        "0 0 L * *",
        "0 0 * * L5",
        "0 0 29 2 *",
        "0 0 * * 7",
        "@Weekly",
    ],
)
def test_good_expressions(expr: str) -> None:
    """Names, lists, ranges over the end, steps, last and nth days and aliases are accepted, and run."""
    check_cron(expr)
    assert next_runs(expr, NOW, UTC)[0] > NOW


@pytest.mark.parametrize(
    ("expr", "word"),
    [
        ("", "empty"),
        ("Mars/Phobos", "'Mars/Phobos' has 1 field instead of 5"),
        ("0 9-FOO * * *", "'FOO' is not an hour"),
        ("* * * * * * *", "seconds"),
        ("* 24 * * *", "hour 24"),
        ("* * * 13 *", "month 13"),
        ("* * * * MOO", "'MOO' is not a day of week"),
        ("*/0 * * * *", "step"),
        ("1-2-3 * * * *", "not a minute"),
        ("R R * * *", "not a minute"),
        ("* * * * xyz#1", "not a day of week"),
        ("@reboot", "@daily"),
        ("\udcff * * * *", "not a minute"),
    ],
)
def test_bad_expressions(expr: str, word: str) -> None:
    """A sentence says which field is wrong; nothing is refused in another way."""
    with pytest.raises(BadCron) as caught:
        check_cron(expr)
    assert word in caught.value.message
    assert caught.value.code == "cron.invalid"
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize("expr", ["0 0 30 2 *", "0 0 31 2,4,6,9,11 *", "0 0 30-31 feb *", "0 0 30 2 0,*"])
def test_expressions_that_never_run(expr: str) -> None:
    """Days that no month has are noticed, not looked for without end."""
    for call in (lambda: check_cron(expr), lambda: next_runs(expr, NOW, UTC)):
        with pytest.raises(BadCron) as caught:
            call()
        assert caught.value.code == "cron.never"


@given(EXPRESSIONS)
def test_the_cron_library_accepts_what_the_check_accepts(expr: str) -> None:
    """An expression that passes the check runs, and the library reads the same five fields."""
    assert croniter.is_valid(expr)
    try:
        check_cron(expr)
    except BadCron:
        # The fields are right, so only the calendar can be in the way.
        with pytest.raises(BadCron, match="never runs"):
            check_cron(expr)
        return
    assert next_runs(expr, NOW, UTC)[0] > NOW


@given(EXPRESSIONS, INSTANTS)
def test_runs_rise(expr: str, after: datetime) -> None:
    """Runs come strictly after the given instant, each later than the one before, in the zone."""
    try:
        runs = next_runs(expr, after, NEW_YORK, 4)
    except BadCron:
        return
    instants = [after, *(run.astimezone(UTC) for run in runs)]
    assert all(one < other for one, other in pairwise(instants))
    assert {NEW_YORK} == {run.tzinfo for run in runs}


def _local(expr: str, after: datetime, zone: ZoneInfo, count: int) -> list[str]:
    return [run.isoformat(timespec="minutes") for run in next_runs(expr, after, zone, count)]


def test_a_run_in_the_skipped_hour_moves_behind_it() -> None:
    """When clocks go forward, 02:30 runs once at the first instant that exists."""
    after = datetime(2024, 3, 9, 12, tzinfo=NEW_YORK)
    expected = ["2024-03-10T03:00-04:00", "2024-03-11T02:30-04:00"]
    assert expected == _local("30 2 * * *", after, NEW_YORK, 2)


def test_runs_that_meet_behind_the_skipped_hour_are_one() -> None:
    """Two runs that fall on the same instant are one."""
    after = datetime(2024, 3, 9, 12, tzinfo=NEW_YORK)
    expected = ["2024-03-10T03:00-04:00", "2024-03-10T03:30-04:00", "2024-03-11T02:00-04:00"]
    assert expected == _local("0,30 2,3 * * *", after, NEW_YORK, 3)


def test_a_fixed_time_runs_once_when_clocks_go_back() -> None:
    """01:30 happens twice on that day and runs the first time only, also when asked between the two."""
    expected = ["2024-11-03T01:30-04:00", "2024-11-04T01:30-05:00"]
    assert expected == _local("30 1 * * *", datetime(2024, 11, 2, 12, tzinfo=NEW_YORK), NEW_YORK, 2)
    between = datetime(2024, 11, 3, 5, 45, tzinfo=UTC)
    assert expected[1:] == _local("30 1 * * *", between, NEW_YORK, 1)


def test_runs_end_with_the_calendar() -> None:
    """After the last run that a calendar can hold there is none."""
    with pytest.raises(BadCron) as caught:
        next_runs("0 0 1 1 *", datetime(9999, 6, 1, tzinfo=UTC), UTC)
    assert caught.value.code == "cron.never"


@pytest.mark.parametrize(
    ("expr", "expected"),
    [
        ("0 9 * * MON", "Mon 09:00"),
        ("* * * * *", "every min"),
        ("@daily", "daily 00:00"),
        ("15 * * * *", "hourly at :15"),
        ("0 9,17 * * *", "daily 09:00, 17:00"),
        ("0 10 * * SAT,SUN", "weekends 10:00"),
        ("0 9 * * 0-6", "daily 09:00"),
        ("@yearly", "1 Jan 00:00"),
        ("*/7 * * * *", "*/7 * * * *"),
        ("0 9 1 * MON", "0 9 1 * MON"),
        ("0 0 30 2 *", "0 0 30 2 *"),
    ],
)
def test_describe(expr: str, expected: str) -> None:
    """Common shapes are said in words, others stay as they are."""
    assert expected == describe(expr)


@given(st.one_of(EXPRESSIONS, st.text(max_size=30)))
def test_describe_never_fails(expr: str) -> None:
    """Every text has a description of at most its own length or a short line."""
    assert len(describe(expr)) <= max(len(expr), 45)


def test_checking_and_describing_load_no_cron_library() -> None:
    """Only next runs need the library."""
    code = (
        "import sys, memory.base.cron as s; s.check_cron('0 9 * * MON'); s.describe('@daily');"
        "print('croniter' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=PATIENCE)
    assert done.stdout.strip() == "False"


def test_the_library_starts_no_program(tmp_path: Path) -> None:
    """What is called `file` in PATH, which may name a folder of the workspace, does not run with an expression."""
    trap = tmp_path / "file"
    trap.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    trap.chmod(0o755)
    code = """
import platform
from datetime import UTC, datetime
from memory.base.cron import next_runs
before = platform.architecture
print(next_runs("*/5 * * * *", datetime(2024, 1, 15, tzinfo=UTC), UTC)[0])
assert platform.architecture is before
"""
    environ = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", "PYTHONPATH": str(Path(__file__).parents[2])}
    done = subprocess.run([sys.executable, "-c", code], env=environ, capture_output=True, text=True, timeout=PATIENCE)
    assert done.stdout == "2024-01-15 00:05:00+00:00\n", done.stderr
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("expression", ["0 2 * * *", "0 2,8 * * *", "30 * * * *", "*/5 * * * *"])
def test_the_latest_run_in_utc_is_the_one_before(expression: str) -> None:
    """No run in UTC is taken for the second of two equal wall clock times."""
    last = NOW - timedelta(days=3)
    runs = [run for run in next_runs(expression, last, UTC, 1000) if run <= NOW]
    assert latest_run(expression, NOW, UTC) == runs[-1]
