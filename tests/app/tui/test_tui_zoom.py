"""The room of a list: the whole pane by key, its entry with Enter, in every pane and at the next start."""

from __future__ import annotations

import pytest

from memory.workspace import Workspace
from tests.app.tui.tui_helpers import make_app, press, running
from tests.widgets.harness import screen_text


@pytest.mark.parametrize("size", [(120, 36), (80, 24), (40, 10)], ids=str)
async def test_a_list_takes_the_whole_pane(workspace: Workspace, size: tuple[int, int]) -> None:
    """Z hides the entry in every pane, Enter shows it instead of the list, Escape goes back; Z again shows both."""
    app = make_app(workspace, pane="tasks")
    async with running(app, size) as pilot:
        frames = [app.pane.query_one(f".pane--{name}-frame") for name in ("list", "detail")]
        both = [frame.display for frame in frames]
        assert both == [True, size[0] >= 60]
        await press(pilot, "Z")
        assert [frame.display for frame in frames] == [True, False]
        assert frames[0].outer_size.width >= app.pane.size.width
        await press(pilot, "enter")
        assert [frame.display for frame in frames] == [False, True]
        assert "Run tests first" in screen_text(app) or size[1] < 24
        await press(pilot, "escape", "3")
        assert not app.pane.query_one(".pane--detail-frame").display
        await press(pilot, "2", "Z")
        assert [frame.display for frame in frames] == both
