"""The journal pane: days, entries, the text as it was written, and what its form gives back."""

from __future__ import annotations

from datetime import UTC, datetime

from memory.document import parse
from memory.files.snapshot import Snapshot
from tests.fixture_files import SAMPLE
from tests.widgets.harness import Harness, screen_text
from widgets.panes.journal import JournalPane

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
