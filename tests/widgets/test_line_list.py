"""The list of lines: its cursor, its selection, what it draws, and that it draws no more than it shows."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.base.safe_text import visible
from tests.widgets.harness import HOSTILE, Harness, assert_safe, screen_text
from widgets.list.line_list import LineList
from widgets.list.rows import Continuation, Heading, Note, is_item, nearest
from widgets.text.styled_text import Line, Piece, line, pad_line


class Counted:
    """A renderer that counts what it is asked for."""

    def __init__(self) -> None:
        self.asked: list[Hashable] = []

    def __call__(self, key: Hashable, width: int) -> Line:
        self.asked.append(key)
        return pad_line(line(f"row {key}", Piece(" late", "alert")), width)


def rows_of(count: int) -> list[Hashable]:
    return [Heading("PENDING", str(count)), *range(count)]


def app_with(rows: Sequence[Hashable], renderer: Counted | None = None) -> tuple[Harness, LineList, Counted]:
    counted = renderer or Counted()
    view = LineList(counted, rows, id="list")
    return Harness(lambda: [view]), view, counted


@pytest.mark.parametrize("count", [50, 20_000])
@pytest.mark.frames
async def test_draws_only_what_is_in_view(count: int) -> None:
    """A frame asks for no more rows than the screen has lines, however many there are."""
    app, view, counted = app_with(rows_of(count))
    async with app.run_test(size=(80, 24)) as pilot:
        view.focus()
        await pilot.pause()
        assert 0 < len(counted.asked) <= 2 * 24
        for key in ("pagedown", "G", "home", "ctrl+d", "ctrl+u"):
            counted.asked.clear()
            await pilot.press(key)
            assert len(counted.asked) <= 24, key
        counted.asked.clear()
        await pilot.press("j", "k", "j")
        assert {*counted.asked} <= {0, 1, 2}


KEYS = [
    (["j"], 1),
    (["down", "down"], 2),
    (["j", "j", "k"], 1),
    (["j", "up"], 0),
    (["G"], 99),
    (["end", "k"], 98),
    (["G", "g", "g"], 0),
    (["G", "home"], 0),
    (["G", "j"], 99),
    (["k"], 0),
    (["pagedown"], 23),
    (["ctrl+d"], 12),
    (["pagedown", "pageup"], 0),
    (["ctrl+d", "ctrl+u"], 0),
]


@pytest.mark.parametrize(("keys", "expected"), KEYS, ids=["-".join(keys) for keys, _ in KEYS])
async def test_keys_move_the_cursor(keys: list[str], expected: int) -> None:
    """Each key moves the cursor to the row that its tooltip promises, and into view."""
    app, view, _ = app_with(rows_of(100))
    async with app.run_test(size=(80, 24), message_hook=app.keep) as pilot:
        view.focus()
        await pilot.press(*keys)
        assert view.cursor == expected
        assert round(view.scroll_y) <= view.position < round(view.scroll_y) + 24
        assert app.of(LineList.Highlighted)[-1].key == expected


async def test_a_removed_key_gives_the_cursor_to_its_neighbour() -> None:
    """The next row below takes over, else the next above, and one message tells it."""
    app, view, _ = app_with(rows_of(10))
    async with app.run_test(size=(40, 10), message_hook=app.keep) as pilot:
        view.cursor = 5
        await pilot.pause()
        view.set_rows([Heading("PENDING"), 0, 1, 2, 3, 4, 6, 7])
        assert view.cursor == 6
        view.set_rows([Heading("PENDING"), 0, 1, 2])
        assert view.cursor == 2
        view.set_rows([])
        assert view.cursor is None
        await pilot.pause()
        assert app.of(LineList.Highlighted)[-1].key is None
        view.set_rows([7])
        assert view.cursor == 7


KEY = st.one_of(st.integers(0, 30), st.builds(Heading, st.sampled_from("AB")), st.just(Note()))


@given(st.lists(KEY, unique=True), st.lists(KEY, unique=True), st.integers(0, 40))
def test_nearest_is_the_same_key_or_an_item(old: list[Hashable], new: list[Hashable], at: int) -> None:
    """The cursor stays on its key while that is there, and on some item while there is any."""
    place = nearest(old, at, new)
    items = [key for key in new if is_item(key)]
    if place < 0:
        assert not items
    elif at < len(old) and old[at] in new:
        assert new[place] == old[at]
    else:
        assert is_item(new[place])


async def test_selecting_one_by_one_and_by_range() -> None:
    """Space collects rows, v draws a range, escape forgets them; actions get them in the rows' order."""
    app, view, _ = app_with(rows_of(20))
    async with app.run_test(size=(40, 10), message_hook=app.keep) as pilot:
        view.focus()
        assert view.targets == (0,)
        await pilot.press("space", "space", "j", "space")
        assert view.targets == (0, 1, 3)
        await pilot.press("v", "j", "j")
        assert view.selected == {0, 1, 3, 4, 5, 6}
        await pilot.press("v", "k", "k", "k", "k")
        assert view.selected == {0, 1, 3, 4, 5, 6}
        view.set_rows([Heading("PENDING"), 6, 1, 2])
        assert view.targets == (6, 1)
        await pilot.press("escape")
        assert view.targets == (view.cursor,)
        assert app.of(LineList.SelectionChanged)[-1].keys == frozenset()


