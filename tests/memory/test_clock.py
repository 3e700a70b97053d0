"""Dates, times and zones as memory files hold them."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.base.clock import (
    BadMoment,
    UnknownZone,
    find_zone,
    format_local,
    humanize,
    machine_zone,
    read_moment,
    say_ago,
    say_span,
)
from tests.patience import PATIENCE

BERLIN = ZoneInfo("Europe/Berlin")
NEW_YORK = ZoneInfo("America/New_York")
NOW = datetime(2024, 1, 15, 11, 0, tzinfo=UTC)  # a Monday, 12:00 in Berlin
ZONES = st.sampled_from([UTC, BERLIN, NEW_YORK, ZoneInfo("Pacific/Kiritimati"), ZoneInfo("Asia/Kathmandu")])


@pytest.mark.parametrize(
    ("text", "day", "utc"),
    [
        ("2024-01-15", "2024-01-15", None),
        (" 2024-01-15 ", "2024-01-15", None),
        ("2024-01-15 14:00", "2024-01-15", "2024-01-15T13:00:00+00:00"),
        ("2024-01-15 14:00:30", "2024-01-15", "2024-01-15T13:00:30+00:00"),
        ("2024-01-15T14:00", "2024-01-15", "2024-01-15T13:00:00+00:00"),
        ("2024-01-15T10:30:00Z", "2024-01-15", "2024-01-15T10:30:00+00:00"),
        ("2024-01-15T23:30:00Z", "2024-01-16", "2024-01-15T23:30:00+00:00"),
        ("2024-01-15T10:30:00.25-05:30", "2024-01-15", "2024-01-15T16:00:00.250000+00:00"),
        ("2024-01-15T10:30:00.123456789Z", "2024-01-15", "2024-01-15T10:30:00.123456+00:00"),
        ("2024-03-31 02:30", "2024-03-31", "2024-03-31T01:30:00+00:00"),  # skipped when clocks go forward
        ("2024-10-27 02:30", "2024-10-27", "2024-10-27T00:30:00+00:00"),  # the first of two
        ("9999-12-31 23:59", "9999-12-31", "9999-12-31T00:00:00+00:00"),
        ("0001-01-01 00:00", "0001-01-01", "0001-01-02T00:00:00+00:00"),
    ],
)
def test_read_moment(text: str, day: str, utc: str | None) -> None:
    """Times without an offset are in the zone, the others are where their offset says."""
    moment = read_moment(text, BERLIN)
    assert moment is not None
    assert (text.strip(), day) == (moment.text, moment.date.isoformat())
    assert utc == (moment.instant and moment.instant.isoformat())


@pytest.mark.parametrize(
    "text",
    [
        "2024-02-30",
        "2024-13-45",
        "2023-02-29",
        "0000-01-01",
        "2024-01-15 25:00",
        "2024-01-15 24:00",
        "2024-01-15 10:60",
        "2024-01-15T10:00:60Z",
        "2024-01-15T10:00+25:00",
        "2024-01-15T10:00+01:60",
        "2024-1-5",
        "20240115",
        "2024-01-15 9",
        "2024-01-15 (soon)",
        "tomorrow",
        "٢٠٢٤-٠١-١٥",
        "2024-01-15\n2024-01-16",
    ],
)
def test_impossible_moments(text: str) -> None:
    """Dates and times that do not exist and unknown forms are said to be wrong, as a ValueError."""
    with pytest.raises(BadMoment) as caught:
        read_moment(text, UTC)
    assert isinstance(caught.value, ValueError)
    assert caught.value.code == "time.invalid"


@given(st.text(alphabet="0123456789-: TZ+.", max_size=30), ZONES)
def test_reading_ends_in_a_moment_or_bad_moment(text: str, zone: ZoneInfo) -> None:
    """No text makes reading fail in another way."""
    try:
        moment = read_moment(text, zone)
    except BadMoment:
        return
    assert moment is None or moment.due_at(zone).tzinfo is UTC


@pytest.mark.parametrize(
    ("text", "due"),
    [
        ("2024-01-15", "2024-01-15T23:00:00+00:00"),
        ("2024-03-31", "2024-03-31T22:00:00+00:00"),  # a day of 23 hours
        ("2024-01-15 14:00", "2024-01-15T13:00:00+00:00"),
        ("9999-12-31", "9999-12-31T00:00:00+00:00"),
    ],
)
def test_due_at(text: str, due: str) -> None:
    """A date alone is due when its day is over in the zone, a time when it comes."""
    moment = read_moment(text, BERLIN)
    assert moment is not None
    assert due == moment.due_at(BERLIN).isoformat()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2024-01-15 12:00", "now"),
        ("2024-01-15 12:05", "in 5 min"),
        ("2024-01-15 11:15", "45 min ago"),
        ("2024-01-15 14:00", "in 2 h"),
        ("2024-01-15 09:10", "3 h ago"),
        ("2024-01-15 20:00", "today 20:00"),
        ("2024-01-15 01:00", "today 01:00"),
        ("2024-01-16 14:00", "tomorrow 14:00"),
        ("2024-01-14 09:00", "yesterday 09:00"),
        ("2024-01-18 09:00", "in 3 d"),
        ("2024-01-15", "today"),
        ("2024-01-16", "tomorrow"),
        ("2024-01-14", "yesterday"),
        ("2024-01-12", "3 d ago"),
        ("2024-01-29", "in 2 w"),
        ("2024-04-15", "in 3 mo"),
        ("2021-01-15", "3 y ago"),
    ],
)
def test_humanize(text: str, expected: str) -> None:
    """Near times count minutes and hours, near days have names, the rest counts in its largest unit."""
    moment = read_moment(text, BERLIN)
    assert moment is not None
    assert expected == humanize(moment, NOW, BERLIN)


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        (0, ""),
        (29, ""),
        (31, "1 min"),
        (-45 * 60, "45 min"),
        (59.6 * 60, "1 h"),
        (89 * 60, "1 h"),
        (110 * 60, "2 h"),
        (23.4 * 3600, "23 h"),
        (23.6 * 3600, "1 d"),
        (3.4 * 86400, "3 d"),
    ],
)
def test_say_span(seconds: float, expected: str) -> None:
    """A span is rounded to its largest unit, the same in both directions."""
    assert expected == say_span(seconds) == say_span(-seconds)


def test_say_ago() -> None:
    """What was a moment ago is now, and never an empty span."""
    assert [say_ago(seconds) for seconds in (0, 29, 45 * 60, 3 * 3600)] == ["now", "now", "45 min ago", "3 h ago"]


@pytest.mark.parametrize(
    "name", ["", "Mars/Base", "America", "../../etc/passwd", "/etc/passwd", "a\0b", "x" * 5000, "\udcff"]
)
def test_unknown_zones(name: str) -> None:
    """Names that nobody has, and names that would leave the tables, are refused."""
    with pytest.raises(UnknownZone):
        find_zone(name)


def test_machine_zone(tmp_path: Path) -> None:
    """TZ counts before the machine's link, a link tells its name, and nothing at all is UTC."""
    folder = tmp_path / "zoneinfo" / "Europe"
    folder.mkdir(parents=True)
    (folder / "Berlin").write_bytes(b"")
    link = tmp_path / "localtime"
    link.symlink_to(folder / "Berlin")
    missing = str(tmp_path / "missing")
    assert BERLIN is machine_zone({}, str(link))
    assert NEW_YORK is machine_zone({"TZ": "America/New_York"}, str(link))
    assert NEW_YORK is machine_zone({"TZ": ":America/New_York"}, str(link))
    assert BERLIN is machine_zone({"TZ": str(link)}, missing)
    assert BERLIN is machine_zone({"TZ": "No/Where"}, str(link))
    assert UTC is machine_zone({}, missing)
    assert UTC is machine_zone({"TZ": ""}, missing)


def test_machine_zone_reads_a_copied_file(tmp_path: Path) -> None:
    """A machine that copied its zone file instead of linking it keeps its rules."""
    source = next(
        (Path(folder, "Europe/Berlin") for folder in ("/usr/share/zoneinfo",) if os.path.exists(folder)), None
    )
    if source is None or not source.exists():
        pytest.skip("this machine has no zone files")
    copy = tmp_path / "localtime"
    copy.write_bytes(source.read_bytes())
    assert format_local(datetime(2024, 7, 1, 12, tzinfo=UTC), machine_zone({}, str(copy))) == "2024-07-01 14:00"


def test_reading_times_loads_no_zone_tables() -> None:
    """A workspace in UTC never pays for the zone tables."""
    code = (
        "import sys, memory.base.clock as c; c.read_moment('2024-01-15 14:00', c.find_zone('UTC'));"
        "print('zoneinfo' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=PATIENCE)
    assert done.stdout.strip() == "False"
