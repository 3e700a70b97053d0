"""The heat of the journal: entries per day, the weeks of a year, and the map that is drawn of them."""

from __future__ import annotations

from datetime import date

from hypothesis import given, settings
from hypothesis import strategies as st

from memory.document import parse
from memory.files.heat import busiest, entries_by_day, weeks_until
from memory.files.journal import read_journal
from widgets.glyphs import ASCII, UNICODE
from widgets.pieces import line_text
from widgets.year import ROWS, heat_lines

JOURNAL = b"## 2024-01-15\n### 10:00 - a\n### 09:00 - b\n## 2024-02-31\n### 09:00 - c\n## Notes\n### x\n## 2024-01-13\n"


def test_entries_are_counted_by_day() -> None:
    """Several files add up; days that do not exist, headings without one, and empty days count for nothing."""
    journal = read_journal("journal.md", parse(JOURNAL))
    older = read_journal("archive/journal-2024-01.md", parse(b"## 2024-01-15\n### 08:00 - d\n"))
    assert entries_by_day([journal, older]) == {date(2024, 1, 15): 3}


@settings(deadline=None)
@given(st.dates(), st.integers(1, 60))
def test_weeks_end_with_the_day_and_follow_each_other(last: date, count: int) -> None:
    """All days from the first Monday on, in order, seven a week."""
    weeks = weeks_until(last, count)
    days = [day.toordinal() for week in weeks for day in week]
    assert days == list(range(days[0], days[0] + len(days))) if days else last.toordinal() + 6 > date.max.toordinal()
    assert all(week[0].weekday() == 0 for week in weeks)
    if len(weeks) == count:
        assert last in weeks[-1]


def test_the_map_says_by_its_signs_how_busy_a_day_was() -> None:
    """Days to come are blank, the busiest has the densest sign, in Unicode and in ASCII; months stand above."""
    today = date(2024, 1, 17)
    weeks = weeks_until(today, 20)
    counts = {date(2024, 1, 15): 8, date(2024, 1, 9): 1}
    assert busiest(counts, weeks) == 8
    for glyphs in (UNICODE, ASCII):
        rows = [line_text(row) for row in heat_lines(weeks, counts, today, glyphs)]
        assert len(rows) == ROWS
        assert "Jan" in rows[0]
        assert rows[1].endswith(glyphs.heat[-1])
        assert rows[2].rstrip().endswith(glyphs.heat[1] + glyphs.heat[0])
        assert rows[7][-1] == " "
