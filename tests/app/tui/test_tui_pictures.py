"""Pictures of which only a part is drawn anew: all that is shown is as if everything had been drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len
from textual._compositor import ChopsUpdate, Compositor, LayoutUpdate
from textual.strip import Strip

from memory.workspace import Workspace
from tests.app.tui.tui_helpers import burst, make_app, make_workspace, press, running, settle
from widgets.detail import LineView
from widgets.pane.rows import RowKey

KEYS = (
    *("j", "j", "k", "ctrl+d", "ctrl+u", "space", "v", "j", "escape", "G", "home", "tab", "j", "tab", "g", "escape"),
    *("slash", "d", "e", "backspace", "escape", "b", "right", "j", "b", "c", "j", "right", "c", "Z", "Z", "s", "u"),
    *("3", "j", "slash", "a", "escape", "1", "j", "enter", "escape", "4", "j", "5", "j", "6", "j", "2", "d", "escape"),
)
"""Keys that move, filter, change the view, the pane and the focus, open and close something, change and undo."""


def joined(line: Mapping[int, Strip], ends: Sequence[int]) -> Strip:
    """A line of the screen of its parts, each as long as its place."""
    return Strip.join(
        part.adjust_cell_length(end - start) for (start, part), end in zip(line.items(), ends, strict=True)
    )


def cells(strip: Strip) -> list[tuple[str, object]]:
    """What each cell of a strip shows; a wide character stands in its first one."""
    found: list[tuple[str, object]] = []
    for text, style, _ in strip:
        for character in text:
            found.append((character, style))
            found += [("", style)] * (cell_len(character) - 1)
    return found


FIRST_KEYS = (
    *("2", "Q", *"Buy", "enter", "u", "ctrl+r", "e", "escape", "slash", *"zz", "escape", "b", "b", "u", "a", "escape"),
    *("3", "a", *"Talk", "ctrl+s", "u", "4", "2"),
)
"""Keys with which the first entry comes where there is none, and goes again."""


@pytest.mark.parametrize("size", [(120, 36), (80, 24), (50, 16)], ids=str)
@pytest.mark.thorough(but=("(80, 24)",))
async def test_what_is_drawn_in_part_is_as_if_drawn_as_a_whole(workspace: Workspace, size: tuple[int, int]) -> None:
    """After each key the terminal shows what it would if all of the screen had been drawn."""
    await _press_and_compare(workspace, size, KEYS)


@pytest.mark.parametrize("size", [(120, 36), (80, 24), (50, 16)], ids=str)
@pytest.mark.thorough(but=("(50, 16)",))
async def test_what_is_said_of_an_empty_pane_goes_with_the_first_entry(tmp_path: Path, size: tuple[int, int]) -> None:
    """Nothing stays on the screen of what stood where there was no entry, and it comes back with the last one."""
    await _press_and_compare(make_workspace(tmp_path, {}), size, FIRST_KEYS)


async def _press_and_compare(workspace: Workspace, size: tuple[int, int], keys: Sequence[str]) -> None:
    terminal: dict[tuple[int, int], tuple[str, object]] = {}

    class Compared(Compositor):
        @property
        def whole(self) -> list[list[tuple[str, object]]]:
            chops = self._render_chops(self.size.region, lambda _: True)
            return [cells(joined(line, cuts[1:])) for line, cuts in zip(chops, self.cuts, strict=True)]

        def render_full_update(self, simplify: bool = False) -> LayoutUpdate:
            update = super().render_full_update(simplify)
            terminal.update({(x, y): cell for y, line in enumerate(self.whole) for x, cell in enumerate(line)})
            return update

        def render_partial_update(self) -> ChopsUpdate | None:
            for view in self.visible_widgets:
                if isinstance(view, LineView):
                    # A view that is drawn in another width tells its scrollbar only then.
                    view._ensure_layout()
            update = super().render_partial_update()
            for y, first, last in () if update is None else update.spans:
                for end, (x, strip) in zip(update.chop_ends[y], update.chops[y].items(), strict=True):
                    if strip is not None and x <= last and end > first:
                        shown = strip if x >= first and end <= last else strip.crop(0, min(end, last) - x)
                        terminal.update({(at, y): cell for at, cell in enumerate(cells(shown), x)})
            return update

    app = make_app(workspace)
    app.main_screen._compositor = Compared()
    async with running(app, size, frames=True) as pilot:
        for key in keys:
            await press(pilot, key)
            if app.screen is app.main_screen:
                whole = app.screen._compositor.whole  # type: ignore[attr-defined]
                assert {(x, y): cell for y, line in enumerate(whole) for x, cell in enumerate(line)} == terminal, key
    assert app.failure is None


async def test_the_row_comes_before_the_entry(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first picture after a key has the cursor's row alone, the one after it the entry: nobody waits for both."""
    asked: list[list[str]] = []
    draw = Compositor.render_partial_update

    def noting(compositor: Compositor) -> ChopsUpdate | None:
        app_pane = app.navigation.pane
        asked.append(
            [
                name
                for name, view in (("list", app_pane.line_list), ("entry", app_pane.detail_view))
                if any(compositor.visible_widgets[view][0].overlaps(region) for region in compositor._dirty_regions)
            ]
        )
        return draw(compositor)

    app = make_app(workspace)
    async with running(app, frames=True) as pilot:
        await press(pilot, "j")
        app.navigation.pane.line_list.end_flash()
        await press(pilot, "k")
        monkeypatch.setattr(Compositor, "render_partial_update", noting)
        await press(pilot, "j")
        assert asked[:2] == [["list"], ["entry"]]


async def test_the_key_that_opens_the_filter_reads_no_row(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What values may be completed to is looked for when a value is typed, and then it is known."""
    asked: list[RowKey] = []
    item = RowKey.item

    def noting(row: RowKey) -> object:
        asked.append(row)
        return item.fget(row)  # type: ignore[attr-defined]

    app = make_app(workspace)
    async with running(app, frames=True) as pilot:
        rows = len(app.navigation.pane.line_list.rows)
        monkeypatch.setattr(RowKey, "item", property(noting))
        await press(pilot, "slash")
        assert len({*asked}) <= 1 < rows
        await press(pilot, *"priority:l")
        assert app.navigation.pane.filter_bar._editor._suggestion == "priority:low"


async def test_an_entry_that_is_entered_at_once_is_that_of_the_cursor(workspace: Workspace) -> None:
    """Keys that come together find the detail of the row that the first of them went to."""
    app = make_app(workspace)
    async with running(app) as pilot:
        await burst(pilot, "j", "enter")
        pane = app.navigation.pane
        assert pane.detail_view.has_focus
        assert pane.detail_view._entry is pane.line_list.cursor is not None


async def test_below_a_dialog_a_message_draws_nothing_again(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once the panes below it are drawn, they are drawn again only where they change, not for each message."""
    app = make_app(workspace)
    async with running(app, (120, 36), frames=True) as pilot:
        await press(pilot, "d")
        assert app.screen is not app.main_screen
        drawn: list[Compositor] = []
        draw = Compositor.render_strips

        def noted(compositor: Compositor, *arguments: Any) -> list[Strip]:
            drawn.append(compositor)
            return draw(compositor, *arguments)

        monkeypatch.setattr(Compositor, "render_strips", noted)
        for _ in range(3):
            app.main_screen.call_next(lambda: None)
            await settle(pilot)
        assert not drawn
        app.main_screen.header.path = "elsewhere"
        await settle(pilot)
        assert drawn
