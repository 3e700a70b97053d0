"""What stands on the screen at which width: more columns in wide terminals, a small sidebar, a word in tiny ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from memory.workspace import Workspace
from tests.app.tui.tui_helpers import make_app, make_workspace, press, running, settle
from tests.widgets.harness import screen_text

LONG = "A title with so many words that it is cut"
TASKS = "## Pending\n\n" + "".join(
    f"### [LOW] {title}\n- created: 2024-01-0{number}\n- assigned: person{number}\n- tags: one, two\n{due}\n"
    for number, (title, due) in enumerate(
        [("Short", ""), (LONG, "- due: 2024-01-20"), ("Late", "- due: 2024-01-02")], 1
    )
)


@pytest.mark.parametrize(("width", "more"), [(200, True), (150, True), (149, False), (100, False)])
async def test_wide_terminals_show_who_and_tags_behind_whole_titles(tmp_path: Path, width: int, more: bool) -> None:
    """From 150 columns each row has them; a title that is whole at 100 columns is whole in wider ones."""
    app = make_app(make_workspace(tmp_path, {"tasks.md": TASKS}))
    async with running(app, (width, 30)):
        pane = app.pane
        assert pane is not None
        region = pane.line_list.region
        lines = [line[region.x : region.right] for line in screen_text(app).splitlines()]
        rows = [line for line in lines if line[1:].startswith(" LOW ")]
        assert len(rows) == 3
        # The late one first, then by date.
        for number, row in zip((3, 2, 1), rows, strict=True):
            assert (f"@person{number}  #one #two" in row) is more
        assert any(LONG in row for row in rows)


@pytest.mark.parametrize("width", [120, 90, 60])
async def test_the_sidebar_names_the_panes_from_60_columns_up(workspace: Workspace, width: int) -> None:
    """Each pane has its digit, its name and its count at every width."""
    app = make_app(workspace)
    async with running(app, (width, 24)) as pilot:
        side = app.main_screen.sidebar.region
        shown = "\n".join(line[: side.right] for line in screen_text(app).splitlines())
        for words in ("1 Brief", "3 Journal", "8 Told to agents", "0 Changes"):
            assert words in shown
        await press(pilot, "3")
        assert app.main_screen.sidebar.current == "journal"


@pytest.mark.parametrize("size", [(18, 4), (19, 30), (60, 5), (1, 1)], ids=str)
async def test_a_tiny_terminal_recovers(workspace: Workspace, size: tuple[int, int]) -> None:
    """Nothing breaks there; in a larger one all is as before."""
    app = make_app(workspace)
    async with running(app, size) as pilot:
        await pilot.resize_terminal(80, 24)
        await settle(pilot)
        assert "PENDING" in screen_text(app)
