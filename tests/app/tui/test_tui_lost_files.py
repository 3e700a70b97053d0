"""A memory file that is gone or empty in the application: its pane says so, and one key brings the bytes back."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from memory.files import MEMORY_FILES
from memory.workspace import Workspace
from tests.app.tui.tui_helpers import NOW, make_app, make_workspace, press, running, settle
from tests.examples import in_turn
from tests.fixture_files import sample
from tests.widgets.harness import screen_text
from widgets.panes import all_panes


def lose(workspace: Workspace, name: str, *, empty: bool) -> bytes:
    """Let another program remove or empty a file a minute ago, so that it is no passing state; return its bytes."""
    workspace.notice(NOW)
    path = workspace.memory / name
    before = path.read_bytes()
    if empty:
        path.write_bytes(b"")
    else:
        path.unlink()
    old = path.parent.stat().st_mtime_ns - 60 * 10**9
    os.utime(path.parent if not empty else path, ns=(old, old))
    return before


@pytest.mark.parametrize("name", MEMORY_FILES)
@pytest.mark.parametrize("empty", [False, True], ids=["gone", "empty"])
@pytest.mark.thorough(but=in_turn(["gone", "empty"], MEMORY_FILES))
async def test_the_pane_says_so_and_a_key_brings_it_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, empty: bool
) -> None:
    """For each of the seven files: a banner, a mark in the sidebar, and `u` puts the very bytes back."""
    if empty:
        # Nobody can make the time of a change older than it is, and a file that was emptied just now is given time.
        monkeypatch.setattr("memory.storage.log.PASSING", 0)
    workspace = make_workspace(tmp_path, {one: sample(one).decode() for one in MEMORY_FILES})
    before = lose(workspace, name, empty=empty)
    app = make_app(workspace)
    pane = next(one for one in all_panes() if name in one.files)
    async with running(app) as pilot:
        app.navigation.open_pane(pane.id)
        await settle(pilot)
        text = screen_text(app)
        assert f"{name} is {'empty' if empty else 'gone'} since 10:30, " in text
        assert app.pane is not None
        assert app.pane.lost.endswith(" in it: u brings it back.")
        assert "\u25b2" in next(line for line in text.splitlines() if f"{pane.title} " in line[:20])[:22]
        await press(pilot, "u")
        assert (workspace.memory / name).read_bytes() == before
        assert "since 10:30" not in screen_text(app)


async def test_a_file_that_goes_while_one_looks_is_told(tmp_path: Path) -> None:
    """The next look after it was given time to come back puts the banner up, and undo means it there and only there."""
    workspace = make_workspace(tmp_path, {"tasks.md": "## Pending\n\n### A\n", "journal.md": "## 2024-01-15\n"})
    app = make_app(workspace)
    async with running(app, (80, 24)) as pilot:
        lose(workspace, "tasks.md", empty=False)
        app.changed()
        await settle(pilot)
        assert "tasks.md is gone since 10:30, 1 task in it" in screen_text(app)
        await press(pilot, "3", "u")
        assert not (workspace.memory / "tasks.md").exists()
        await press(pilot, "2", "u")
        assert (workspace.memory / "tasks.md").read_text() == "## Pending\n\n### A\n"
