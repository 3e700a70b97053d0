"""Tasks under a heading that is no section, in the application: in list, board, filter, search and counts."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.app.tui.tui_helpers import make_app, make_workspace, press, running, settle, type_text
from tests.widgets.harness import screen_text

TASKS = """## Pending

### [HIGH] Right

## In Progres

### [HIGH] Lost one

### [LOW] Lost two
"""


@pytest.mark.parametrize("size", [(120, 36), (80, 24), (40, 14)])
async def test_they_stand_in_a_group_of_their_own(tmp_path: Path, size: tuple[int, int]) -> None:
    """The group has the words of the heading and a warning; the sidebar counts them and marks the pane."""
    app = make_app(make_workspace(tmp_path, {"tasks.md": TASKS}))
    async with running(app, size) as pilot:
        await press(pilot, "2")
        text = screen_text(app)
        assert "In Progres  2  no section" in text
        assert "Lost one" in text
        assert "3 open" in text
        assert ("2 Tasks      3\u25b2" in text) is (size[0] >= 90)


async def test_board_filter_and_search_have_them(tmp_path: Path) -> None:
    """A card says under which heading it stands, a filter finds them by it, and search leads to them."""
    app = make_app(make_workspace(tmp_path, {"tasks.md": TASKS}))
    async with running(app) as pilot:
        await press(pilot, "2", "b")
        assert "Lost one  \u25b2 In Progres" in screen_text(app)
        await press(pilot, "b", "/")
        await type_text(pilot, "section:progres")
        await settle(pilot)
        assert ("Lost two" in screen_text(app), "Right" in screen_text(app)) == (True, False)
        await press(pilot, "escape", "ctrl+f")
        await type_text(pilot, "lost two")
        await settle(pilot)
        assert "Lost two" in screen_text(app)


async def test_a_key_puts_them_into_their_place(tmp_path: Path) -> None:
    """Started, a task stands under In Progress."""
    workspace = make_workspace(tmp_path, {"tasks.md": TASKS})
    app = make_app(workspace)
    async with running(app) as pilot:
        await press(pilot, "2", "g", "g", "s")
        found = {task.title: (task.section, task.heading) for task in workspace.snapshot().tasks}
        assert found["Lost one"] == ("in-progress", None)
        assert found["Lost two"] == ("pending", "In Progres")
