"""`memdeck fleet serve` as a process: a browser shows the workspaces of the catalogue, and nothing but those."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from datetime import UTC
from pathlib import Path

import httpx
import pytest

from app.demo.workspace import demo_files
from tests.app.tui.tui_helpers import NOW, make_workspace
from tests.app.web.chromium import PROGRAM, opened
from tests.app.web.conftest import HOUSE, REQUIRED
from tests.app.web.test_browser import drew, until
from tests.patience import PATIENCE, line_of
from tests.postgres import cluster, database

pytestmark = pytest.mark.skipif(PROGRAM is None and not REQUIRED, reason="Chromium is not installed")
__all__ = ["cluster", "database"]
WORDS = (sys.executable, "-m", "app.main", "fleet")


@pytest.fixture
def environ(tmp_path: Path, database: str) -> Mapping[str, str]:
    """A host whose one workspace is in the catalogue."""
    workspace = make_workspace(tmp_path, demo_files(NOW, UTC))
    found = {
        **os.environ,
        "PYTHONPATH": str(HOUSE),
        "HOME": str(tmp_path),
        "XDG_STATE_HOME": str(tmp_path / "state"),
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
        "MEMDECK_HOST": "east",
        "TZ": "UTC",
    }
    named = ("--database", database)
    for words in (("init", *named), ("add", str(workspace.root)), ("agent", "--once", *named)):
        subprocess.run([*WORDS, *words], env=found, check=True, timeout=PATIENCE, capture_output=True)
    return found


@pytest.fixture
def served(environ: Mapping[str, str], database: str) -> Iterator[Mapping[str, str]]:
    """What the server printed: the address for programs and its token, and that of the page."""
    server = subprocess.Popen(
        [*WORDS, "serve", "--read-only", "--database", database, "-o", "json"], env=environ, stdout=subprocess.PIPE
    )
    assert server.stdout is not None
    try:
        yield json.loads(line_of(server.stdout))
    finally:
        server.terminate()
        assert server.wait(PATIENCE) == 0
        server.stdout.close()


@pytest.mark.thorough
async def test_the_pane_is_served_over_the_catalogue(served: Mapping[str, str], tmp_path: Path) -> None:
    """The page shows the rows of the catalogue, searches over all of them, opens no workspace and changes nothing."""
    root = next(tmp_path.glob("*/.aiter")).parent
    before = {path: path.read_bytes() for path in (root / ".aiter").rglob("*.md")}
    async with opened(tmp_path / "chromium") as page:
        await page.call("Page.navigate", url=served["page"])
        await until(drew(page, root.name), "the workspace is shown", page)
        await until(drew(page, "east"), "its host is shown", page)
        await page.evaluate("document.querySelector('.xterm-helper-textarea').focus()")
        await page.call("Input.dispatchKeyEvent", type="rawKeyDown", key="Enter", windowsVirtualKeyCode=13, text="\r")
        await until(drew(page, "This view is read-only"), "it is said that it is not opened here", page)
        await page.type("2")
        page.received = b""
        await page.press("f", 70, modifiers=2)
        await until(drew(page, "all workspaces"), "the search is open", page)
        await page.type("redis")
        await until(drew(page, "Redis"), "entries of the workspace are found", page)
    assert before == {path: path.read_bytes() for path in (root / ".aiter").rglob("*.md")}


@pytest.mark.thorough
async def test_page_and_programs_have_tokens_of_their_own(served: Mapping[str, str]) -> None:
    """Neither token opens the other door; without one, or from elsewhere, nothing is answered."""
    page, token = httpx.URL(served["page"]), served["token"]
    base = f"http://{page.netloc.decode()}"
    assert page.params["token"] != token
    async with httpx.AsyncClient(timeout=PATIENCE) as client:
        for address, headers in (
            (base, {}),
            (f"{base}/?token={token}", {}),
            (f"{base}/", {"Authorization": f"Bearer {token}"}),
            (f"{base}/api/v1/fleet/list", {"Authorization": f"Bearer {token}"}),
            (str(page), {"Host": "evil.example"}),
            (str(page), {"Origin": "http://evil.example"}),
        ):
            assert (await client.get(address, headers=headers)).status_code == 403, address
        listing = f"{served['address']}/api/v1/fleet/list"
        wrong = await client.get(listing, headers={"Authorization": f"Bearer {page.params['token']}"})
        assert wrong.status_code == 401
        good, welcome = await asyncio.gather(
            client.get(listing, headers={"Authorization": f"Bearer {token}"}), client.get(str(page))
        )
    assert (good.json()["workspaces"][0]["host"], welcome.status_code) == ("east", 303)
