"""Pictures of which only a part is drawn anew: all that is shown is as if everything had been drawn."""

from __future__ import annotations

import pytest
from textual._compositor import ChopsUpdate
from textual.geometry import Region
from textual.strip import Strip

from app.tui import main_screen
from memory.workspace import Workspace
from tests.app.tui.tui_helpers import make_app, press, running
from widgets.chrome.compositor import SparseCompositor
from widgets.list.line_list import LineList
from widgets.text.line_view import LineView

KEYS = (
    *("j", "j", "k", "ctrl+d", "ctrl+u", "space", "v", "j", "escape", "G", "home", "tab", "j", "tab", "g", "escape"),
    *("slash", "d", "e", "backspace", "escape", "b", "right", "j", "b", "c", "j", "right", "c", "Z", "Z", "s", "u"),
    *("3", "j", "slash", "a", "escape", "1", "j", "enter", "escape", "4", "j", "5", "j", "6", "j", "2", "d", "escape"),
)
"""Keys that move, filter, change the view, the pane and the focus, open and close something, change and undo."""


@pytest.mark.parametrize("size", [(120, 36), (80, 24), (50, 16)])
async def test_what_is_drawn_in_part_is_as_if_drawn_as_a_whole(
    workspace: Workspace, size: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each piece that goes to the terminal is the one that a picture of the whole screen has there."""
    compared: list[tuple[int, int]] = []

    class Compared(SparseCompositor):
        def render_partial_update(self) -> ChopsUpdate | None:
            for view in self.visible_widgets:
                if isinstance(view, LineView):
                    # A view that is drawn in another width tells its scrollbar only then.
                    view._ensure_layout()
            update = super().render_partial_update()
            if update is not None:
                whole = self._render_chops(self.size.region, lambda _: True)
                for y, left, right in update.spans:
                    for (x, strip), end in zip(update.chops[y].items(), update.chop_ends[y], strict=True):
                        if x < right and end > left:
                            assert strip == whole[y][x], (y, x, strip, whole[y][x])
                            compared.append((y, x))
            return update

    monkeypatch.setattr(main_screen, "SparseCompositor", Compared)
    app = make_app(workspace)
    async with running(app, size) as pilot:
        for key in KEYS:
            await press(pilot, key)
    assert app.failure is None
    assert len(compared) > 100


async def test_a_step_of_the_cursor_draws_few_lines(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the list only the lines from the old to the new row are asked for, not all that are in view."""
    drawn: list[int] = []
    draw = LineList.render_lines

    def counting(listed: LineList, crop: Region) -> list[Strip]:
        drawn.extend(crop.line_range)
        return draw(listed, crop)

    app = make_app(workspace)
    async with running(app, (120, 36)) as pilot:
        await press(pilot, "j")
        app.navigation.pane.line_list.end_flash()
        await press(pilot, "k")
        monkeypatch.setattr(LineList, "render_lines", counting)
        await press(pilot, "j")
        assert 2 <= len(drawn) <= 6
