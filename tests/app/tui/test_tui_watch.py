"""The open application keeps watch: real commands and a real server, run when due, by key, and called off."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from textual.pilot import Pilot

from app.tui.app import MemdeckApp
from memory.monitoring.ledger import WATCH, Leader, MonitorLedger
from memory.trust.asks import asks_of
from memory.trust.consent import Trust
from memory.workspace import Workspace
from tests.app.tui.tui_helpers import NOW, make_app, make_workspace, press, running, settle
from tests.patience import within
from tests.widgets.harness import screen_text
from widgets.dialogs.consent import ConsentScreen
from widgets.dialogs.pick import Pick

DISK = "### Disk\n- type: command\n- command: echo 72\n- interval: */5 * * * *\n- threshold: value > 90\n"
SLOW = "### Slow\n- type: command\n- command: sleep 60\n- interval: */5 * * * *\n- timeout: 50s\n"


HEARTBEAT = "# Config\n\n## Heartbeat\n\n- expression: 0 4 1 1 *\n"
"""Switched on, so that the application keeps watch, and never due here."""


def monitors(*texts: str, **files: str) -> dict[str, str]:
    """Return the files of a workspace with these monitors."""
    return {"monitors.md": "## Monitors\n\n" + "\n".join(texts), "config.md": HEARTBEAT, **files}


def approve(workspace: Workspace) -> None:
    """Approve all that the files ask for, as a person did before."""
    assert workspace.state is not None
    trust = Trust(workspace.state.folder.home, workspace.root)
    for ask in asks_of(workspace.snapshot()):
        trust.approve(ask, who="human", now=NOW)


async def until(pilot: Pilot[int], check: Callable[[], bool], what: str) -> None:
    """Wait for something that a thread does; fail with its name and the screen."""
    async with within(lambda: f"{what}\n{screen_text(pilot.app)}"):
        while not check():
            await pilot.pause(0.02)
    await settle(pilot)


def said(app: MemdeckApp) -> str:
    """Return what is said in the corner."""
    return "\n".join(note.message for note in app._notifications)


def text(workspace: Workspace, name: str) -> str:
    """Return a memory file's text."""
    path = workspace.memory / name
    return path.read_text(encoding="utf-8") if path.exists() else ""


def changes(workspace: Workspace) -> list[tuple[str, str]]:
    """Return who changed files since the workspace was made, and by which operation, newest first."""
    history = workspace.store.history
    return [(one.actor, one.operation) for one in history.list() if one.files and one.actor != "test"]


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> datetime:
        """Return the time."""
        return self.now


