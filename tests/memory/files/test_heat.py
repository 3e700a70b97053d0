"""The heat of the journal: entries per day, how busy that is, the weeks of a year, and the map of them."""

from __future__ import annotations

from datetime import date

from memory.document import parse
from memory.files.journal.model import Journal, entries_by_day, step_of, weeks_until
from widgets.calendar.year import ROWS, heat_line
from widgets.text.glyphs import ASCII, UNICODE
from widgets.text.styled_text import line_text

JOURNAL = b"## 2024-01-15\n### 10:00 - a\n### 09:00 - b\n## 2024-02-31\n### 09:00 - c\n## Notes\n### x\n## 2024-01-13\n"


def test_entries_are_counted_by_day() -> None:
    """Several files add up; days that do not exist, headings without one, and empty days count for nothing."""
    journal = Journal("journal.md", parse(JOURNAL))
    older = Journal("archive/journal-2024-01.md", parse(b"## 2024-01-15\n### 08:00 - d\n"))
    assert entries_by_day([journal, older]) == {date(2024, 1, 15): 3}


def test_busier_days_are_in_higher_steps() -> None:
    """The steps are the same in every journal."""
    assert [step_of(count) for count in (0, 1, 2, 3, 4, 7, 8, 400)] == [0, 1, 2, 2, 3, 3, 4, 4]


def test_the_map_says_by_its_signs_how_busy_a_day_was() -> None:
    """Days to come are blank, the busiest has the densest sign, in Unicode and in ASCII; months stand above."""
    today = date(2024, 1, 17)
    weeks = weeks_until(today, 20)
    counts = {date(2024, 1, 15): 8, date(2024, 1, 9): 1}
    for glyphs in (UNICODE, ASCII):
        rows = [line_text(heat_line(y, weeks, counts, today, glyphs)) for y in range(ROWS)]
        assert "Jan" in rows[0]
        assert rows[1].endswith(glyphs.heat[-1])
        assert rows[2].rstrip().endswith(glyphs.heat[1] + glyphs.heat[0])
        assert rows[7][-1] == " "
        assert f"{glyphs.heat[1]} 1  {glyphs.heat[2]} 2-3" in rows[-1]
