"""Opens the application on a case: every pane once, without a terminal of its own."""

from __future__ import annotations

from contextlib import nullcontext
from datetime import UTC, datetime

from app.tui.app import MemdeckApp
from app.tui.shell import Setup
from memory.errors import MemdeckError
from memory.workspace import Workspace
from tests.app.tui.tui_helpers import press, running
from widgets.panes import all_panes

from .place import Place

NOW = datetime(2024, 1, 15, 12, 0, tzinfo=UTC)


async def look(place: Place, refusal: str) -> int:
    """Go through the panes and say in the exit code whether all of it worked; exceptions of the application raise.

    What no verb can open, the application cannot either: `refusal` is the code that it says then, else empty.
    """
    try:
        workspace = Workspace.open(place.folder, state_home=place.state, machine_zone=UTC)
    except MemdeckError as error:
        if error.code != refusal:
            raise
        return 0
    app = MemdeckApp(workspace, Setup(clock=lambda: NOW, watches=False, hand_over=nullcontext, environ={}))
    async with running(app) as pilot:
        for pane in all_panes():
            await press(pilot, pane.key)
        assert app.is_running
    return 0
