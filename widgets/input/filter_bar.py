"""The filter bar: one line under a list that filters it while the person types."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input

from memory.base.safe_text import cell_width, clip

from .editors import SafeInput, SafeText

ROOM = 18
"""Cells reserved for the count of matching rows, so that nothing moves when it appears or grows; it may take more."""

SIGN = 2
"""Cells of the sign before the text."""

HINT = "filter"
"""What the bar shows while nothing is typed."""


class FilterBar(Widget):
    """A bar that is hidden until `open`; Enter keeps the filter and leaves, Escape clears it and closes.

    It overlays the lower edge of a frame: opening it moves and resizes nothing, which would draw everything twice. It
    does not move the focus when it is left; its owner does that on `Accepted` and `Closed`.
    """

    DEFAULT_CSS = """
    FilterBar {
        height: 1;
        layout: horizontal;
        overlay: screen;
        display: none;
        background: $surface;
        .filter-bar--sign { width: 2; color: $accent; text-style: bold; padding-left: 1; }
        .filter-bar--count { width: 18; max-width: 50%; height: 1; color: $foreground-muted; }
        SafeInput.-textual-compact { width: 1fr; background: $surface; padding: 0 0 0 1; }
        SafeInput.-textual-compact:focus { background: $surface; }
        SafeInput > .input--placeholder { color: $foreground-muted; }
    }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "back", id="filter.clear", tooltip="Clear the filter and close it"),
        Binding("enter,down", "accept", "choose", id="filter.accept", tooltip="Keep the filter and go to the list",
                priority=True),
    ]  # fmt: skip

    @dataclass
    class Accepted(Message):
        """The filter stays, and the focus should go to the list."""

        text: str

    class Closed(Message):
        """The filter is cleared and the bar is gone."""

    _hint = HINT
    _cells = ROOM
    _told = ""
    is_open = False
    """Whether the bar is shown; known even before there are styles, which `display` needs."""

    def __init__(self, typed: Callable[[str], object]) -> None:
        """`typed` gets the text at once after each letter."""
        super().__init__()
        self._typed = typed

    # Empty at the start, because an editor is expensive; `prepare` mounts it.

    @cached_property
    def _editor(self) -> SafeInput:
        return SafeInput(placeholder=HINT)

    @cached_property
    def _count(self) -> SafeText:
        return SafeText(classes="filter-bar--count")

    @property
    def text(self) -> str:
        """The filter's text; empty while the bar is closed."""
        return self._editor.text if self.is_open else ""

    def open(self, text: str | None = None, *, focus: bool = True, hint: str = HINT) -> None:
        """Show the bar (with another text, if one is given) and give it the focus from the next key on.

        `hint` is shown while the bar is empty.
        """
        self.is_open = True
        self.reveal()
        editor = self._editor
        self.prepare()
        self._hint = hint
        self._say_hint()
        if text is not None:
            editor.text = text
            editor.cursor_position = len(editor.value)
        if focus:
            # It is in view already; Textual would compute where to scroll.
            self.screen.set_focus(editor, scroll_visible=False)

    def prepare(self) -> None:
        """Mount the editor before it is needed, so that opening the bar needs one layout less.

        Does nothing before the bar itself is mounted; `open` and `on_mount` call it again.
        """
        if self.is_attached and not self._editor.is_attached:
            self.mount(SafeText("/", classes="filter-bar--sign"), self._editor, self._count)
            # A watcher acts at once; the editor's message arrives after the letter is drawn.
            self.watch(self._editor, "value", self._on_typed, init=False)

    def reveal(self) -> None:
        """Show the bar, or hide it."""
        # Not by a class, which would look up every style that may depend on it.
        self.display = self.is_open

    def on_mount(self) -> None:
        """Give a bar that was opened before it was mounted its editor, and report its text."""
        if self.is_open:
            self.prepare()
            self._tell()

    def on_resize(self) -> None:
        """Fit the hint into the new width."""
        self._say_hint()

    def _say_hint(self) -> None:
        """Show the hint while there is no text; it continues in the place of the count."""
        if self._editor.value:
            return
        room = max(0, self.size.width - SIGN - ROOM - 1)
        words = clip(self._hint, room + ROOM - 1)
        self._editor.placeholder = words[:room]
        self._put(words[room:], ROOM)

    def _put(self, words: str, cells: int) -> None:
        """Show words at the right in `cells` cells; a change of that number moves the editor's end."""
        moves = cells != self._cells
        if moves:
            self._count.styles.width = self._cells = cells
        self._count.say(words, layout=moves)

    def _on_typed(self) -> None:
        if not self._editor.value:
            self._say_hint()
        self._tell()

    def _tell(self) -> None:
        if self.is_open and self.text != self._told:
            self._told = self.text
            self._typed(self.text)

    def close(self) -> None:
        """Clear the filter and hide the bar."""
        if self.is_open:
            self._editor.text = ""
            self.is_open = False
            self.reveal()
            self.post_message(self.Closed())

    def say(self, count: str) -> None:
        """Show a count at the right, for example `12 of 318`; nothing else moves for it unless it is very long."""
        if not self._editor.value:
            return  # the hint is shown there
        cells = max(ROOM, cell_width(count) + 1)
        self._put(f"{count:>{cells - 1}}", cells)

    def on_input_changed(self, event: Input.Changed) -> None:
        """Report the text; typed text is reported already, text that the bar was opened with may not be."""
        event.stop()
        self._tell()

    def action_accept(self) -> None:
        """Keep the filter; an empty one closes the bar."""
        if self.text:
            self.post_message(self.Accepted(self.text))
        else:
            self.close()

    def action_leave(self) -> None:
        """Clear and close."""
        self.close()
