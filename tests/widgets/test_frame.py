"""The frame around the panes: header, footer, sidebar and filter bar."""

from __future__ import annotations

from typing import ClassVar

import pytest
from textual.binding import Binding
from textual.screen import Screen
from textual.widgets import Input

from tests.growth import assert_in_proportion
from tests.widgets.harness import HOSTILE, Harness, assert_safe, screen_text
from widgets.chrome.header import Alert, HeaderLine, lay_out_header
from widgets.chrome.keys import KeyHints, key_name
from widgets.chrome.sidebar import Sidebar, SidebarEntry
from widgets.input.editors import SafeInput
from widgets.input.filter_bar import FilterBar
from widgets.list.line_list import LineList
from widgets.text.glyphs import ASCII
from widgets.text.styled_text import Piece, line, line_text, line_width

ALERTS = (line(Piece("2 overdue", "alert")), line(Piece("1 alert", "alert")), line("next: archive 02:00"))


@pytest.mark.parametrize(
    ("width", "expected"),
    [
        (70, " memdeck  ~/src/shop             2 overdue  1 alert  next: archive 02:00 "),
        (56, " memdeck            2 overdue  1 alert  next: archive 02:00 "),
        (40, " memdeck  …src/shop  2 overdue  1 alert "),
        (24, " memdeck     2 overdue "),
        (9, " memdeck "),
        (12, "  2 overdue "),
        (4, " m…"),
    ],
)
def test_the_header_keeps_what_needs_attention(width: int, expected: str) -> None:
    """Narrow terminals lose the path first, then the last alerts."""
    laid_out = lay_out_header("memdeck", "~/src/shop", ALERTS, width)
    assert line_width(laid_out) <= width
    assert line_text(laid_out).split() == expected.split()


@pytest.mark.parametrize("path", ["部", "\u0301", "\x1b", "👩\u200d"])
def test_a_long_path_costs_no_more_than_it_holds(path: str) -> None:
    """The header looks at the end of a path that is shown, whatever it consists of; that fits into its width."""
    for width in (20, 21, 80):
        assert line_width(lay_out_header("memdeck", path * 3000, (), width)) <= width
    assert_in_proportion(lambda size: path * size, lambda text: lay_out_header("memdeck", text, (), 80), 1000)


class Led(Harness):
    """Remembers where the header leads."""

    def __init__(self, header: HeaderLine) -> None:
        super().__init__(lambda: [header])
        self.led: list[str] = []

    def on_header_line_chosen(self, message: HeaderLine.Chosen) -> None:
        """A part was clicked."""
        self.led.append(message.leads)


@pytest.mark.parametrize("width", [70, 56, 40, 12])
async def test_a_click_on_a_part_of_the_header_tells_where_it_leads(width: int) -> None:
    """Every part that is shown answers from its first cell to its last; what stands between them does not."""
    header = HeaderLine()
    app = Led(header)
    async with app.run_test(size=(width, 2)) as pilot:
        header.path = "~/src/shop"
        names = ["overdue", "alert", ""]
        header.alerts = tuple(Alert(words, name) for words, name in zip(ALERTS, names, strict=True))
        await pilot.pause()
        shown = screen_text(app).splitlines()[0]
        for words, name in zip(ALERTS, names, strict=True):
            text = line_text(words)
            if text not in shown:
                continue
            start = shown.index(text)
            app.led.clear()
            for x in (start - 1, start, start + len(text) - 1, start + len(text)):
                await pilot.click(header, offset=(min(x, width - 1), 0))
            assert app.led == ([name] * 2 if name else [])


@pytest.mark.parametrize("width", [1, 20, 80])
@pytest.mark.thorough(but=("20",))
async def test_a_hostile_path_is_only_text(width: int) -> None:
    """Folder names and alerts neither steer nor push the line out of its width."""
    header = HeaderLine()
    app = Harness(lambda: [header])
    async with app.run_test(size=(width, 2)) as pilot:
        for text in HOSTILE.values():
            header.path = text
            header.alerts = (Alert(line(text)),)
            await pilot.pause()
            assert_safe(screen_text(app))


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
        assert [hint.key for hint in hints.hints if hint.id] == ["f2", "ctrl+s", "?"]
        app.query_one(Input).focus()
        await pilot.pause()
        assert "?" not in [hint.key for hint in hints.hints]
        assert "ctrl+s" in [hint.key for hint in hints.hints]


