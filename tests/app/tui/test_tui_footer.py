"""The footer and the header follow what can be done: undo, selections, calendar and journal; counts lead somewhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.tui.app import MemdeckApp
from memory.workspace import Workspace
from tests.app.tui.tui_helpers import make_app, make_workspace, press, running, settle
from tests.widgets.harness import screen_text


def hints(app: MemdeckApp) -> list[str]:
    """What the footer says."""
    return [f"{hint.keys} {hint.description}" for hint in app.main_screen.hints.hints]


async def test_undo_and_redo_are_named_where_there_is_something(workspace: Workspace) -> None:
    """Nothing at first, undo behind a change, redo behind an undo; their keys say so where there is nothing."""
    app = make_app(workspace)
    async with running(app, (200, 36)) as pilot:
        assert {"u undo", "U redo"}.isdisjoint(hints(app))
        await press(pilot, "u")
        assert [one.message for one in app._notifications] == ["Nothing to undo."]
        await press(pilot, "U")
        assert [one.message for one in app._notifications] == ["Nothing to redo."]
        await press(pilot, "s")
        assert "u undo" in hints(app)
        assert "U redo" not in hints(app)
        await press(pilot, "u")
        assert "U redo" in hints(app)
        assert "u undo" not in hints(app)
        await press(pilot, "U")
        assert "u undo" in hints(app)
    app = make_app(workspace)
    async with running(app, (200, 36)) as pilot:
        assert "u undo" in hints(app)


LATE = "## Pending\n\n### [LOW] First\n\n### [HIGH] Late\n- due: 2024-01-02\n"


@pytest.mark.parametrize("start", ["tasks", "brief", "journal"])
async def test_a_count_of_the_header_leads_to_what_it_counts(tmp_path: Path, start: str) -> None:
    """Overdue tasks stand in the brief; the cursor goes to the first of them, whatever was open."""
    app = make_app(make_workspace(tmp_path, {"tasks.md": LATE}), pane=start)
    async with running(app) as pilot:
        top = screen_text(app).splitlines()[0]
        await pilot.click("HeaderLine", offset=(top.index("1 overdue"), 0))
        await settle(pilot)
        pane = app.pane
        assert pane.pane_id == "brief"
        assert (pane.current().part, pane.current().title) == ("overdue", "Late")
