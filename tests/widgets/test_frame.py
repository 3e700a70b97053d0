"""The frame around the panes: header, footer, sidebar and filter bar."""

from __future__ import annotations

import pytest
from textual._compositor import Compositor
from textual.binding import Binding
from textual.containers import Horizontal
from textual.geometry import Region
from textual.widgets import Input

from tests.widgets.harness import Harness, assert_safe, screen_text
from widgets.chrome.frame import Frame
from widgets.chrome.header import HeaderLine, lay_out_header
from widgets.chrome.keys import KeyHints
from widgets.chrome.sidebar import Sidebar, SidebarEntry
from widgets.input.filter_bar import FilterBar
from widgets.list.line_list import LineList
from widgets.text.drawing import LeanCompositor
from widgets.text.styled_text import Piece, line, line_text, line_width

ALERTS = (line(Piece("2 overdue", "alert")), line(Piece("1 alert", "alert")), line("next: archive 02:00"))


@pytest.mark.parametrize(
    ("width", "expected"),
    [
        (70, " memdeck  ~/src/shop             2 overdue  1 alert  next: archive 02:00 "),
        (56, " memdeck  shop      2 overdue  1 alert  next: archive 02:00 "),
        (40, " memdeck  shop  2 overdue  1 alert "),
        (24, " memdeck     2 overdue "),
        (9, " memdeck "),
        (12, "  2 overdue "),
        (4, " m…"),
    ],
)
def test_the_header_keeps_what_needs_attention(width: int, expected: str) -> None:
    """Narrow terminals show the folder's name for its path, then lose it, then the last alerts."""
    laid_out = lay_out_header("memdeck", "~/src/shop", ALERTS, width)
    assert line_width(laid_out) <= width
    assert line_text(laid_out).split() == expected.split()


