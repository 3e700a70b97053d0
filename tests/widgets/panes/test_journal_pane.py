"""The journal pane: days, entries, the text as it was written, and what its form gives back."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest

from memory.document import parse
from memory.files.snapshot import Snapshot
from tests.fixture_files import SAMPLE
from tests.widgets.harness import Harness, screen_text
from widgets.list.rows import Heading
from widgets.panes.journal.forms import join_lines, split_lines
from widgets.panes.journal.pane import JournalPane, day_title

NOW = datetime(2024, 1, 15, 11, 30, tzinfo=UTC)


class Journal:
    """A look at one journal.md."""

    def __init__(self, text: str) -> None:
        self._document = parse(text.encode())

    def document(self, name: str) -> object:
        """The journal, nothing else."""
        return self._document if name == "journal.md" else None

    def archives(self) -> tuple[str, ...]:
        """None."""
        return ()


def look_at(text: str) -> Snapshot:
    """A snapshot of a journal."""
    return Snapshot(Journal(text), lambda: UTC)  # type: ignore[arg-type]


async def test_the_journal_opens_on_its_newest_entry() -> None:
    """The newest day stands on top, its newest entry under the cursor and in the detail."""
    pane = JournalPane()
    app = Harness(lambda: [pane])
    async with app.run_test(size=(120, 30)) as pilot:
        pane.show(look_at((SAMPLE / "journal.md").read_text()), NOW)
        await pilot.pause()
        await pilot.pause()
        text = screen_text(app)
        assert "MON 15 JAN  TODAY" in text
        assert "SUN 14 JAN  YESTERDAY" in text
        assert pane.current().title == "Monitor Alert"
        assert "• API endpoint /products returned 503" in text
        assert "5 entries" in text


def test_days_in_any_order_stand_newest_first() -> None:
    """The order of the file does not matter for the order of the days."""
    snapshot = look_at("## 2024-01-02\n\n### 10:00 — b\n\n## 2024-01-14\n\n### 10:00 — a\n")
    rows = JournalPane().rows(snapshot, NOW)
    assert [row.title for row in rows if isinstance(row, Heading)] == ["SUN 14 JAN  YESTERDAY", "TUE 2 JAN"]


@pytest.mark.parametrize(
    ("day", "title"),
    [
        ("2024-01-15", "MON 15 JAN  TODAY"),
        ("2024-01-14", "SUN 14 JAN  YESTERDAY"),
        ("2023-12-24", "SUN 24 DEC 2023"),
        ("2024-02-30", "2024-02-30"),
    ],
)
def test_days_are_named(day: str, title: str) -> None:
    """A day says its weekday, what it is from today, and its year where that is another one."""
    assert day_title(day, date(2024, 1, 15)) == title


LINES = [(), ("a",), ("a", "b"), ("a\nwent on", "b"), ("x: y", "- not a bullet of its own")]


@pytest.mark.parametrize("lines", LINES)
def test_lines_survive_the_form(lines: tuple[str, ...]) -> None:
    """What the editor shows is read back as the same lines."""
    assert split_lines(join_lines(lines)) == lines


async def test_a_row_tells_how_its_entry_begins() -> None:
    """Behind the title stands what the entry says, as far as there is room, and no number that nobody explains."""
    pane = JournalPane()
    app = Harness(lambda: [pane])
    text = "## 2024-01-15\n\n### 10:20 — Check\n- all well\n- nothing due\n\n### 09:00 — Empty\n"
    async with app.run_test(size=(120, 30)) as pilot:
        pane.show(look_at(text), NOW)
        await pilot.pause()
        shown = [line.rstrip("│ ") for line in screen_text(app).splitlines()]
        assert any("10:20 Check  all well · nothing due" in line for line in shown)
        assert any("09:00 Empty" in line.split("││")[0].rstrip() for line in shown)
        assert pane.remark(look_at(text), NOW) == "2 entries"


@pytest.mark.frames
async def test_only_rows_in_view_are_read() -> None:
    """A long journal asks for the text of those entries only that stand on the screen."""
    days = "".join(f"### 10:{number % 60:02} — Entry {number}\n- text {number}\n\n" for number in range(2000))
    pane = JournalPane()
    app = Harness(lambda: [pane])
    asked: set[str] = set()
    draw = pane.draw_row
    pane.draw_row = lambda item, width: (asked.add(item.title), draw(item, width))[1]
    async with app.run_test(size=(120, 30)) as pilot:
        pane.show(look_at(f"## 2024-01-15\n\n{days}"), NOW)
        await pilot.pause()
        await pilot.pause()
        assert 0 < len(asked) < 60