async def test_enter_and_double_click_open() -> None:
    """Both open the row; a single click only moves the cursor, on a continuation to its owner."""
    app, view, _ = app_with([Heading("A"), "a", Continuation("a"), "b"])
    async with app.run_test(size=(40, 10), message_hook=app.keep) as pilot:
        view.focus()
        await pilot.press("enter")
        assert [message.key for message in app.of(LineList.Opened)] == ["a"]
        await pilot.click(view, offset=(5, 3))
        assert view.cursor == "b"
        await pilot.click(view, offset=(5, 2))
        assert view.cursor == "a"
        await pilot.click(view, offset=(5, 0))
        assert view.cursor == "a"
        await pilot.click(view, offset=(5, 3), times=2)
        assert app.of(LineList.Opened)[-1].key == "b"
        assert app.of(LineList.Opened)[-1].line_list is view


async def test_changed_rows_flash_once() -> None:
    """The highlight is there, and gone when its time is over."""
    app, view, _ = app_with(rows_of(5))
    async with app.run_test(size=(40, 10)) as pilot:
        await pilot.pause()
        view.render_lines(view.size.region)
        plain = view.render_line(3)
        view.flash([2])
        assert view._flashing == {2}
        assert view.render_line(3) != plain
        view.end_flash()
        assert view.render_line(3) == plain


@pytest.mark.parametrize("name", HOSTILE)
async def test_hostile_rows_are_only_text(name: str) -> None:
    """Titles, headings and notes from files neither crash, style nor steer, and keep the lines' width."""
    text = HOSTILE[name]
    rows = [Heading(text, text), "key", Continuation("key"), Note(text)]
    view = LineList(lambda *_: line(Piece(text, "alert"), text), rows)
    app = Harness(lambda: [view])
    async with app.run_test(size=(60, 8)) as pilot:
        await pilot.pause()
        shown = screen_text(app)
        assert_safe(shown)
        assert visible(text)[:5] in shown.replace("\n", "")


@pytest.mark.parametrize("size", [(1, 1), (2, 1), (3, 2), (4, 4)])
async def test_a_tiny_terminal_does_not_crash(size: tuple[int, int]) -> None:
    """Every size can be drawn and moved in."""
    app, view, _ = app_with(rows_of(100))
    async with app.run_test(size=size) as pilot:
        view.focus()
        await pilot.press("j", "pagedown", "G", "space", "g", "g")
        screen_text(app)
        assert view.cursor == 0
