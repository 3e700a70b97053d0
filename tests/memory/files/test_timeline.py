"""A day of the journal on its hours: order, gaps, the signs of what entries are about, and who is behind them."""

from __future__ import annotations

from datetime import date

from hypothesis import given, settings
from hypothesis import strategies as st

from memory.document import parse
from memory.files.journal.kinds import KINDS, WORDS, author_of, came_from, kind_of
from memory.files.journal.model import Journal, read_journal
from memory.files.journal.timeline import Gap, Hour, busy_days, day_line, minute_of, next_busy
from tests.examples import examples
from widgets.calendar.day_lines import axis_rows, day_words, gap_words, layout, sign_of, strip_lines
from widgets.list.rows import Note
from widgets.text.glyphs import ASCII, UNICODE
from widgets.text.styled_text import line_text, line_width

DAY = date(2024, 1, 15)


def journal(*headings: str, day: str = "2024-01-15", file: str = "journal.md") -> Journal:
    """A journal with entries of one day."""
    text = f"## {day}\n\n" + "".join(f"### {heading}\n- said\n\n" for heading in headings)
    return read_journal(file, parse(text.encode()))


def test_entries_stand_by_their_time_with_the_gaps_between_them() -> None:
    """Order of the file does not matter; hours in which nothing was written are one gap, with its real length."""
    found = day_line([journal("17:30 — c", "09:05 — a", "09:50 — b", "no time", "25:00 — bad")], DAY)
    assert [one.entry.title for one in found.timed] == ["a", "b", "c"]
    assert [one.entry.title for one in found.untimed] == ["no time", "bad"]
    first, gap, last = found.slots
    assert isinstance(first, Hour)
    assert (first.hour, len(first.entries)) == (9, 2)
    assert gap == Gap(10, 16, 7 * 60 + 40)
    assert isinstance(gap, Gap)
    assert gap_words(gap) == "7 h 40 min"
    assert isinstance(last, Hour)
    assert last.hour == 17
    assert (found.counts[9], found.counts[17], sum(found.counts)) == (2, 1, 3)


def test_archives_add_to_a_day_and_other_days_do_not() -> None:
    """A day may stand in several files; what is under another date is not in it."""
    older = journal("08:00 — older", file="archive/journal-2024-01.md")
    found = day_line([journal("10:00 — new"), older, journal("11:00 — other", day="2024-01-14")], DAY)
    assert [one.entry.title for one in found.timed] == ["older", "new"]
    assert day_line([older], date(2023, 1, 1)).entries == ()