class Named(Screen[None]):
    """A screen that calls hints otherwise, and has something to say before them."""

    hint_names: ClassVar[dict[str, str]] = {"task.edit": "change", "day.hidden": "remove", "task.add": ""}
    hint_lead = "2 selected"


class Days(Keys):
    """An application with two keys for one word."""

    DAY = Binding.Group("day")
    BINDINGS = [
        Binding("left,h", "note('<')", "before", id="day.before", group=DAY),
        Binding("right,l", "note('>')", "next", id="day.next", group=DAY),
        Binding("x", "note('x')", "hidden", id="day.hidden", show=False),
    ]

    def get_default_screen(self) -> Named:
        """One hint gets other words, and one is shown that is not by itself."""
        return Named()


async def test_keys_of_one_word_share_a_hint() -> None:
    """Both stand before the word; a click on each does its own, on the word what the last does."""
    hints = KeyHints()
    app = Days(lambda: [hints])
    async with app.run_test(size=(80, 4)) as pilot:
        await pilot.pause()
        shown = screen_text(app).splitlines()[0]
        assert shown.startswith(" 2 selected  e change  ctrl+s save  x remove  ? help  ←/→ day")
        for sign in ("←", "→", "day", "/→"):
            await pilot.click(hints, offset=(shown.index(sign), 0))
        assert app.noted == "<>>>"
        await pilot.click(hints, offset=(shown.index("e change") + 1, 0))
        assert app.noted == "<>>>e"


async def test_what_can_be_done_counts_more_than_what_it_is_about() -> None:
    """Where there is no room for both, the words before the hints go first."""
    hints = KeyHints()
    app = Days(lambda: [hints])
    async with app.run_test(size=(16, 4)) as pilot:
        await pilot.pause()
        assert screen_text(app).splitlines()[0].strip() == "e change"


@pytest.mark.parametrize(
    ("width", "keys"), [(40, ["a", "e", "ctrl+s", "?"]), (24, ["a", "e", "?"]), (9, ["?"]), (3, ["?"]), (1, [])]
)
async def test_hints_that_do_not_fit_are_left_out_whole(width: int, keys: list[str]) -> None:
    """No hint is cut in half; the pinned one stays longest, at last without its words."""
    hints = KeyHints(pinned=["app.help"])
    app = Keys(lambda: [hints])
    async with app.run_test(size=(width, 2)) as pilot:
        await pilot.pause()
        assert [hint.key for hint in hints.hints if hint.id] == keys


def test_keys_are_named_as_people_know_them() -> None:
    """Textual's names for signs become the signs."""
    assert [key_name(key) for key in ("escape", "slash", "ctrl+d", "G")] == ["Esc", "/", "ctrl+d", "G"]


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


async def test_the_sidebar_shows_counts_and_alerts() -> None:
    """Numbers stand under each other, the alert mark behind them; ASCII terminals get ASCII signs."""
    sidebar = Sidebar(ENTRIES)
    app = Harness(lambda: [sidebar])
    async with app.run_test(size=(20, 4)) as pilot:
        sidebar.show("tasks")
        await pilot.pause()
        assert screen_text(app).split("\n")[:3] == [
            "  1 Brief           ",
            "▌ 2 Tasks       12  ",
            "  7 Monitors     3▲ ",
        ]
        app.glyphs = ASCII  # type: ignore[attr-defined]
        sidebar.redraw()
        sidebar.set_entries([*ENTRIES[:2], SidebarEntry("monitors", "7", "Monitors", 4, True)])
        await pilot.pause()
        assert screen_text(app).split("\n")[1:3] == ["> 2 Tasks       12  ", "  7 Monitors     4! "]


