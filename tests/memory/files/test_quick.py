"""A task in one line: its parts, and what stays title."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.errors import UsageError
from memory.files.tasks.quick import EXAMPLE, checked_quick, read_quick

NOW = datetime(2026, 11, 21, 15, 31, tzinfo=UTC)


def test_a_line_with_every_part() -> None:
    """Each part is found, with what it means."""
    found = read_quick(EXAMPLE, NOW, UTC)
    assert (found.title, found.priority, found.assigned, found.tags) == ("Buy stamps", "HIGH", "Alice", ("office",))
    assert (found.due, found.recurring, found.error) == ("2026-11-27 09:00", "0 9 27 * *", "")
    assert found.meanings == {
        "title": "Buy stamps",
        "due": "2026-11-27 09:00, in 6 d",
        "priority": "HIGH",
        "assigned": "Alice",
        "tags": "office",
        "recurring": "monthly on day 27, 09:00",
    }


@pytest.mark.parametrize(
    ("line", "title", "due", "recurring"),
    [
        ("Read daily news tomorrow", "Read daily news", "2026-11-22", None),
        ("Call Bob every fri 17:00", "Call Bob", None, "0 17 * * FRI"),
        ("Call Bob fri 17:00", "Call Bob", "2026-11-27 17:00", None),
        ("Water plants every day at 8am by fri", "Water plants", "2026-11-27", "0 8 * * *"),
        ("Backup +2d every week", "Backup", "2026-11-23", "0 9 * * MON"),
        ("Ship it by 2 Dec 14:00", "Ship it", "2026-12-02 14:00", None),
        ("Plan the trip in May", "Plan the trip", "2027-05-01", None),
        ('Plan the trip in "May"', "Plan the trip in May", None, None),
        ('Write "every month" into the plan', "Write every month into the plan", None, None),
        ("Buy 3 apples", "Buy 3 apples", None, None),
        ("Print 3", "Print 3", None, None),
        ("Check 5/6", "Check 5/6", None, None),
        ("Fix #123 in the parser", "Fix #123 in the parser", None, None),
        ("Say hello!", "Say hello!", None, None),
        ("Mail bob@example.com", "Mail bob@example.com", None, None),
        ("Learn C# and F#", "Learn C# and F#", None, None),
    ],
)
def test_dates_and_recurrences_stand_at_the_end(line: str, title: str, due: str | None, recurring: str | None) -> None:
    """The longest date or recurrence at the end counts; what only looks like one stays title."""
    found = read_quick(line, NOW, UTC)
    assert (found.title, found.due, found.recurring, found.error) == (title, due, recurring, "")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("", "type a title"),
        ("tomorrow !high", "type a title"),
        ("Pay rent every 2 weeks", "cron cannot express 'every 2 weeks'"),
    ],
)
def test_a_line_that_is_no_task_says_why(line: str, said: str) -> None:
    """Nothing is left out in silence."""
    assert said in read_quick(line, NOW, UTC).error
    with pytest.raises(UsageError) as caught:
        checked_quick(line, NOW, UTC)
    assert caught.value.code == "task.quick"


@pytest.mark.parametrize(
    ("line", "unread"),
    [
        ("Pay rent every blue moon !high", "every blue moon"),
        ("Standup daily at 25:00", "daily at 25:00"),
        ("Pay rent every fri", ""),
        ("Read the daily news", ""),
    ],
)
def test_a_recurrence_that_is_none_stays_in_the_title_and_is_told(line: str, unread: str) -> None:
    """Words such as `every blue moon` are not dropped."""
    found = read_quick(line, NOW, UTC)
    assert (found.unread, found.error) == (unread, "")
    assert unread in found.title


TITLES = st.lists(
    st.sampled_from(["Buy", "stamps", "ä", "the", "report", "C#", "hello!", "a,b"]), min_size=1, max_size=5
)
NAMES = st.text("abcXYZäö-_", min_size=1, max_size=8)


@given(
    TITLES,
    st.sampled_from(["HIGH", "LOW", "NORMAL"]),
    st.one_of(st.none(), NAMES),
    st.lists(NAMES, unique=True, max_size=3),
    st.one_of(st.none(), st.dates(date(2026, 1, 1), date(2030, 1, 1))),
    st.sampled_from([None, ("daily 8:00", "0 8 * * *"), ("every fri 17:00", "0 17 * * FRI")]),
    st.randoms(use_true_random=False),
)
def test_every_part_comes_back(title, priority, who, tags, due, recurring, random) -> None:  # type: ignore[no-untyped-def]
    """Whatever order the marks stand in, a line made of parts is read as these parts."""
    ends = [text for text in (due.isoformat() if due else "", recurring[0] if recurring else "") if text]
    random.shuffle(ends)
    words = [*title, *" ".join(ends).split()]
    marks = [f"!{priority.lower()}", *([f"@{who}"] if who else []), *(f"#{tag}" for tag in tags)]
    # A mark in the midst of a date or a title takes nothing away from it.
    for mark in marks:
        words.insert(random.randint(0, len(words)), mark)
    found = read_quick(" ".join(words), NOW, UTC)
    assert found.title == " ".join(title)
    assert (found.priority, found.assigned, set(found.tags)) == (priority, who, set(tags))
    # The time of a recurrence before a date may be taken for that of the date: it recurs then all the same.
    assert (found.due or "")[:10] == (due.isoformat() if due else "")
    assert found.recurring == (recurring[1] if recurring else None)


@given(st.text(st.characters(codec=None), max_size=80))
def test_any_line_is_read(line: str) -> None:
    """No text fails; without a title there is an error."""
    found = read_quick(line, NOW, UTC)
    assert bool(found.title) or found.error
