"""The footer and the header follow what can be done: undo, selections, calendar and journal; counts lead somewhere."""

from __future__ import annotations

from app.tui.app import MemdeckApp
from memory.workspace import Workspace
from tests.app.tui.tui_helpers import make_app, press, running


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