async def test_the_filter_bar_tells_each_key() -> None:
    """Typing filters, Enter keeps the filter, Escape clears and closes it."""
    bar, view = FilterBar(), LineList(rows=["a"])
    app = Harness(lambda: [view, bar])
    async with app.run_test(size=(40, 5), message_hook=app.keep) as pilot:
        assert not bar.is_open
        bar.open()
        await pilot.press("d", "e", "p")
        bar.say("2 of 12")
        await pilot.pause()
        assert app.of(FilterBar.Changed)[-1].text == "dep"
        assert "/ dep" in screen_text(app)
        assert "2 of 12" in screen_text(app)
        await pilot.press("enter")
        assert [message.text for message in app.of(FilterBar.Accepted)] == ["dep"]
        assert bar.is_open
        await pilot.press("escape")
        await pilot.pause()
        assert len(app.of(FilterBar.Closed)) == 1
        assert app.of(FilterBar.Changed)[-1].text == ""
        assert not bar.is_open
        bar.open("\x1b[31m", focus=False)
        await pilot.pause()
        assert bar.text == "\x1b[31m"
        assert_safe(screen_text(app))


async def test_a_hint_goes_on_where_the_count_will_be() -> None:
    """Nothing moves as the count comes, however long it is, and what is too long for the line ends behind a word."""
    bar, view = FilterBar(), LineList(rows=["a"])
    app = Harness(lambda: [view, bar])
    hint = "words, or title:… (f shows all fields), and much more than that"
    async with app.run_test(size=(50, 5)) as pilot:
        bar.open(hint=hint)
        await pilot.pause()
        (line,) = [row for row in screen_text(app).split("\n") if row.startswith(" /")]
        assert line.rstrip() == " / words, or title:… (f shows all fields), and …"
        editor = bar.query_one(SafeInput)
        before = editor.size
        await pilot.press("d")
        bar.say("12 of 318")
        await pilot.pause()
        assert screen_text(app).split("\n")[-1] == " / d                                    12 of 318 "
        bar.say("12345 of 20000  colour: is no field")
        await pilot.pause()
        assert "12345 of 20000" in screen_text(app)
        assert editor.size.width < before.width
        await pilot.press("backspace")
        await pilot.pause()
        assert "words, or title:" in screen_text(app)
        assert " / words, or title:… (f shows all fields), and …" in screen_text(app)
        assert editor.size == before


async def test_no_color_leaves_no_colour(monkeypatch: pytest.MonkeyPatch) -> None:
    """With NO_COLOR every cell is grey, alerts and the cursor included."""

    def colours(app: Harness) -> set[tuple[int, int, int]]:
        found = set()
        for strip in app.screen._compositor.render_strips(app.size):
            for segment in strip:
                for colour in (segment.style.color, segment.style.bgcolor) if segment.style else ():
                    if colour is not None and colour.triplet is not None:
                        found.add(tuple(colour.triplet))
        return found

    seen = {}
    for no_color in (False, True):
        monkeypatch.delenv("NO_COLOR", raising=False)
        if no_color:
            monkeypatch.setenv("NO_COLOR", "1")
        app = Harness(lambda: [Sidebar(ENTRIES)])
        async with app.run_test(size=(20, 6)) as pilot:
            await pilot.pause()
            seen[no_color] = colours(app)
    assert any(len(set(colour)) > 1 for colour in seen[False])
    assert seen[True]
    assert all(len(set(colour)) == 1 for colour in seen[True])


async def test_a_number_never_touches_the_name() -> None:
    """Three digits take the place of a mark that is not there; thousands are said in short where room is short."""
    sidebar = Sidebar(
        [
            SidebarEntry("a", "4", "Knowledge", 31),
            SidebarEntry("b", "4", "Knowledge", 161),
            SidebarEntry("c", "4", "Knowledge", 2345),
            SidebarEntry("d", "3", "Journal", 2345),
            SidebarEntry("e", "3", "Journal", 123_456),
            SidebarEntry("f", "5", "Contacts", 99, alert=True),
        ]
    )
    app = Harness(lambda: [sidebar])
    async with app.run_test(size=(40, 10)):
        assert [line_text(sidebar.render_row(key, 15)) for key in "abcdef"] == [
            "4 Knowledge 31 ",
            "4 Knowledge 161",
            "4 Knowledge 2k ",
            "3 Journal 2345 ",
            "3 Journal 123k ",
            "5 Contacts  99▲",
        ]


async def test_a_filter_bar_may_be_prepared_before_it_is_there() -> None:
    """Files may be read before the pane is composed: nothing is raised, and it opens like any other."""
    bar = FilterBar()
    bar.prepare()
    app = Harness(lambda: [bar])
    async with app.run_test(size=(60, 6)) as pilot:
        bar.open()
        await pilot.press("a", "b")
        assert bar.text == "ab"
