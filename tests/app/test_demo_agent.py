"""The agent of the demo: what it does within the first minute, and that it ends with the application."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from app.demo.agent import ACTOR, INCIDENT, MERGED, MONITOR, RUNNING, DemoAgent, work
from app.demo.workspace import demo_files
from memory.review.inbox import Inbox
from memory.workspace import Workspace
from tests.patience import PATIENCE
from tests.terminal.tmux import Terminal, memdeck, needs_tmux

NOW = datetime(2024, 1, 15, 10, 30, tzinfo=UTC)
HOUSE = Path(__file__).parents[2]


def sample(folder: Path) -> Workspace:
    """The sample workspace in a folder."""
    return Workspace.init(
        folder / "shop",
        NOW,
        actor="cli",
        state_home=folder / "state",
        machine_zone=UTC,
        files=demo_files(NOW, UTC),
    )[0]


def played(workspace: Workspace, seed: int, steps: int) -> list[float]:
    """Let the agent do some steps without a pause; give the pauses that it would have made."""
    pauses: list[float] = []

    def rest(seconds: float) -> bool:
        pauses.append(seconds)
        return len(pauses) <= steps

    work(DemoAgent(workspace, seed, lambda: NOW), 1, rest)
    return pauses


def task(workspace: Workspace, title: str) -> object:
    """The task of a title."""
    return next(one for one in workspace.snapshot().tasks.items if one.title == title)


def test_the_first_minute_shows_everything(tmp_path: Path) -> None:
    """A new task goes all the way, fields change in place, a monitor alerts and recovers, the journal grows."""
    workspace = sample(tmp_path)
    entries = workspace.snapshot().journal.count
    running = task(workspace, RUNNING).progress
    assert sum(played(workspace, 1, 4)[:4]) < 30
    assert task(workspace, INCIDENT).section == "pending"
    assert task(workspace, RUNNING).progress != running
    monitor = next(one for one in workspace.snapshot().monitors.items if one.title == MONITOR)
    assert monitor.healthy is False
    workspace = sample(tmp_path / "again")
    pauses = played(workspace, 1, 10)
    assert sum(pauses[:10]) < 70
    assert task(workspace, INCIDENT).section == "completed"
    assert "502s" in str(task(workspace, MERGED).notes)
    assert next(one for one in workspace.snapshot().monitors.items if one.title == MONITOR).healthy is True
    assert workspace.snapshot().journal.count >= entries + 2
    (proposal,) = Inbox(workspace.together).list()
    assert (proposal.actor, proposal.kinds) == (ACTOR, ("rewrite",))
    assert {change.actor for change in workspace.store.history.list(20)} >= {ACTOR}


def test_it_goes_on_where_entries_are_gone(tmp_path: Path) -> None:
    """A person may remove what it works on, or whole files, or write nonsense into them."""
    workspace = sample(tmp_path)
    (workspace.memory / "tasks.md").write_bytes(b"\xff\xfe nonsense\n")
    (workspace.memory / "monitors.md").unlink()
    assert len(played(workspace, 1, 12)) == 13
    assert (workspace.memory / "tasks.md").read_bytes().startswith(b"\xff\xfe nonsense\n")


def test_it_ends_with_its_standard_input(tmp_path: Path) -> None:
    """A closed pipe ends it, whatever it waits for."""
    workspace = sample(tmp_path)
    environ = {**os.environ, "PYTHONPATH": str(HOUSE), "XDG_STATE_HOME": str(tmp_path / "state")}
    command = [sys.executable, "-P", "-m", "app.demo.agent", str(workspace.root), "1", "1", "0"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, env=environ, cwd=tmp_path) as process:
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(PATIENCE) == 0


@pytest.mark.terminal
@needs_tmux
@pytest.mark.thorough
def test_it_works_beside_the_application(tmp_path: Path) -> None:
    """Its task appears on the screen while nobody does anything, and it is gone when the application is."""
    environ = {"XDG_STATE_HOME": str(tmp_path / "state"), "TZ": "UTC", "PYTHONPATH": str(HOUSE)}
    command = memdeck("demo", str(tmp_path / "shop"), "--now", "2024-01-15T10:50:00Z")
    with Terminal(tmp_path, command, (120, 36), environ) as terminal:
        terminal.wait_for("FAILING")
        terminal.wait_for("incident-bot: added")
        terminal.press("2")
        terminal.wait_for(INCIDENT[:14])
        assert agents(tmp_path)
        terminal.press("q")
        terminal.wait_for("ended with 0")
        terminal.wait_until(lambda: not agents(tmp_path), "the agent is gone")


def agents(folder: Path) -> list[str]:
    """The processes of agents in a folder."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if b"app.demo.agent" in words and os.fsencode(folder / "shop") in words:
            found.append(process.name)
    return found
