"""Which tasks are due when a person says."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from memory.base.clock import BadMoment
from memory.document import parse
from memory.files.tasks.model import TaskList
from memory.files.tasks.order import due_when

NOW = datetime(2026, 11, 21, 15, 31, tzinfo=UTC)
"""A Saturday."""

TASKS = TaskList(
    "tasks.md",
    parse(
        b"# Tasks\n## Pending\n"
        b"### [HIGH] late\n- due: 2026-11-20 12:00\n"
        b"### [HIGH] night\n- due: 2026-11-27T23:30:15Z\n"
        b"### [LOW] friday\n- due: 2026-11-27\n"
        b"### [LOW] year\n- due: 2027-11-05 09:00 (recurring: 0 9 5 11 *)\n"
        b"### [LOW] daily\n- due: recurring: 0 9 * * *\n"
        b"### [LOW] odd\n- due: 2026-13-45\n"
        b"### [LOW] none\n- notes: 2026-11-27\n"
    ),
).items


@pytest.mark.parametrize(
    ("text", "titles"),
    [
        ("overdue", ["late"]),
        ("Today", []),
        ("week", ["night", "friday", "daily"]),
        ("later", ["year"]),
        ("fri", ["late", "night", "friday"]),
        ("next fri", ["night", "friday"]),
        ("Fri 27 Nov", ["night", "friday"]),
        ("27.11.", ["night", "friday"]),
        ("yesterday", ["late"]),
        ("5 nov", ["year"]),
        ("2026-11", ["late", "night", "friday"]),
        ("2027", ["year"]),
        ("fri noon", ["night", "friday"]),
        ("2026-11-27T23:30:00Z", ["night", "friday"]),
        ("+2d", []),
    ],
)
def test_words_dates_and_times(text: str, titles: list[str]) -> None:
    """A day without its year or week is the next such and the latest such; of a time its day counts."""
    assert titles == [task.title for task in TASKS if due_when(text, NOW, UTC)(task)]


def test_days_are_those_of_the_zone() -> None:
    """What is due late in the evening here is due on the next day further east."""
    zone = ZoneInfo("Asia/Tokyo")
    assert [task.title for task in TASKS if due_when("28 nov", NOW, zone)(task)] == ["night"]


@pytest.mark.parametrize("text", ["", "soon", "before 2 dec", "5/6", "Mon 27 Nov", "30 feb"])
def test_other_texts_are_refused(text: str) -> None:
    """The error says which text it was."""
    with pytest.raises(BadMoment, match=repr(text)):
        due_when(text, NOW, UTC)
