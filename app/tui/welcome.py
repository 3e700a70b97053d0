"""The start in a folder without memory: create it here, open a demo or another workspace, or leave."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from datetime import datetime

from memory.errors import MemdeckError
from memory.fleet.embedded import EmbeddedFleet
from memory.fleet.local import LocalWorkspaces
from memory.fleet.model import WorkspaceOverview
from memory.storage.own_folders import config_home, home, host_name, short_path, state_home
from memory.workspace import Workspace
from widgets.dialogs.pick import Pick, PickOption
from widgets.panes.fleet import attention

from .spine import Spine

CREATE, DEMO = "create", "demo"


MOST = 12
"""How many workspaces of the user are offered."""


def _workspaces(environ: Mapping[str, str], now: datetime) -> Sequence[WorkspaceOverview]:
    """Return the workspaces of the user as they were read last, those that need attention first."""
    fleet = EmbeddedFleet(
        LocalWorkspaces(state_home(environ), host_name(environ), home(environ), config_home(environ), environ)
    )
    try:
        return sorted(fleet.known(now), key=lambda one: not attention(one))
    except MemdeckError:
        return ()
    finally:
        fleet.close()


def start_screen(path: str, environ: Mapping[str, str], now: datetime) -> Pick:
    """Return the question what to do in a folder without memory; the user's workspaces can be opened from here."""
    options = [
        PickOption(CREATE, "Create it here", "seven files in .aiter/memory", key="c"),
        PickOption(DEMO, "Look at a demo", "opens a sample in a temporary folder", key="d"),
    ]
    for one in _workspaces(environ, now)[:MOST]:
        where = ", ".join(filter(None, (attention(one), short_path(str(one.path.parent), environ.get("HOME")))))
        options.append(PickOption(str(one.path), one.path.name, where, group="YOUR WORKSPACES"))
    words = f"There is no .aiter/memory in {os.path.abspath(path)} or above it."
    return Pick("No memory here yet", options, words)


def make(app: Spine, choice: str) -> Workspace | None:
    """Create or open the workspace that was chosen. Return None, with a message, if that fails."""
    now, state, own = app.clock(), state_home(app.environ), home(app.environ)
    try:
        if choice == CREATE:
            return Workspace.init(app.setup.path, now, actor="human", state_home=state, home=own)[0]
        if choice != DEMO:
            return Workspace.open(choice, state_home=state, home=own)
        from app.demo.workspace import make_demo

        return make_demo(None, now, app.environ, actor="human")[0]
    except MemdeckError as error:
        app.say_error(error)
        return None
