"""A task in one line from every pane, recurrences in words in the forms, and twins under the cursor."""

from __future__ import annotations

import pytest

from memory.workspace import Workspace
from tests.app.tui.tui_helpers import make_app, press, running, type_text
from tests.widgets.harness import screen_text

LINE = "Buy stamps fri 9:00 !high @Alice #office every month"
TWIN = "### [NORMAL] Same\n- created: 2024-01-01\n"


@pytest.mark.thorough(one_of=3)
@pytest.mark.parametrize("pane", ["brief", "tasks", "journal", "monitors", "config"])
async def test_a_task_in_one_line_from_every_pane(workspace: Workspace, pane: str) -> None:
    """Q asks for the line, names each part below it while it is typed, and Enter writes the task, cron included."""
    app = make_app(workspace, pane=pane)
    async with running(app) as pilot:
        await press(pilot, "Q")
        await type_text(pilot, LINE)
        shown = screen_text(app)
        for words in (
            "title    Buy stamps",
            "priority HIGH",
            "assigned Alice",
            "tags     office",
            "recurs   monthly on day 19",
        ):
            assert words in shown
        assert "due      2024-01-19 09:00" in shown
        assert "next     Fri 19 Jan 09:00" in shown
        await press(pilot, "enter")
    (task,) = [task for task in workspace.snapshot().tasks if task.title == "Buy stamps"]
    assert (task.priority, task.assigned, task.tags) == ("HIGH", "Alice", ("office",))
    assert (task.due, task.recurring) == ("2024-01-19 09:00", "0 9 19 * *")
