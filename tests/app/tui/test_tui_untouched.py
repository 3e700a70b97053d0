"""Opening the application leaves the memory as it is, unless the heartbeat of the workspace is switched on."""

from __future__ import annotations

import os
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from memory.workspace import Workspace
from tests.app.tui.tui_helpers import NOW, make_app, make_workspace, press, running, settle
from tests.patience import within
from tests.widgets.harness import screen_text

OLD = "## Completed\n\n### [LOW] Old\n- created: 2023-01-01\n- completed: 2023-01-02\n"
CONFIG = "# Config\n\n## Heartbeat\n\n{}\n## Memory Maintenance\n\n- archiveCompletedAfterDays: 7\n{}"
UPKEEP = "- maintenanceSchedule: * * * * *\n"


def tree(workspace: Workspace) -> dict[str, tuple[bytes, int]]:
    """Each file of the workspace with its bytes and the time of its last change."""
    found = {}
    for folder, _, names in os.walk(workspace.root):
        for name in names:
            path = Path(folder, name)
            found[str(path)] = (path.read_bytes(), path.stat().st_mtime_ns)
    return found


async def watch(workspace: Workspace, *, heartbeat: bool) -> str:
    """Open, look at each pane for five minutes of the clock, and close; returns the last screen."""
    now = [NOW]

    def clock() -> datetime:
        return now[0]

    app = make_app(workspace, clock=clock, watches=True, keeps_watch=True)
    async with running(app, (160, 36)) as pilot:
        for minute in range(6):
            now[0] = NOW + timedelta(minutes=minute)
            app.schedule.files_changed(frozenset())
            app.schedule.beat()
            async with within(lambda: screen_text(app)):
                while not (app.schedule.idle and app.main_screen.header.keeper):
                    await pilot.pause()
            await settle(pilot)
            await press(pilot, str(minute + 1), "j")
        assert app.schedule.leads is heartbeat
        return screen_text(app)


@pytest.mark.parametrize("schedule", ["", UPKEEP], ids=["nothing", "maintenance"])
async def test_opening_writes_nothing_without_a_heartbeat(tmp_path: Path, schedule: str) -> None:
    """Bytes and times of all files are as before, also where maintenance would be due; the screen says who runs it."""
    files = {"tasks.md": OLD, "config.md": CONFIG.format("", schedule or "- maintenanceSchedule: 0 3 1 1 *\n")}
    workspace = make_workspace(tmp_path, files)
    before = tree(workspace)
    assert "schedule runs in cron only" in await watch(workspace, heartbeat=False)
    assert tree(workspace) == before
