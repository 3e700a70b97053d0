"""Lines of a file that nothing reads: the cursor stops on them, and $EDITOR opens the file there."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from memory.workspace import Workspace
from tests.widgets.harness import screen_text

from .tui_helpers import make_app, press, running

ADDED = {
    "tasks": "\n### [HIGH] x\n- due 2024-02-02\n",
    "journal": "\n## 2024-01-01\n\nwords\n",
    "knowledge": "\n| a | b |\n|---|---|\n",
}
"""What is added to the end of a file, by pane."""


@pytest.mark.parametrize("pane", ADDED)
async def test_the_cursor_stops_on_it_and_the_editor_opens_the_file_there(
    workspace: Workspace, tmp_path: Path, pane: str
) -> None:
    """The detail says why; E opens the whole file at the line, and what is saved is one change, which u takes back."""
    file = workspace.memory / f"{pane}.md"
    file.write_text(file.read_text() + ADDED[pane])
    before = file.read_text()
    editor = tmp_path / "nano"
    editor.write_text(f'#!/bin/sh\nprintf %s "$1" > {tmp_path}/at\nprintf "\\n<!-- seen -->\\n" >> "$2"\n')
    editor.chmod(stat.S_IRWXU)
    app = make_app(workspace, pane=pane, environ={"HOME": str(tmp_path), "EDITOR": str(editor), "LANG": "C.UTF-8"})
    async with running(app, (120, 36)) as pilot:
        await press(pilot, "G")
        place = app.pane.unread_line()
        assert place is not None, screen_text(app)
        assert f"{file.name}:{place.line + 1}" in screen_text(app)
        assert before.split("\n")[place.line].strip()
        await press(pilot, "x", "e", "E")
        assert (tmp_path / "at").read_text() == f"+{place.line + 1}"
        assert "<!-- seen -->" in file.read_text()
        await press(pilot, "u")
        assert "<!-- seen -->" not in file.read_text()
