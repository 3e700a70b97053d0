"""Lines that are drawn by a shorter way than Textual's: they look as Textual draws them."""

from __future__ import annotations

import pytest
from rich.cells import cell_len
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Input, Static

from tests.widgets.harness import HOSTILE, Harness
from widgets.chrome.frame import Frame
from widgets.input.editors import SafeInput
from widgets.input.filter_bar import FilterInput


def cells(strip: Strip) -> list[tuple[str, object]]:
    """What each cell of a strip shows; a wide character stands in its first one."""
    found: list[tuple[str, object]] = []
    for text, style, _ in strip:
        for character in text:
            found += [(character, style)] + [("", style)] * (cell_len(character) - 1)
    return found


@pytest.mark.parametrize("placeholder", ["", "a word"])
@pytest.mark.parametrize("focused", [True, False])
@pytest.mark.parametrize("kind", [SafeInput, FilterInput])
async def test_an_editor_draws_its_text_as_textual_does(kind: type[SafeInput], focused: bool, placeholder: str) -> None:
    """Text, cursor and suggestion stand in the same cells in the same styles, wherever the cursor is."""
    editor = kind(placeholder=placeholder)
    app = Harness(lambda: [editor, SafeInput(id="other")])
    async with app.run_test(size=(24, 4)) as pilot:
        (editor if focused else app.query_one("#other", SafeInput)).focus()
        for text in ("", "a", "priority:high", "部署 now", *(text[:60] for text in HOSTILE.values())):
            editor.text = text
            for at in dict.fromkeys((0, 1, len(editor.value) // 2, len(editor.value))):
                editor.cursor_position = at
                for suggestion in ("", editor.value + "er"):
                    await pilot.pause()
                    editor._suggestion = suggestion
                    whole = Region(0, 0, *editor.outer_size)
                    drawn, expected = editor.render_line(0), Input.render_line(editor, 0)
                    assert cells(drawn) == cells(expected), (text, at, suggestion)
                    drawn, expected = editor.render_lines(whole)[0], Widget.render_lines(editor, whole)[0]
                    assert cells(drawn) == cells(expected), (text, at, suggestion)


async def test_the_name_of_a_frame_is_drawn_as_textual_does() -> None:
    """Another title is drawn with what is known of the one before, and looks as if it were not."""
    frame = Frame(Static("inside"), name="Tasks")
    app = Harness(lambda: [frame])
    top = Region(0, 0, 60, 1)
    async with app.run_test(size=(60, 10)) as pilot:
        known = 0
        for within in (False, True):
            frame.set_class(within, "-within")
            await pilot.pause()
            titles = [
                ("Tasks", "4 open"),
                ("Tasks", "12 of 20", "sorted"),
                ("部署 ✅", "1"),
                ("Tasks",),
                ("long " * 30, "1"),
                ("",),
            ]
            for label, *remarks in titles:
                frame.say(label, *remarks)
                known += bool(frame._edges)
                drawn = frame.render_lines(top)[0]
                frame._styles_cache.clear()
                assert cells(drawn) == cells(Widget.render_lines(frame, top)[0]), label
                assert drawn.cell_length == 60
        assert known


async def test_a_frame_that_was_just_made_wider_is_drawn_in_its_new_width() -> None:
    """Its name is still for the old width then; what is known of that line is not used for the next one."""
    frame = Frame(Static("inside"), name="Tasks")
    app = Harness(lambda: [frame])
    async with app.run_test(size=(60, 10)) as pilot:
        frame.say("Tasks", "4 open")
        for before, after in ((60, 90), (90, 60)):
            await pilot.resize_terminal(before, 10)
            title, parts = frame.border_title, frame._parts
            await pilot.resize_terminal(after, 10)
            now = (frame.border_title, frame._parts)
            frame.border_title, frame._parts, frame._edges = title, parts, []
            for _ in range(2):
                frame._styles_cache.clear()
                assert frame.render_lines(Region(0, 0, after, 1))[0].cell_length == after
            frame.border_title, frame._parts = now
            frame._styles_cache.clear()
            assert frame.render_lines(Region(0, 0, after, 1))[0].cell_length == after
