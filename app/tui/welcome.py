"""The first start in a folder without memory: create it here, open a demo, or leave."""

from __future__ import annotations

import os

from memory.errors import MemdeckError
from memory.storage.own_folders import home, state_home
from memory.workspace import Workspace
from widgets.dialogs.pick import Pick, PickOption

from .shell import Shell

CREATE, DEMO = "create", "demo"


def start_screen(path: str) -> Pick:
    """Return the question what to do in a folder without memory: create it, open a demo, or leave."""
    options = [
        PickOption(CREATE, "Create it here", "seven files in .aiter/memory", key="c"),
        PickOption(DEMO, "Look at a demo", "a sample in a temporary folder", key="d"),
    ]
    words = f"There is no .aiter/memory in {os.path.abspath(path)} or above it."
    return Pick("No memory here yet", options, words)


def make(app: Shell, choice: str) -> Workspace | None:
    """Create the workspace that was chosen. Return None, with a message, if that fails."""
    now = app.clock()
    try:
        if choice == CREATE:
            state, own = state_home(app.environ), home(app.environ)
            return Workspace.init(app.setup.path, now, actor="human", state_home=state, home=own)[0]
        from app.demo.workspace import make_demo

        return make_demo(None, now, app.environ, actor="human")[0]
    except MemdeckError as error:
        app.say_error(error)
        return None
