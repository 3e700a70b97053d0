"""Everything that keys reach, the mouse reaches as well."""

from __future__ import annotations

import pytest
from textual.events import MouseScrollDown
from textual.pilot import Pilot

from app.tui.app import MemdeckApp
from app.tui.keys.help import CommandScreen
from memory.workspace import Workspace
from tests.app.tui.tui_helpers import make_app, running, settle, type_text
from tests.widgets.harness import screen_text


async def click(pilot: Pilot[int], words: str, *, times: int = 1, **modifiers: bool) -> None:
    """Click on some words where they stand on the screen, the last place first."""
    lines = screen_text(pilot.app).splitlines()
    y, line = next((y, line) for y, line in reversed(list(enumerate(lines))) if words in line)
    await pilot.click(offset=(line.index(words) + 1, y), times=times, **modifiers)
    await settle(pilot)


def title(app: MemdeckApp) -> str:
    """The title under the cursor."""
    return str(app.pane.current().title)


@pytest.mark.parametrize("size", [(120, 36), (80, 24), (40, 10)], ids=str)
async def test_every_action_is_reached_from_the_footer(workspace: Workspace, size: tuple[int, int]) -> None:
    """A click on the palette's hint, the wheel and a double click in it do any action; dialogs close by their hints."""
    app = make_app(workspace)
    async with running(app, size) as pilot:
        await click(pilot, ": command")
        assert isinstance(app.screen, CommandScreen)
        listed = app.screen.query_one("LineList")
        before = listed.scroll_y
        await pilot._post_mouse_events([MouseScrollDown], widget=listed)
        await settle(pilot)
        assert listed.scroll_y > before
        await type_text(pilot, "pane journal")
        await click(pilot, "3           Journal", times=2)
        assert app.pane.pane_id == "journal"
        await click(pilot, "? help")
        assert isinstance(app.screen, CommandScreen)
        await click(pilot, "Esc close")
        assert app.screen is app.main_screen
