"""The brief as a start page over a real workspace: what happened since somebody looked last, and what waits."""

from __future__ import annotations

from datetime import timedelta

from memory.files.tasks.edits import edit_task
from memory.files.tasks.operations import add_task
from memory.workspace import Workspace
from tests.app.tui.tui_helpers import NOW, make_app, press, running
from tests.widgets.harness import screen_text
from widgets.pane.rows import RowKey


async def test_what_others_changed_since_the_last_look(workspace: Workspace) -> None:
    """The first time there is no news; later each change of others is told with its writer, and Enter goes there."""
    app = make_app(workspace, pane="brief")
    async with running(app) as pilot:
        assert "SINCE YOUR LAST VISIT" not in screen_text(app)
        await press(pilot, "q")
    later = NOW + timedelta(hours=1)
    workspace.change("add", lambda s: add_task(s, "Water plants", now=later), actor="gardener", now=later)
    workspace.change(
        "edit", lambda s: edit_task(s, "Water plants", set={"notes": "mine"}, now=later), actor="human", now=later
    )
    app = make_app(workspace, pane="brief", clock=lambda: NOW + timedelta(hours=2))
    async with running(app, (120, 50)) as pilot:
        shown = screen_text(app)
        assert "SINCE YOUR LAST VISIT  1" in shown
        assert "gardener added" in shown
        pane = app.pane
        row = next(key for key in pane.line_list.rows if isinstance(key, RowKey) and key.item.part == "news")
        pane.line_list.cursor = row
        await press(pilot, "enter")
        assert app.pane.pane_id == "tasks"
        assert app.pane.current().title == "Water plants"


async def test_the_year_of_the_journal(workspace: Workspace) -> None:
    """c opens the map at the entry's day, keys choose days, Enter shows one, and Enter goes to an entry of it."""
    app = make_app(workspace, pane="journal")
    async with running(app) as pilot:
        await press(pilot, "c")
        count = sum(entry.date == "2024-01-15" for entry in workspace.snapshot().journal.entries())
        shown = screen_text(app)
        assert f"Monday 15 January 2024: {count} entries" in shown
        assert all(words in shown for words in ("Jan", " Mon ", " Sun ", "a day"))
        await press(pilot, "h")
        assert "Monday 8 January 2024: no entry" in screen_text(app)
        await press(pilot, "T", "N")
        assert "14 January 2024" in screen_text(app)
        await press(pilot, "enter", "enter")
        assert app.pane.current().date == "2024-01-14"
        await press(pilot, "c", "h", "enter", "escape")
        assert app.pane.current().date == "2024-01-14"


LATE = "## Pending\n" + "".join(f"### [HIGH] Task {number}\n- due: 2024-01-02\n" for number in range(9))
QUIET = "### [HIGH] Later\n- due: 2025-01-02\n"
