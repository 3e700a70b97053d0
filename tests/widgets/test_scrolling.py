"""Views of lines: other content is no reason to lay out the screen again, a scrollbar that comes or goes is."""

from __future__ import annotations

import pytest
from textual.app import App, ComposeResult
from textual.containers import Vertical
from textual.screen import Screen

from widgets.line_list import LineList
from widgets.line_view import LineView
from widgets.pieces import line


class Views(App[None]):
    """A view beside a list, or in a box as high as its content."""

    CSS = "LineView { height: 10; } .loose, .loose LineView { height: auto; }"

    def __init__(self, *, loose: bool = False) -> None:
        super().__init__()
        self.loose = loose
        self.view = LineView()

    def compose(self) -> ComposeResult:
        with Vertical(classes="loose" if self.loose else ""):
            yield self.view


def lines(count: int) -> list:
    """So many lines."""
    return [line(f"line {number}") for number in range(count)]


@pytest.mark.parametrize(("before", "after", "expected"), [(30, 90, 0), (3, 7, 0), (3, 30, 1), (30, 3, 1)])
async def test_only_a_scrollbar_makes_a_layout(
    monkeypatch: pytest.MonkeyPatch, before: int, after: int, expected: int
) -> None:
    """The bar is there when there is more than fits, and knows how much."""
    app = Views()
    async with app.run_test(size=(40, 20)) as pilot:
        app.view.set_content(lines(before))
        await pilot.pause()
        layouts = []
        layout = Screen._refresh_layout
        monkeypatch.setattr(
            Screen, "_refresh_layout", lambda *args, **words: layouts.append(1) or layout(*args, **words)
        )
        app.view.set_content(lines(after))
        await pilot.pause()
        assert min(1, len(layouts)) == expected
        assert app.view.show_vertical_scrollbar is (after > 10)
        if after > 10:
            assert app.view.vertical_scrollbar.window_virtual_size == after
        assert app.view.max_scroll_y == max(0, after - 10)


async def test_what_is_as_high_as_its_content_grows() -> None:
    """Where nothing bounds it, a view is as high as its lines."""
    app = Views(loose=True)
    async with app.run_test(size=(40, 20)) as pilot:
        for count in (3, 7, 2):
            app.view.set_content(lines(count))
            await pilot.pause()
            assert app.view.size.height == count


async def test_the_view_does_not_stay_behind_the_end() -> None:
    """Fewer rows than before: the last one stands on the last line, not above an empty screen."""

    class Lists(App[None]):
        def compose(self) -> ComposeResult:
            yield LineList(lambda key, width: line(str(key)), tuple(range(100)))

    app = Lists()
    async with app.run_test(size=(20, 10)) as pilot:
        rows = app.query_one(LineList)
        rows.focus()
        await pilot.press("G")
        assert round(rows.scroll_y) == 90
        rows.set_rows(tuple(range(30)))
        await pilot.pause()
        assert round(rows.scroll_y) == 20
        assert rows.cursor == 29