@settings(deadline=None, max_examples=examples(60))
@given(st.lists(st.integers(0, 24 * 60 - 1), max_size=40), st.integers(1, 40))
def test_the_axis_holds_every_entry_once_and_every_hour_between(minutes: list[int], room: int) -> None:
    """Slots cover the hours from the first to the last entry, and rows name each entry exactly once."""
    found = day_line([journal(*(f"{minute // 60:02}:{minute % 60:02} — x" for minute in minutes))], DAY)
    hours: list[int] = []
    for slot in found.slots:
        hours += range(slot.first, slot.last + 1) if isinstance(slot, Gap) else [slot.hour]
    assert hours == (list(range(min(minutes) // 60, max(minutes) // 60 + 1)) if minutes else [])
    rows = axis_rows(found, room)
    assert [row for row in rows if isinstance(row, int)] == list(range(len(minutes)))
    if len(hours) + len(minutes) <= room:
        assert sum(isinstance(row, tuple) for row in rows) == len(hours) - len({one // 60 for one in minutes})


def test_long_gaps_become_one_row_where_room_is_short() -> None:
    """With room each empty hour is a row; without, a long gap is one; what has no time comes last."""
    found = day_line([journal("08:00 — a", "16:00 — b", "timeless")], DAY)
    assert sum(isinstance(row, tuple) for row in axis_rows(found, 30)) == 7
    short = axis_rows(found, 6)
    assert [row for row in short if isinstance(row, tuple)] == [(9, "8 h")]
    assert short[-2:] == [Note("without a time", 24), 2]


def test_a_minute_is_read_from_times_that_exist() -> None:
    """Seconds do not count; what is no time of a day is none."""
    assert [minute_of(text) for text in ("00:00", "9:05", "23:59:30")] == [0, 545, 1439]
    assert [minute_of(text) for text in (None, "", "24:00", "12:60", "x:y", "12")] == [None] * 6


def test_days_with_entries_are_found_in_both_directions() -> None:
    """Empty days are passed over; at the ends there is none."""
    days = busy_days([journal("10:00 — a"), journal("10:00 — b", day="2024-01-10")])
    assert days == (date(2024, 1, 10), DAY)
    assert next_busy(days, DAY, -1) == date(2024, 1, 10)
    assert next_busy(days, date(2024, 1, 12), 1) == DAY
    assert next_busy(days, DAY, 1) is None
    assert next_busy((), DAY, -1) is None


def test_kinds_are_told_by_the_words_of_the_title() -> None:
    """The titles of the format have a kind each; everything else is a note; every kind has a sign of one cell."""
    assert {
        title: kind_of(title)
        for title in ("Heartbeat Check", "Monitor Recovered", "Task Completed", "Orchestration Update", "IM Response")
    } == {
        "Heartbeat Check": "heartbeat",
        "Monitor Recovered": "alert",
        "Task Completed": "task",
        "Orchestration Update": "plan",
        "IM Response": "message",
    }
    assert [kind_of(title) for title in ("Decision", "Weekly Report", "Multitasking", "")] == [
        "decision",
        "report",
        "note",
        "note",
    ]
    for glyphs in (UNICODE, ASCII):
        signs = {kind: sign_of(kind, glyphs) for kind in (*WORDS, "im")}
        assert all(len(sign) == 1 for sign in signs.values())
        assert len({signs[kind] for kind in KINDS if kind not in ("note", "message")} | {signs["im"]}) == len(KINDS) - 1
        tasks = [sign_of(f"Task {word}", glyphs) for word in ("Started", "Completed")]
        assert len({*signs.values(), *tasks}) == len({*signs.values()}) + 2
    assert {sign_of(f"Task {word}", UNICODE) for word in ("Started", "Completed", "Created")} == {"◐", "✓", "○"}


def test_who_is_behind_an_entry_is_said_by_its_lines() -> None:
    """`From: Alice via Slack` names Alice, so does `taken by`; nobody is guessed."""
    text = (
        "## 2024-01-15\n\n### 10:00 — a\n- From: Alice via Slack\n- Reply: no\n\n"
        '### 11:00 — b\n- "Cart" taken by Carol\n\n### 12:00 — c\n- by: Bob\n\n### 13:00 — d\n- nothing from: here\n'
    )
    entries = read_journal("journal.md", parse(text.encode())).entries()
    assert [author_of(one) for one in entries] == ["", "Bob", "Carol", "Alice"]
    assert came_from(entries[3]) == "Alice via Slack"


def test_the_whole_day_fits_two_lines_of_any_width() -> None:
    """Busier hours have a denser sign in both sets of signs, and both lines fit from 24 cells on."""
    found = day_line([journal("09:00 — a", "09:10 — b", "09:20 — c", "20:00 — d")], DAY)
    for glyphs in (UNICODE, ASCII):
        for room in (24, 36, 50, 80, 120):
            hours, cells = strip_lines(found.counts, room, glyphs)
            assert max(line_width(hours), line_width(cells)) <= room + 1
            words = line_text(cells)
            assert words.count(glyphs.heat[-1]) < words.count(glyphs.heat[0])
            assert glyphs.heat[2] in words or glyphs.heat[1] in words


def test_a_day_in_words() -> None:
    """How many entries, from when to when; short where room is."""
    found = day_line([journal("09:00 — a", "17:30 — b")], DAY)
    assert day_words(found) == "Monday 15 January 2024: 2 entries, 09:00 to 17:30"
    assert day_words(found, short=True) == "Mon 15 Jan: 2 entries, 09:00-17:30"
    assert day_words(day_line([journal("09:00 — a")], DAY)) == "Monday 15 January 2024: 1 entry, 09:00"
    assert day_words(day_line([journal("x")], DAY)) == "Monday 15 January 2024: 1 entry"
    assert day_words(day_line([], DAY)) == "Monday 15 January 2024: no entry"


def test_columns_exist_without_any_words() -> None:
    """Entries without a title, and days without entries, are laid out at every width."""
    found = day_line([journal("09:00", "10:00 —")], DAY)
    for width in (0, 10, 40, 100):
        for entries in (found.entries, ()):
            assert line_width(layout(entries, [""], width).line(width, {"at": "09:00", "said": "x"})) == width
