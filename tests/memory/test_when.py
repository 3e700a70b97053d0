"""Dates as people type them: a table of forms, with fixed times in several zones."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from memory.base.clock import BadMoment
from memory.base.dates import parse_when, time_bound

BERLIN = ZoneInfo("Europe/Berlin")
NEW_YORK = ZoneInfo("America/New_York")
KIRITIMATI = ZoneInfo("Pacific/Kiritimati")
LATE = datetime(2026, 11, 21, 14, 31, tzinfo=UTC)  # a Saturday, 15:31 in Berlin


def test_parse_when_ends_with_the_calendar() -> None:
    """A shift beyond the last year is no date."""
    with pytest.raises(BadMoment):
        parse_when("+99999d", datetime(9990, 1, 1, tzinfo=UTC), UTC)


@pytest.mark.parametrize(
    ("text", "ahead", "back"),
    [
        # what memdeck prints itself
        ("2 Dec", "2026-12-02", "2025-12-02"),
        ("tom. 18:00", "2026-11-22 18:00", "2026-11-22 18:00"),
        ("Sat 16:00", "2026-11-28 16:00", "2026-11-21 16:00"),
        ("Jan 2027", "2027-01-01", "2027-01-01"),
        ("Fri 27 Nov 09:00", "2026-11-27 09:00", None),
        ("in 3 mo", "2027-02-21", "2027-02-21"),
        ("45 min ago", "2026-11-21 14:46", "2026-11-21 14:46"),
        # a day of a month
        ("Dec 5", "2026-12-05", "2025-12-05"),
        ("5. sept.", "2027-09-05", "2026-09-05"),
        ("29 feb", "2028-02-29", "2024-02-29"),
        ("december", "2026-12-01", "2025-12-01"),
        ("1.12.", "2026-12-01", "2025-12-01"),
        ("12/31", "2026-12-31", "2025-12-31"),
        ("2030/12/1", "2030-12-01", "2030-12-01"),
        # words
        ("noon", "2026-11-22 12:00", "2026-11-21 12:00"),
        ("midnight", "2026-11-22 00:00", "2026-11-21 00:00"),
        ("tonight", "2026-11-21 20:00", "2026-11-21 20:00"),
        ("eod", "2026-11-21", "2026-11-21"),
        ("EOM", "2026-11-30", "2026-11-30"),
        ("end of month", "2026-11-30", "2026-11-30"),
        ("end of february", "2027-02-28", "2026-02-28"),
        ("next week", "2026-11-23", "2026-11-23"),
        ("next month", "2026-12-01", "2026-12-01"),
        ("last friday", "2026-11-13", "2026-11-13"),
        # how far away
        ("in two weeks", "2026-12-05", "2026-12-05"),
        ("in an hour", "2026-11-21 16:31", "2026-11-21 16:31"),
        ("3d", "2026-11-24", "2026-11-18"),
        # the time first
        ("14:00 tomorrow", "2026-11-22 14:00", "2026-11-22 14:00"),
        ("at 9am on 5 dec", "2026-12-05 09:00", "2025-12-05 09:00"),
        ("by friday", "2026-11-27", "2026-11-20"),
        ("14:00", "2026-11-22 14:00", "2026-11-21 14:00"),
    ],
)
def test_forms(text: str, ahead: str, back: str | None) -> None:
    """Each form means one day or time; without its year or day the next one, or the latest where one looks back."""
    assert ahead == parse_when(text, LATE, BERLIN)
    if back is not None:
        assert back == parse_when(text, LATE, BERLIN, past=True)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("5/6", "could be 5 Jun or 6 May; write 5 Jun or 6 May"),
        ("1.12", "could be a day or a time; write 1.12. or 1:12"),
        ("9", "could be a day or an hour; write 9:00"),
        ("1.12.26", "has a year of two digits"),
        ("31/12/26", "has a year of two digits"),
        ("fri midnight", "write 2026-11-27 00:00 or 2026-11-27 23:59"),
        ("Thu 27 Nov", "27 Nov 2026 is a Friday"),
        ("30 feb", "'30 feb' does not exist"),
        ("29 feb 2027", "does not exist"),
        ("32.1.", "does not exist"),
        ("13/13", "does not exist"),
        ("today 25:00", "'25:00' in 'today 25:00' is not a time of day"),
        ("5 dec 26", "years have four digits"),
        ("soon", "'soon' is not a date; write it like tomorrow 14:00, fri 9:00, 2 Dec"),
    ],
)
def test_refusals_say_why(text: str, why: str) -> None:
    """What could mean two things, or nothing, is refused with the reason and what to write."""
    with pytest.raises(BadMoment) as caught:
        parse_when(text, LATE, BERLIN)
    assert why in f"{caught.value.message}; {caught.value.hint}"


@pytest.mark.parametrize(
    ("now", "zone", "text", "expected"),
    [
        # The same instant is another day elsewhere.
        ("2026-12-31T11:00Z", KIRITIMATI, "today", "2027-01-01"),
        ("2026-12-31T11:00Z", KIRITIMATI, "1 jan", "2027-01-01"),
        ("2026-12-31T11:00Z", NEW_YORK, "1 jan", "2027-01-01"),
        ("2026-12-31T11:00Z", KIRITIMATI, "eom", "2027-01-31"),
        ("2027-01-01T03:00Z", NEW_YORK, "tonight", "2026-12-31"),
        # A shift of hours counts hours, one of days keeps the clock.
        ("2026-03-28T23:30Z", BERLIN, "+3h", "2026-03-29 04:30"),
        ("2026-10-24T22:30Z", BERLIN, "+3h", "2026-10-25 02:30+01:00"),
        ("2026-03-28T01:30Z", BERLIN, "+1d 2:30", "2026-03-29 02:30"),
        ("2026-03-29T00:30Z", BERLIN, "2:30", "2026-03-29 02:30"),  # skipped; it counts as 03:30, which is ahead
        # 02:10 for the second time: what is written as 02:30 would be the first one, which has been.
        ("2026-10-25T01:10Z", BERLIN, "2:30", "2026-10-26 02:30"),
        ("2026-10-25T00:10Z", BERLIN, "2:30", "2026-10-25 02:30"),
        # Months end where they end.
        ("2027-01-31T12:00Z", UTC, "+1mo", "2027-02-28"),
        ("2028-02-29T12:00Z", UTC, "+1y", "2029-02-28"),
        ("2026-12-15T12:00Z", UTC, "end of next month", "2027-01-31"),
        ("2096-03-01T12:00Z", UTC, "29 feb", "2104-02-29"),
    ],
)
def test_zones_and_edges(now: str, zone: ZoneInfo, text: str, expected: str) -> None:
    """Days are those of the zone, across the turn of a year, changed clocks and short months."""
    assert expected == parse_when(text, datetime.fromisoformat(now), zone)


def test_bounds_look_back() -> None:
    """A span begins with the latest Friday, and ends with the last microsecond of the latest 5 November."""
    assert datetime(2026, 11, 20, tzinfo=BERLIN) == time_bound("fri", LATE, BERLIN, end=False)
    bound = time_bound("5 Nov", LATE, BERLIN, end=True)
    assert datetime(2026, 11, 6, tzinfo=BERLIN) - timedelta(microseconds=1) == bound


def _documented() -> tuple[list[str], list[str]]:
    """The forms of docs/dates.md, and those that it says are refused."""
    text = (Path(__file__).parents[2] / "docs" / "dates.md").read_text("utf-8").partition("\n## Again and again")[0]
    rows = [row.split("|")[1] for row in text.splitlines() if row.startswith("| `")]
    refused = text.partition("**Refused")[2].partition("Days are")[0].replace("write `fri 0:00` or `fri 23:59`", "")
    return re.findall(r"`([^`]+)`", " ".join(rows)), re.findall(r"`([^`]+)`", refused)


def test_documented_forms_are_read() -> None:
    """What the page on dates lists is read, and what it says is refused is refused."""
    forms, refused = _documented()
    assert len(forms) > 40
    for form in forms:
        assert parse_when(form, LATE, BERLIN), form
    assert len(refused) >= 5
    for form in refused:
        with pytest.raises(BadMoment):
            parse_when(form, LATE, BERLIN)
