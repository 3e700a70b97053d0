"""A task in one line from every pane, recurrences in words in the forms, and twins under the cursor."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.tui.app import MemdeckApp
from memory.workspace import Workspace
from tests.app.tui.tui_helpers import make_app, make_workspace, press, running, type_text
from tests.widgets.harness import screen_text

LINE = "Buy stamps fri 9:00 !high @Alice #office every month"
TWIN = "### [NORMAL] Same\n- created: 2024-01-01\n"


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
        first, second = (line for line in shown.splitlines() if " · " in line and "09:00" in line)
        assert first.index("Fri 19 Jan") == second.index("Fri 19 Apr"), "the runs stand below each other"
        await press(pilot, "enter")
    (task,) = [task for task in workspace.snapshot().tasks if task.title == "Buy stamps"]
    assert (task.priority, task.assigned, task.tags) == ("HIGH", "Alice", ("office",))
    assert (task.due, task.recurring) == ("2024-01-19 09:00", "0 9 19 * *")


async def test_a_form_takes_a_recurrence_in_words(workspace: Workspace) -> None:
    """Its meaning and five next runs stand below it while it is typed, out from the date; the file gets cron."""
    app = make_app(workspace, pane="tasks")
    async with running(app) as pilot:
        await press(pilot, "a")
        await type_text(pilot, "Water plants")
        await press(pilot, "tab", "tab")
        await type_text(pilot, "fri 9:00")
        await press(pilot, "tab")
        await type_text(pilot, "every week")
        shown = " ".join(screen_text(app).split())
        assert "0 9 * * FRI · Fri 09:00" in shown
        assert all(f"{day} 09:00" in shown for day in ("Fri 19 Jan", "Fri 26 Jan", "Fri 2 Feb", "Fri 9 Feb"))
        await press(pilot, "ctrl+s")
    (task,) = [task for task in workspace.snapshot().tasks if task.title == "Water plants"]
    assert (task.due, task.recurring) == ("2024-01-19 09:00", "0 9 * * FRI")


def _under_cursor(app: MemdeckApp) -> str | None:
    pane = app.navigation.pane
    assert pane is not None
    task = pane.current()
    return None if task is None else str(task.notes)


@pytest.mark.parametrize("which", [0, 1, 2])
async def test_keys_on_twins_reach_the_one_under_the_cursor(tmp_path: Path, which: int) -> None:
    """`d` twice in a row completes what the cursor was on each time, and `u` takes back that and no other."""
    text = "## Pending\n" + "".join(f"{TWIN}- notes: {word}\n" for word in "abc") + "## Completed\n"
    workspace = make_workspace(tmp_path, {"tasks.md": text})
    app = make_app(workspace, pane="tasks")

    def completed() -> list[str | None]:
        return [task.notes for task in workspace.snapshot().tasks.in_section("completed")]

    async with running(app) as pilot:
        await press(pilot, *["j"] * which)
        assert _under_cursor(app) == "abc"[which]
        # Its ref is another one then, and the cursor is on it all the same.
        await press(pilot, "D")
        await type_text(pilot, "2024-02-01")
        await press(pilot, "enter")
        assert _under_cursor(app) == "abc"[which]
        for _ in range(2):
            # The cursor follows what was completed; the next one to do is on top.
            if _under_cursor(app) in completed():
                await press(pilot, "home")
            wanted, before = _under_cursor(app), completed()
            await press(pilot, "d")
            await press(pilot, "enter")
            assert sorted(map(str, completed())) == sorted(map(str, [*before, wanted]))
        await press(pilot, "u", "u")
        assert completed() == []
        assert sorted(str(task.notes) for task in workspace.snapshot().tasks) == ["a", "b", "c"]
        assert [task.due for task in workspace.snapshot().tasks if task.notes == "abc"[which]] == ["2024-02-01"]