class Keys(Harness):
    """An application with a few actions."""

    BINDINGS = [
        Binding("a", "note('a')", "add", id="task.add"),
        Binding("e", "note('e')", "edit", id="task.edit"),
        Binding("ctrl+s", "note('s')", "save", id="task.save"),
        Binding("x", "note('x')", "hidden", id="task.hidden", show=False),
        Binding("question_mark", "note('?')", "help", id="app.help"),
    ]
    noted: str = ""
    busy = False

    def action_note(self, name: str) -> None:
        """Remember which action ran."""
        self.noted += name

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Adding can be impossible."""
        return not (self.busy and parameters == ("a",))


async def test_hints_come_from_the_live_bindings() -> None:
    """What can be done now is shown with its key; a rebound key is shown in its place; a click does it."""
    hints = KeyHints(pinned=["app.help"])
    app = Keys(lambda: [hints, Input()])
    async with app.run_test(size=(80, 4)) as pilot:
        app.set_focus(None)
        await pilot.pause()
        assert [(hint.id, hint.key, hint.description) for hint in hints.hints if hint.id] == [
            ("task.add", "a", "add"),
            ("task.edit", "e", "edit"),
            ("task.save", "ctrl+s", "save"),
            ("app.help", "?", "help"),
        ]
        assert "a add  e edit  ctrl+s save" in screen_text(app)
        place = screen_text(app).index("edit")
        await pilot.click(hints, offset=(place, 0))
        assert app.noted == "e"
        app.set_keymap({"task.edit": "f2"})
        app.busy = True
        app.refresh_bindings()
        await pilot.pause()
        assert [hint.key for hint in hints.hints if hint.id] == ["ctrl+s", "f2", "?"]
        app.query_one(Input).focus()
        await pilot.pause()
        assert "?" not in [hint.key for hint in hints.hints]
        assert "ctrl+s" in [hint.key for hint in hints.hints]


@pytest.mark.parametrize(("width", "keys"), [(40, ["a", "e", "ctrl+s", "?"]), (24, ["a", "?"]), (9, ["?"]), (3, [])])
async def test_hints_that_do_not_fit_are_left_out_whole(width: int, keys: list[str]) -> None:
    """No hint is cut in half; the pinned one stays longest."""
    hints = KeyHints(pinned=["app.help"])
    app = Keys(lambda: [hints])
    async with app.run_test(size=(width, 2)) as pilot:
        await pilot.pause()
        assert [hint.key for hint in hints.hints if hint.id] == keys


ENTRIES = (
    SidebarEntry("brief", "1", "Brief"),
    SidebarEntry("tasks", "2", "Tasks", 12),
    SidebarEntry("monitors", "7", "Monitors", 3, True),
)


async def test_the_sidebar_chooses_panes() -> None:
    """Moving, clicking and Enter choose; showing a pane from outside tells nothing back."""
    sidebar = Sidebar(ENTRIES)
    app = Harness(lambda: [sidebar])
    async with app.run_test(size=(20, 6), message_hook=app.keep) as pilot:
        sidebar.focus()
        await pilot.press("j")
        assert [message.pane_id for message in app.of(Sidebar.Chosen)] == ["tasks"]
        await pilot.press("enter")
        await pilot.click(sidebar, offset=(4, 2))
        assert [message.pane_id for message in app.of(Sidebar.Chosen)] == ["tasks", "tasks", "monitors"]
        sidebar.show("brief")
        await pilot.pause()
        assert (sidebar.current, sidebar.cursor) == ("brief", "brief")
        assert len(app.of(Sidebar.Chosen)) == 3
        await pilot.press("space", "v")
        assert sidebar.selected == frozenset()


async def test_the_filter_bar_tells_each_key() -> None:
    """Typing filters, Enter keeps the filter, Escape clears and closes it."""
    told: list[str] = []
    bar, view = FilterBar(told.append), LineList(rows=["a"])
    app = Harness(lambda: [Frame(view, bar)])
    async with app.run_test(size=(40, 5), message_hook=app.keep) as pilot:
        assert not bar.is_open
        bar.open()
        await pilot.press("d", "e", "p")
        bar.say("2 of 12")
        await pilot.pause()
        assert told[-1] == "dep"
        assert "/ dep" in screen_text(app)
        assert "2 of 12" in screen_text(app)
        await pilot.press("enter")
        assert [message.text for message in app.of(FilterBar.Accepted)] == ["dep"]
        assert bar.is_open
        await pilot.press("escape")
        await pilot.pause()
        assert len(app.of(FilterBar.Closed)) == 1
        assert not bar.is_open
        bar.open("\x1b[31m", focus=False)
        await pilot.pause()
        assert bar.text == "\x1b[31m"
        assert_safe(screen_text(app))


@pytest.mark.parametrize("crop", [(0, 0, 40, 9), (3, 4, 5, 1), (15, 0, 10, 9), (1, 3, 38, 2), (21, 5, 4, 3)])
async def test_what_changed_is_drawn_as_textual_draws_it(crop: tuple[int, int, int, int]) -> None:
    """Each part of a changed region is that of the front widget, whichever widgets are not asked for it."""
    frames = [Frame(LineList(rows=[f"{name} {row}" for row in range(30)]), name=name) for name in ("left", "right")]
    app = Harness(lambda: [HeaderLine(), Horizontal(*frames)])
    async with app.run_test(size=(40, 9)) as pilot:
        await pilot.pause()
        lean, changed = LeanCompositor(), Region(*crop)
        lean.reflow(app.screen, app.screen.size)
        expected = Compositor._render_chops(lean, changed, lambda y: y != 2)
        for y, parts in enumerate(lean._render_chops(changed, lambda y: y != 2)):
            needed = {x: part for x, part in expected[y].items() if part is not None and y in changed.line_range}
            needed = {x: part for x, part in needed.items() if changed.x - part.cell_length < x < changed.right}
            assert {x: part.text for x, part in parts.items() if x in needed} == {
                x: part.text for x, part in needed.items()
            }