@pytest.fixture
def server() -> Iterator[HTTPServer]:
    """A server that answers with its attribute `status`."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(self.server.status)  # type: ignore[attr-defined]
            self.end_headers()

        def log_message(self, *_: object) -> None:
            return

    made = HTTPServer(("127.0.0.1", 0), Handler)
    made.status = 200  # type: ignore[attr-defined]
    threading.Thread(target=made.serve_forever, daemon=True).start()
    yield made
    made.shutdown()
    made.server_close()


async def test_due_monitors_run_while_it_is_open(tmp_path: Path, server: HTTPServer) -> None:
    """A server that fails is an alert on the screen and in the files; well again at its next time, that is said too."""
    url = f"http://127.0.0.1:{server.server_port}/health"
    web = f"### Web\n- type: http\n- url: {url}\n- interval: */5 * * * *\n- threshold: status != 200\n"
    workspace = make_workspace(tmp_path, monitors(web))
    approve(workspace)
    server.status = 503  # type: ignore[attr-defined]
    clock = Clock()
    app = make_app(workspace, keeps_watch=True, clock=clock, pane="monitors")
    async with running(app) as pilot:
        await until(pilot, lambda: "Web is failing" in said(app), "the alert is said")
        assert "lastStatus: failing (status 503)" in text(workspace, "monitors.md")
        assert "Monitor Alert" in text(workspace, "journal.md")
        await until(pilot, lambda: "failing" in screen_text(app), "the pane shows it")
        assert "schedule runs here" in screen_text(app)
        assert changes(workspace) == [("monitor", "monitors")]
        server.status = 200  # type: ignore[attr-defined]
        clock.now += timedelta(minutes=5)
        await until(pilot, lambda: "Web is healthy again" in said(app), "its end is said")
        await until(pilot, lambda: "✓ 10:35" in screen_text(app), "its last result is shown")
        shown = screen_text(app)
        for words in ("LATENCY", "LAST RESULTS", "▲ 10:30"):
            assert words in shown


async def test_r_asks_first_and_then_runs(tmp_path: Path) -> None:
    """R shows the consent screen; y runs it and says how it came out; no runs nothing; the remedy is not asked for."""
    workspace = make_workspace(tmp_path, monitors(DISK + "- folder: .\n- autoRemediate: touch mended\n"))
    app = make_app(workspace, pane="monitors")
    async with running(app) as pilot:
        await press(pilot, "R")
        assert isinstance(app.screen, ConsentScreen)
        assert "(1 of" not in screen_text(app)
        await press(pilot, "n")
        await until(pilot, lambda: "Disk: blocked" in said(app), "it is said that it did not run")
        assert "lastStatus" not in text(workspace, "monitors.md")
        await press(pilot, "R")
        await press(pilot, "y")
        await until(pilot, lambda: "Disk: healthy, 72" in said(app), "the result is said")
        assert "lastStatus: healthy (72)" in text(workspace, "monitors.md")
        assert not (workspace.root / "mended").exists()
        await press(pilot, "R")
        assert not isinstance(app.screen, ConsentScreen)


async def test_progress_is_shown_and_k_stops_it(tmp_path: Path) -> None:
    """The header says which check runs; K ends it, which is no crash, and the rest of the application goes on."""
    workspace = make_workspace(tmp_path, monitors(DISK, SLOW))
    approve(workspace)
    app = make_app(workspace, pane="monitors")
    async with running(app) as pilot:
        await press(pilot, "space")
        await press(pilot, "j")
        await press(pilot, "space")
        await press(pilot, "R")
        await until(pilot, lambda: "checking Slow, 2 of 2" in screen_text(app), "the header says what runs")
        assert "K stop" in screen_text(app)
        await press(pilot, "2", "7", "K")
        await until(pilot, lambda: not app.jobs.running, "it has ended")
        assert "checking" not in screen_text(app)
        assert "K stop" not in screen_text(app)


async def test_only_one_application_keeps_the_schedule(tmp_path: Path) -> None:
    """While another one has the lead this one runs nothing and says so; when it ends, this one goes on."""
    workspace = make_workspace(tmp_path, monitors(DISK))
    approve(workspace)
    assert workspace.state is not None
    other = Leader(workspace.state.folder, WATCH)
    assert other.take()
    clock = Clock()
    app = make_app(workspace, keeps_watch=True, clock=clock, pane="monitors")
    async with running(app) as pilot:
        await until(pilot, lambda: "schedule runs in another memdeck" in screen_text(app), "the header says who runs")
        assert "lastStatus" not in text(workspace, "monitors.md")
        other.close()
        clock.now += timedelta(seconds=10)
        await until(pilot, lambda: "lastStatus" in text(workspace, "monitors.md"), "it took over")
        assert "schedule runs here" in screen_text(app)


async def test_safe_runs_nothing(tmp_path: Path) -> None:
    """With --safe nothing runs by schedule or key, whatever was approved."""
    workspace = make_workspace(tmp_path, monitors(DISK))
    approve(workspace)
    app = make_app(workspace, keeps_watch=True, safe=True, pane="monitors")
    async with running(app) as pilot:
        await until(pilot, lambda: "schedule runs in cron only" in screen_text(app), "the header says who runs")
        await press(pilot, "R")
        assert "memdeck runs nothing with --safe." in said(app)
        assert "lastStatus" not in text(workspace, "monitors.md")


@pytest.mark.parametrize("safe", [False, True])
async def test_what_waits_for_approval_is_not_next(tmp_path: Path, safe: bool) -> None:
    """The header names the next run of what may run, with --safe too; what needs approval is told as waiting."""
    workspace = make_workspace(tmp_path, monitors(DISK))
    app = make_app(workspace, keeps_watch=True, safe=safe, pane="monitors")
    async with running(app) as pilot:
        await until(pilot, lambda: "1 needs approval" in screen_text(app), "the header says what waits")
        assert "next: Disk" not in screen_text(app)
        assert "stale" not in screen_text(app).splitlines()[0]


@pytest.mark.parametrize(("key", "muted"), [("home", timedelta(minutes=30)), ("j", timedelta(hours=2)), ("G", None)])
async def test_m_mutes_for_a_while(tmp_path: Path, key: str, muted: timedelta | None) -> None:
    """The times of the dialog mute; header, brief and pane say so; off ends it."""
    workspace = make_workspace(tmp_path, monitors(DISK))
    assert workspace.state is not None
    ledger = MonitorLedger(workspace.state.folder)
    ledger.mute("Disk", NOW + timedelta(minutes=1))
    app = make_app(workspace, pane="monitors")
    async with running(app) as pilot:
        await press(pilot, "m")
        assert isinstance(app.screen, Pick)
        assert "a day" in screen_text(app)
        await press(pilot, key, "enter")
        await until(pilot, lambda: not app.state.writing, "it is written")
        assert ledger.mutes().get("Disk") == (None if muted is None else NOW + muted)
        await until(pilot, lambda: ("1 muted" in screen_text(app)) is (muted is not None), "the header says it")
        assert ("  muted" in screen_text(app)) is (muted is not None)
    ledger.close()
