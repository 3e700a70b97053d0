"""Recurrences in words: what they mean in cron, what cron cannot express, and that nothing else is taken for one."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.base.cron import BadCron, check_cron, describe, next_runs
from memory.base.recurrence import BadRecurrence, read_recurrence, says_recurrence

NOW = datetime(2024, 1, 15, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "cron"),
    [
        ("daily", "0 9 * * *"),
        ("every day at 8am", "0 8 * * *"),
        ("every day at 9:00 and 17:00", "0 9,17 * * *"),
        ("weekdays 9:00", "0 9 * * MON-FRI"),
        ("every weekday at 8", "0 8 * * MON-FRI"),
        ("every fri 17:00", "0 17 * * FRI"),
        ("Fridays at noon", "0 12 * * FRI"),
        ("every monday, wednesday and friday", "0 9 * * MON,WED,FRI"),
        ("weekly on fri", "0 9 * * FRI"),
        ("monthly on the 1st", "0 9 1 * *"),
        ("every month on the 1st and 15th 10:00", "0 10 1,15 * *"),
        ("monthly on the last day 18:00", "0 18 L * *"),
        ("first monday of the month", "0 9 * * MON#1"),
        ("every 3rd thursday", "0 9 * * THU#3"),
        ("quarterly", "0 9 1 1,4,7,10 *"),
        ("every 6 months on the 2nd", "0 9 2 1,7 *"),
        ("yearly on 24 Dec", "0 9 24 12 *"),
        ("hourly", "0 * * * *"),
        ("every 15 minutes", "*/15 * * * *"),
        ("every 5m", "*/5 * * * *"),
        ("1h", "0 * * * *"),
        ("*/20 * * * *", "*/20 * * * *"),
        ("@daily", "@daily"),
    ],
)
def test_words_are_cron(text: str, cron: str) -> None:
    """What people say is what cron is told; cron itself stays as it is."""
    found = read_recurrence(text)
    assert found.cron == cron
    assert found.meaning == describe(cron)
    assert next_runs(found.cron, NOW, UTC, 5)


@pytest.mark.parametrize(
    ("text", "cron"),
    [
        ("every month", "30 17 26 * *"),
        ("every week", "30 17 * * FRI"),
        ("every year", "30 17 26 1 *"),
        ("every 3 months", "30 17 26 1,4,7,10 *"),
        ("daily", "30 17 * * *"),
        ("daily 8:00", "0 8 * * *"),
        ("monthly on the 3rd", "30 17 3 * *"),
        ("every hour", "30 * * * *"),
    ],
)
def test_the_date_says_what_words_leave_out(text: str, cron: str) -> None:
    """Day, weekday, month and time are those of the date from which it recurs, unless they are named."""
    assert read_recurrence(text, date(2024, 1, 26), time(17, 30)).cron == cron


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("every 2 weeks", "cron cannot express 'every 2 weeks'; write every week"),
        ("biweekly", "every 2 weeks"),
        (
            "every other friday",
            "cron cannot express 'every other friday'; write every friday, or first and third friday",
        ),
        ("every 3 days", "cron cannot express 'every 3 days'"),
        ("every 5 months", "every 1, 2, 3, 4, 6 or 12 months"),
        ("every 7 minutes", "a number that 60 can be divided by"),
        ("every 5 hours", "a number that 24 can be divided by"),
        ("every 2 years", "every year"),
        ("daily 9:00 and 17:30", "both times need one minute"),
    ],
)
def test_what_cron_cannot_say_is_told(text: str, said: str) -> None:
    """Nothing is rounded to what comes near; that is proposed."""
    with pytest.raises(BadRecurrence, match="cron cannot express") as caught:
        read_recurrence(text)
    assert caught.value.code == "cron.beyond"
    assert said in str(caught.value)
    assert says_recurrence(text)


@pytest.mark.parametrize(
    "text",
    [
        *("", "every", "every so often", "news", "daily news", "every 30 feb", "every sat 25:00", "9:00", "may"),
        *("every 0 days", "61 * * * *", "0 0 9 * * MON", "* * *", "x" * 500),
    ],
)
def test_other_words_are_refused(text: str) -> None:
    """What is none is an error with examples, and never some other recurrence."""
    with pytest.raises(BadCron) as caught:
        read_recurrence(text)
    assert caught.value.code in ("cron.invalid", "cron.never")
    assert not says_recurrence(text)


def test_days_that_some_months_lack_are_told() -> None:
    """The 31st comes seven times a year, and that is said; the last day comes in each month."""
    assert "months without day 31 are left out" in read_recurrence("monthly on the 31st").note
    assert read_recurrence("monthly on the 28th").note == ""
    assert read_recurrence("yearly on 29 feb").note == "only in leap years"
    assert read_recurrence("yearly on 31 jan").note == ""


def test_documented_recurrences_are_read() -> None:
    """What the page on dates lists is read, and the cron fields beside it are among what comes out."""
    page = (Path(__file__).parents[2] / "docs" / "dates.md").read_text("utf-8")
    table = page.partition("\n## Again and again")[2].partition("\nWhat the words leave out")[0]
    rows = [line.split(" | ") for line in table.splitlines() if line.startswith("| `")]
    assert len(rows) > 6
    for typed, *_, cron in rows:
        found = {read_recurrence(form).cron for form in re.findall(r"`([^`]+)`", typed)}
        assert set(re.findall(r"`([^`]+)`", cron)) <= found


DAYS = st.lists(st.sampled_from(["MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN"]), unique=True, min_size=1, max_size=3)
CRON = st.builds(
    lambda minute, hour, days: f"{minute} {hour} {days}",
    st.integers(0, 59),
    st.integers(0, 23),
    st.one_of(
        st.just("* * *"),
        st.just("* * MON-FRI"),
        st.builds(lambda days: f"* * {','.join(days)}", DAYS),
        st.builds(lambda day: f"{day} * *", st.integers(1, 28)),
        st.builds(lambda day, month: f"{day} {month} *", st.integers(1, 28), st.integers(1, 12)),
        st.just("L * *"),
        st.builds(lambda day, place: f"* * {day}#{place}", st.sampled_from(["MON", "SUN"]), st.integers(1, 5)),
    ),
)


@given(CRON)
def test_what_is_shown_can_be_typed(cron: str) -> None:
    """The words for an expression are read as one that runs at the very same times."""
    again = read_recurrence(describe(cron)).cron
    assert next_runs(again, NOW, UTC, 12) == next_runs(cron, NOW, UTC, 12)


WORDS = "every each daily monthly on the 1st 15th fri and mon at 9:00 17 last day of month weekdays 2 weeks , 24 dec"


@given(st.one_of(st.text(max_size=60), st.lists(st.sampled_from(WORDS.split()), max_size=8).map(" ".join)))
def test_no_text_is_more_than_refused(text: str) -> None:
    """Any text is a cron expression that runs, or an error of ours."""
    try:
        found = read_recurrence(text, date(2024, 2, 29), time(8, 15))
    except BadCron:
        return
    check_cron(found.cron)
    assert found.meaning
