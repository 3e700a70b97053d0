"""The application keeps its feet when its workspace changes into something else under it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from app.tui.spine import Changed
from memory.workspace import Workspace
from tests.app.tui.tui_helpers import make_app, make_workspace, press, running, settle
from tests.fixture_files import SAMPLE


def _gone(root: Path) -> None:
    shutil.rmtree(root)


def _memory_gone(root: Path) -> None:
    shutil.rmtree(root / ".aiter" / "memory")


def _a_file(root: Path) -> None:
    shutil.rmtree(root / ".aiter")
    (root / ".aiter").touch()


def _fifos(root: Path) -> None:
    for path in (root / ".aiter" / "memory").glob("*.md"):
        path.unlink()
        os.mkfifo(path)


def _links_out(root: Path) -> None:
    for path in (root / ".aiter" / "memory").glob("*.md"):
        path.unlink()
        path.symlink_to("/dev/zero")


def _garbage(root: Path) -> None:
    for path in (root / ".aiter" / "memory").glob("*.md"):
        path.write_bytes(bytes(range(256)) * 40)


CHANGES = [_gone, _a_file, _fifos, _memory_gone, _links_out, _garbage]
SAMPLE_OF_CHANGES = CHANGES if os.environ.get("MEMDECK_CORPUS") == "all" else CHANGES[:3]


@pytest.mark.parametrize("change", SAMPLE_OF_CHANGES)
async def test_an_open_workspace_turns_bad(tmp_path: Path, change: Callable[[Path], None]) -> None:
    """Looking again and changing something say what is wrong; the application goes on, and writes nothing."""
    workspace: Workspace = make_workspace(
        tmp_path, {path.name: path.read_text("utf-8") for path in sorted(SAMPLE.glob("*.md"))}
    )
    app = make_app(workspace)
    async with running(app) as pilot:
        change(workspace.root)
        app.post_message(Changed(frozenset(path.name for path in SAMPLE.glob("*.md"))))
        await settle(pilot)
        await press(pilot, "2", "3", "1")
        before = sorted(str(path) for path in tmp_path.rglob("*") if "state" not in path.parts)
        await press(pilot, "x")
        assert app.is_running
        after = sorted(str(path) for path in tmp_path.rglob("*") if "state" not in path.parts)
        assert [path for path in after if path not in before and ".memdeck" not in path] == []
