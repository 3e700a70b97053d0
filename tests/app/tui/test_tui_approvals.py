"""What waits for an approval is one number, in whatever way somebody asks for it."""

from __future__ import annotations

import json
import os
import re
from contextlib import closing
from datetime import UTC
from pathlib import Path
from typing import Any

import pytest

from app.demo.siblings import add_beside
from app.demo.workspace import demo_files
from memory.fleet.embedded import EmbeddedFleet
from memory.fleet.local import LocalWorkspaces
from memory.workspace import Workspace
from tests.app.tui.tui_helpers import NOW, make_app, press, running, screen_text, settle
from tests.commands import memdeck

HOUSE = Path(__file__).parents[3]


@pytest.fixture
def demo(tmp_path: Path) -> Workspace:
    """Return the sample workspace, whose files, typed memory and project state ask for something each."""
    workspace, _ = Workspace.init(
        tmp_path / "shop", NOW, actor="cli", state_home=tmp_path / "state", machine_zone=UTC, files=demo_files(NOW, UTC)
    )
    add_beside(workspace, NOW, actor="cli")
    return workspace


def environ_of(folder: Path) -> dict[str, str]:
    """Return the variables of a person whose state and settings are in a folder."""
    return {"HOME": str(folder), "XDG_STATE_HOME": f"{folder}/state", "XDG_CONFIG_HOME": f"{folder}/config"}


TELLERS = ("trust list", "its rows", "status", "doctor", "fleet")


def told(workspace: Workspace, folder: Path) -> dict[str, int]:
    """Return the number as the verbs and the fleet tell it."""

    environ = {"PATH": os.environ["PATH"], "PYTHONPATH": str(HOUSE), **environ_of(folder)}

    def tell(*words: str) -> Any:
        done = memdeck(["--now", NOW.isoformat(), *words, "-o", "json"], cwd=workspace.root, environ=environ)
        return json.loads(done.stdout)

    listed = tell("trust", "list")
    (finding,) = [one for one in tell("doctor")["checks"] if "commands, addresses" in one["message"]]
    said = re.search(r"(\d+) needing approval", finding["message"])
    with closing(EmbeddedFleet(LocalWorkspaces(folder / "state", "here", None, folder / "config"))) as fleet:
        fleet.add(workspace.root, NOW)
        (row,) = fleet.overview(NOW)
    return {
        "trust list": listed["waiting"],
        "its rows": sum(one["state"] in ("pending", "withdrawn") for one in listed["trust"]),
        "status": tell("status")["approvals"]["waiting"],
        "doctor": int(said[1]) if said else 0,
        "fleet": row.waiting,
    }


async def test_one_number_everywhere(demo: Workspace, tmp_path: Path) -> None:
    """Header, Brief, questions, verbs and fleet count the same, before and after one was approved."""
    app = make_app(demo, pane="brief", environ=environ_of(tmp_path))
    async with running(app, (120, 60)) as pilot:
        assert told(demo, tmp_path) == dict.fromkeys(TELLERS, 10)
        assert "10 need approval" in screen_text(app)
        assert "10 waiting" in screen_text(app)
        assert app.pane.go_to(next(one.ref for one in app.pane.arrangement.rows.values if one.part == "waiting"))
        await press(pilot, "T")
        assert "(1 of 10)" in screen_text(app)
        await press(pilot, "y")
        assert "(2 of 10)" in screen_text(app)
        await press(pilot, "escape")
        app.changed()
        await settle(pilot)
        assert "9 need approval" in screen_text(app)
        assert told(demo, tmp_path) == dict.fromkeys(TELLERS, 9)
