"""A sample workspace served to this machine, inside of the test's own loop."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from app.demo.workspace import demo_files
from memory.workspace import Workspace
from tests.app.tui.tui_helpers import NOW, make_workspace

HOUSE = Path(__file__).parents[3]
REQUIRED = "MEMDECK_TOOLS" in os.environ
"""Continuous integration sets it: there a missing tool is a failure, elsewhere a reason to skip."""


@dataclass(frozen=True, slots=True)
class Served:
    """A server that runs, its guard, and the workspace that it serves."""

    guard: object
    base: str
    address: str
    workspace: Workspace


@pytest.fixture
async def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Served]:
    """Serve the sample workspace; sessions run this source tree."""
    if not REQUIRED:
        pytest.importorskip("textual_serve", reason="the extra web is not installed")
    from datetime import UTC

    from aiohttp import web

    from app.servers.loopback import open_port
    from app.servers.web.guard import Guard
    from app.servers.web.server import GuardedServer

    for name, value in {
        "PYTHONPATH": str(HOUSE),
        "HOME": str(tmp_path),
        "XDG_STATE_HOME": str(tmp_path / "state"),
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
        "TZ": "UTC",
    }.items():
        monkeypatch.setenv(name, value)
    workspace = make_workspace(tmp_path, demo_files(NOW, UTC))
    listening, host = open_port(0, "serve.port")
    guard = Guard(host)
    runner = web.AppRunner(await GuardedServer(str(workspace.root), guard).make_application(), access_log=None)
    await runner.setup()
    await web.SockSite(runner, listening).start()
    try:
        yield Served(guard, f"http://{guard.host}", guard.address, workspace)
    finally:
        await runner.cleanup()
