"""One file that cannot be read: its pane says why, every other pane works."""

from __future__ import annotations

from pathlib import Path

import pytest

from memory.workspace import Workspace
from tests.app.tui.tui_helpers import make_app, running, settle

PANES = {"config.md": "8", "tasks.md": "2", "knowledge.md": "4"}


@pytest.mark.parametrize("refused", sorted(PANES))
async def test_one_file_that_cannot_be_read_leaves_the_others(
    workspace: Workspace, tmp_path: Path, refused: str
) -> None:
    """A link that leads out of the workspace, in place of a file."""
    path = workspace.memory / refused
    (tmp_path / "elsewhere.md").write_bytes(path.read_bytes())
    path.unlink()
    path.symlink_to(tmp_path / "elsewhere.md")
    app = make_app(workspace)
    async with running(app) as pilot:
        for name in PANES:
            app.navigation.jump(name, "")
            await settle(pilot)
            pane = app.pane
            assert pane is not None
            assert pane.contents is not None
            words = pane.line_list._words if not pane.has_items else ""
            if name == refused:
                assert f"{refused} is a link that leads out of the workspace; replace it with a copy" in words
            else:
                assert pane.has_items, words
