"""Views of lines: other content is no reason to lay out the screen again, and lines are drawn as Textual would."""

from __future__ import annotations

import pytest
from rich.style import Style
from textual.app import App, ComposeResult
from textual.containers import Vertical
from textual.filter import LineFilter, Monochrome
from textual.geometry import Region
from textual.screen import Screen
from textual.scrollbar import ScrollBar
from textual.strip import Strip
from textual.widget import Widget

from widgets.detail import LineView
from widgets.list.line_list import LineList
from widgets.text.styled_text import Piece, line


class Views(App[None]):
    """A view beside a list, or in a box as high as its content."""

    CSS = """
    LineView { height: 10; background: #102030; color: #d0d0d0; }
    .loose, .loose LineView { height: auto; }
    .kept { overflow-y: scroll; }
    .indented { padding: 0 0 0 3; }
    .boxed { border: round red; padding: 1 2; }
    .faint { opacity: 50%; }
    """

    def __init__(self, *, loose: bool = False, kind: str = "") -> None:
        super().__init__()
        self.loose = loose
        self.view = LineView(classes=kind)

    def compose(self) -> ComposeResult:
        with Vertical(classes="loose" if self.loose else ""):
            yield self.view


def lines(count: int) -> list:
    """So many lines."""
    return [line(f"line {number}") for number in range(count)]


@pytest.mark.parametrize("kind", ["", "kept"])
@pytest.mark.parametrize(("before", "after", "moves"), [(30, 90, 0), (3, 7, 0), (3, 30, 1), (30, 3, 1)])
async def test_only_a_scrollbar_makes_a_layout(
    monkeypatch: pytest.MonkeyPatch, kind: str, before: int, after: int, moves: int
) -> None:
    """A bar that comes and goes makes one, a bar that has its place always does not; both know how much there is."""
    app = Views(kind=kind)
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
        assert min(1, len(layouts)) == (0 if kind else moves)
        assert app.view.show_vertical_scrollbar is (after > 10 or kind == "kept")
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


def _looks(strips: list[Strip]) -> list[list[tuple[str, Style | None]]]:
    """Each cell of some strips with its style, however they are cut into segments; of blanks only the ground shows."""
    return [
        [
            (char, Style(bgcolor=segment.style.bgcolor) if char == " " and segment.style else segment.style)
            for segment in strip
            for char in segment.text
        ]
        for strip in strips
    ]


@pytest.mark.parametrize("kind", ["", "indented", "boxed", "faint"])
@pytest.mark.parametrize("filters", [[], [Monochrome()]], ids=["colour", "no-colour"])
async def test_lines_are_drawn_as_textual_draws_them(kind: str, filters: list[LineFilter]) -> None:
    """Drawn without Textual's detour they look the same; what has a border or an effect still takes it."""
    app = Views(kind=kind)
    async with app.run_test(size=(40, 20)) as pilot:
        app._filters.extend(filters)
        app.view.set_content([line(Piece("漢字 ", "accent"), Piece("a longer text " * 3, "muted"))] * 4)
        await pilot.pause()
        crop = Region(0, 0, app.view.outer_size.width, app.view.outer_size.height)
        inner = crop.width - app.view.scrollbar_gutter.width
        drawn = [strip.crop(0, inner) for strip in app.view.render_lines(crop)]
        app.view._styles_cache.clear()
        expected = [strip.crop(0, inner) for strip in Widget.render_lines(app.view, crop)]
        assert _looks(drawn) == _looks(expected)


async def test_only_lines_that_changed_are_drawn_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines that are added below, as links are, leave those above as they are."""
    app = Views()
    async with app.run_test(size=(40, 20)) as pilot:
        # What has the focus may mark other lines than before, and is drawn whole.
        app.set_focus(None)
        app.view.set_content(lines(4))
        await pilot.pause()
        regions: list[Region] = []
        refresh = LineView.refresh
        monkeypatch.setattr(LineView, "refresh", lambda *args, **words: regions.extend(args[1:]) or refresh(*args))
        app.view.set_content(lines(6))
        app.view.set_content(lines(6))
        assert [(region.y, region.height) for region in regions] == [(4, 2)]
        await pilot.pause()
        assert [strip.text.strip() for strip in app.view.render_lines(app.view.size.region)][:7] == [
            *(f"line {number}" for number in range(6)),
            "",
        ]


async def test_a_scrollbar_is_drawn_and_takes_the_mouse() -> None:
    """It looks as Textual draws it wherever it stands, in each theme, and a press beside its thumb turns the page."""
    app = Views()
    async with app.run_test(size=(40, 20)) as pilot:
        app.view.set_content(lines(200))
        await pilot.pause()
        bar = app.view.vertical_scrollbar
        crop = Region(0, 0, *bar.size)
        for place in (0, 3, 77, 190):
            app.view.scroll_to(y=place, animate=False)
            await pilot.pause()
            for theme in ("textual-light", "textual-dark"):
                app.theme = theme
                await pilot.pause()
                bar._styles_cache.clear()
                assert _looks(bar.render_lines(crop)) == _looks(ScrollBar.render_lines(bar, crop))
        app.view.scroll_to(y=0, animate=False)
        await pilot.pause()
        await pilot.mouse_down(bar, offset=(0, 9))
        await pilot.mouse_up(bar, offset=(0, 9))
        await pilot.pause(0.5)
        assert round(app.view.scroll_y) > 0
