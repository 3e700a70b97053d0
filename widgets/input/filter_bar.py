"""The filter bar: one line under a list that narrows it as a person types."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Input
from textual.widgets.input import Selection

from memory.base.safe_text import cell_width
from widgets.chrome.deferred_keys import after_typing
from widgets.text.drawing import Drawing
from widgets.text.styled_text import line

from .editors import Completer, SafeInput, SafeText, fitting

ROOM = 18
"""Cells for a count of what is left, so that nothing moves when it comes or grows; a longer one takes more."""

SIGN = 2
"""Cells of the sign before the text."""

HINT = "filter"
"""What stands in the bar while nothing is typed."""

NAMED_FROM = 2
"""Letters from which on a word is completed to the name of a field; a single one begins too much."""


class LastWord(Completer):
    """Completes the last word of a filter: to one of `names`, the fields, then behind `name:` to a value.

    A minus before the word stays. `words` is asked for what there is when a value is typed for the first time; a name
    costs no look at any row.
    """

    def __init__(self, words: Callable[[], Sequence[str]], names: Sequence[str] = ()) -> None:
        super().__init__(case_sensitive=False)
        self._find = words
        self._names = tuple(f"{name}:" for name in names)

    @cached_property
    def _words(self) -> tuple[str, ...]:
        return tuple(self._find())

    async def get_suggestion(self, value: str) -> str | None:
        """The text with its last word whole; None where nothing begins like it."""
        return self.complete(value)

    def complete(self, value: str) -> str | None:
        """The same, for who does not wait."""
        start = value.rfind(" ") + 1
        start += value[start : start + 1] == "-"
        part = value[start:].casefold()
        if ":" not in part and len(part) < NAMED_FROM:
            return None
        known = self._words if ":" in part else self._names
        word = next((word for word in known if word.startswith(part) and word != part), None)
        return None if word is None else value[:start] + word


class FilterInput(SafeInput):
    """The editor of a filter: with a letter it shows at once what that may become, and tells who `watch`es its text."""

    is_watched = False
    """Whether somebody sees each change at once, and no message has to tell of it."""

    def watch_has_focus(self, _has_focus: bool) -> None:
        """Its styles are the same with and without the focus; Textual would look for all of them again."""

    def _watch_value(self, value: str) -> None:
        completer = self.suggester
        known = completer.complete(value.casefold()) if value and isinstance(completer, LastWord) else None
        self._suggestion = known or ""
        self.virtual_size = Size(self.content_width, 1)
        if not self.is_watched:
            self.post_message(self.Changed(self, value))
        if self._initial_value:
            self.cursor_position = len(value)
            self._initial_value = False
        else:
            self.selection = self.selection

    def _watch_selection(self, selection: Selection) -> None:
        if self.scroll_offset.x or self.content_width > self.scrollable_content_region.width:
            super()._watch_selection(selection)
        else:
            # All of it is in view: there is nothing to scroll to.
            self.app.clear_selection()
            self.app.cursor_position = self.cursor_screen_offset


class Count(Drawing, Widget):
    """A few words in one line."""

    _words = ""

    def say(self, words: str, *, layout: bool) -> None:
        """Show other words; `layout`: they need other room."""
        if words != self._words:
            self._words = words
            self.refresh(layout=layout)

    def render_lines(self, crop: Region) -> list[Strip]:
        """The words, and a blank cell behind them."""
        width = self.size.width - 1

        def draw(places: range) -> list[Strip]:
            return [Strip.join([self.draw(line(self._words), width), self.blank(1)])] * len(places)

        return self.lines_of(crop, draw) or super().render_lines(crop)


@dataclass
class _FilterMessage(Message):
    """A message that a filter bar sends."""

    filter_bar: FilterBar

    @property
    def control(self) -> FilterBar:
        """The filter bar that sent this."""
        return self.filter_bar


class FilterBar(Widget):
    """Hidden until `open`; Enter keeps the filter and leaves, Escape clears it and closes.

    The bar moves no focus when it is left; whoever owns it does that on `Accepted` and `Closed`.
    """

    DEFAULT_CSS = """
    FilterBar {
        height: 1;
        layout: horizontal;
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
        Binding(
            "enter,down",
            "accept",
            "choose",
            id="filter.accept",
            tooltip="Keep the filter, go to the list",
            priority=True,
        ),
    ]

    @dataclass
    class Changed(_FilterMessage):
        """The filter's text changed; sent on each key, only the last of a burst counts."""

        text: str

        def can_replace(self, message: Message) -> bool:
            """Only the last text of a burst matters."""
            return isinstance(message, FilterBar.Changed) and message.filter_bar is self.filter_bar

    @dataclass
    class Accepted(_FilterMessage):
        """The filter stays, the person wants to be in the list."""

        text: str

    @dataclass
    class Closed(_FilterMessage):
        """The filter is cleared and the bar is gone."""

    _hint = HINT
    _cells = ROOM
    _told = ""
    _shown = False

    # Nothing is in it at the start, for which an editor costs much; `prepare` puts it in.

    @cached_property
    def _editor(self) -> FilterInput:
        return FilterInput(placeholder=HINT)

    @cached_property
    def _count(self) -> Count:
        return Count(classes="filter-bar--count")

    @property
    def text(self) -> str:
        """The filter's text; empty while the bar is closed."""
        return self._editor.text if self.is_open else ""

    @property
    def is_open(self) -> bool:
        """Whether the bar is shown; known also before there are styles, which `display` asks."""
        return self._shown

    def open(
        self,
        text: str | None = None,
        *,
        focus: bool = True,
        hint: str = HINT,
        words: Callable[[], Sequence[str]] | None = None,
        names: Sequence[str] = (),
    ) -> None:
        """Show the bar (with another text, if one is given) and type in it, from the next key on.

        `hint` stands in it while it is empty; `words` gives what its last word is completed to, such as `is:stale`, and
        `names` are the fields, such as `is`.
        """
        self._shown = True
        self.reveal()
        editor = self._editor
        self.prepare()
        self._hint = hint
        self._say_hint()
        editor.suggester = LastWord(words, names) if words is not None else None
        if text is not None:
            editor.text = text
            editor.cursor_position = len(editor.value)
        if focus:
            # It is in view already: Textual would look for where it is to be scrolled to.
            self.screen.set_focus(editor, scroll_visible=False)

    def prepare(self) -> None:
        """Have the editor ready before it is asked for: then opening it is a layout less.

        A pane may ask for it before the bar itself is there; who opens it asks again.
        """
        if self.is_attached and not self._editor.is_attached:
            self.mount(SafeText("/", classes="filter-bar--sign"), self._editor, self._count)
            # At once and not with the editor's message, which comes when the letter was drawn already.
            self.watch(self._editor, "value", self._on_typed, init=False)
            self._editor.is_watched = True

    def reveal(self) -> None:
        """Show the bar, or hide it."""
        # No class: a look at every style that may be another for it.
        self.display = self._shown

    def on_mount(self) -> None:
        """A bar that was opened before it was there gets its editor now, and tells of its text."""
        if self._shown:
            self.prepare()
            self._tell()

    def on_resize(self) -> None:
        """The hint in another room."""
        self._say_hint()

    def _say_hint(self) -> None:
        """Say the hint while there is no text; it goes on where the count will be."""
        if self._editor.value:
            return
        room = max(0, self.size.width - SIGN - ROOM - 1)
        words = fitting(self._hint, room + ROOM - 1)
        self._editor.placeholder = words[:room]
        self._put(words[room:], ROOM)

    def _put(self, words: str, cells: int) -> None:
        """Say something at the right, in so many cells; others than before move the editor's end."""
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
            self.typed()

    def typed(self) -> None:
        """A key changed the text; here a message tells so."""
        self.post_message(self.Changed(self, self.text))

    def close(self) -> None:
        """Clear the filter and hide the bar."""
        if self.is_open:
            self._editor.text = ""
            self._shown = False
            self.reveal()
            self.post_message(self.Closed(self))

    def say(self, count: str) -> None:
        """Show how much is left, for example `12 of 318`; it stands at the right, and nothing else moves for it unless
        it is very long.
        """
        if not self._editor.value:
            return  # the hint stands there
        cells = max(ROOM, cell_width(count) + 1)
        self._put(f"{count:>{cells - 1}}", cells)

    def on_input_changed(self, event: Input.Changed) -> None:
        """What was typed is known already, unless the bar was opened with a text."""
        event.stop()
        self._tell()

    def action_accept(self) -> None:
        """Keep the filter; an empty one closes the bar."""
        after_typing(self.screen, self._accept)

    def _accept(self) -> None:
        if self.text:
            self.post_message(self.Accepted(self, self.text))
        else:
            self.close()

    def action_leave(self) -> None:
        """Clear and close."""
        self.close()
