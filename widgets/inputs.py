"""Editors for values from files: what could steer a terminal is held, drawn as pictures, and given back.

Textual's own editors draw control characters raw, and its text area cuts lines at U+2028 and form feeds. Here
such characters are kept as private characters while a person edits, one for one, so that nothing is lost and
nothing reaches the terminal.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.text import Text
from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.reactive import reactive
from textual.strip import Strip
from textual.suggester import Suggester
from textual.widget import Widget
from textual.widgets import Input, Static

from memory.safetext import visible

from .drawing import Drawing
from .pieces import Line, Piece, line_width

_PRIVATE = 0x100000
_PRIVATE_TAGS = 0x10F000


def hold(text: str, *, newlines: bool = False) -> str:
    """The text with each unsafe character replaced by a private one; `newlines` keeps line feeds."""
    if visible(text, newlines=newlines) == text:
        return text
    return "".join(_hold(char) if _is_unsafe(char) and not (newlines and char == "\n") else char for char in text)


def release(text: str) -> str:
    """The text that `hold` was given."""
    if all(ord(char) < _PRIVATE for char in text):
        return text
    return "".join(_release(char) for char in text)


def _is_unsafe(char: str) -> bool:
    return char in "\t\n\r" or visible(char) != char


def _hold(char: str) -> str:
    code = ord(char)
    return chr(_PRIVATE + code if code < 0x10000 else _PRIVATE_TAGS + code - 0xE0000)


def _release(char: str) -> str:
    code = ord(char)
    for candidate in (code - _PRIVATE, code - _PRIVATE_TAGS + 0xE0000):
        if 0 <= candidate <= 0x10FFFF and _is_unsafe(chr(candidate)) and _hold(chr(candidate)) == char:
            return chr(candidate)
    return char


def picture(text: str) -> str:
    """The text as an editor draws it: a printable character of one cell for each unsafe one, held or not."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(map(_picture, text))


def _picture(char: str) -> str:
    original = _release(char) if ord(char) >= _PRIVATE else char
    if original == char and not _is_unsafe(char):
        return char
    code = ord(original)
    if code < 0x20:
        return chr(0x2400 + code)
    return "\u2421" if code == 0x7F else "\ufffd"


class SafeText(Static):
    """Text that is never markup, its control characters made visible."""

    DEFAULT_CSS = """
    SafeText { height: auto; width: 1fr; }
    """

    def __init__(self, text: str = "", *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(Text(visible(text, newlines=True)), id=id, classes=classes, markup=False)
        self._words = text

    @property
    def words(self) -> str:
        """The text as it was given."""
        return self._words

    def say(self, text: str, *, layout: bool = True) -> None:
        """Show another text; `layout` False promises that it takes as much room as the one before."""
        if text != self._words:
            self._words = text
            self.update(Text(visible(text, newlines=True)), layout=layout)


class SafeInput(Input):
    """A one-line editor for text from files; `text` is the value as it stands in the file."""

    DEFAULT_CSS = """
    SafeInput.-textual-compact { background: $surface; padding: 0 1; }
    SafeInput.-textual-compact:focus { background: $panel; background-tint: $foreground 0%; }
    """

    def __init__(
        self,
        text: str = "",
        *,
        placeholder: str = "",
        suggester: Suggester | None = None,
        id: str | None = None,  # noqa: A002
        classes: str | None = None,
    ) -> None:
        self._original = text
        super().__init__(
            hold(text),
            placeholder=visible(placeholder),
            suggester=suggester,
            compact=True,
            select_on_focus=False,
            id=id,
            classes=classes,
        )

    @property
    def text(self) -> str:
        """What the editor holds; exactly the original text while nobody changed it."""
        return self._original if self.value == hold(self._original) else release(self.value)

    @text.setter
    def text(self, text: str) -> None:
        self.value = hold(text)

    @property
    def _value(self) -> Text:
        return Text(picture(self.value), no_wrap=True, overflow="ignore", end="")


class Choice(Drawing, Widget, can_focus=True):
    """One of a few options on one line; left and right, space or a first letter change it, the mouse picks.

    | Component class | Styles |
    | :- | :- |
    | `choice--chosen` | the option that is chosen |
    """

    COMPONENT_CLASSES: ClassVar[set[str]] = {"choice--chosen"}

    DEFAULT_CSS = """
    Choice {
        height: 1;
        background: $surface;
        color: $foreground-muted;
        & > .choice--chosen { color: $foreground; text-style: bold; }
        &:focus { background: $panel; }
        &:focus > .choice--chosen { color: $accent; }
    }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("right,space", "step(1)", "next", id="choice.next", tooltip="The next option", show=False),
        Binding("left", "step(-1)", "before", id="choice.previous", tooltip="The option before", show=False),
    ]

    chosen: reactive[str] = reactive("")
    """The option that is chosen; a value outside the options is kept and shown first."""

    class Changed(Message):
        """Another option was chosen."""

        def __init__(self, choice: Choice, value: str) -> None:
            super().__init__()
            self.choice = choice
            self.value = value

        @property
        def control(self) -> Choice:
            """The choice that sent this."""
            return self.choice

    def __init__(
        self,
        options: Sequence[str],
        value: str = "",
        *,
        id: str | None = None,  # noqa: A002
        classes: str | None = None,
    ) -> None:
        super().__init__(id=id, classes=classes)
        self.options: tuple[str, ...] = tuple(options) if value in options else (value, *options)
        self.set_reactive(Choice.chosen, value)

    def watch_chosen(self, value: str) -> None:
        """Tell that another option was chosen."""
        if self.is_attached:
            self.post_message(self.Changed(self, value))

    def action_step(self, step: int) -> None:
        """Choose the next option or the one before."""
        self.chosen = self.options[(self.options.index(self.chosen) + step) % len(self.options)]

    def on_key(self, event: events.Key) -> None:
        """A letter chooses the next option that begins with it."""
        if event.character and event.is_printable and event.character != " ":
            start = self.options.index(self.chosen) + 1
            for option in (*self.options[start:], *self.options[:start]):
                if option.casefold().startswith(event.character.casefold()):
                    self.chosen = option
                    event.stop()
                    event.prevent_default()
                    return

    def _labels(self) -> list[tuple[str, Line]]:
        """Each option and how it is drawn, the chosen one in brackets."""
        labels: list[tuple[str, Line]] = []
        for option in self.options:
            name = visible(option) or "-"
            labels.append((option, (Piece(f"[{name}]" if option == self.chosen else f" {name} "),)))
        return labels

    def on_click(self, event: events.Click) -> None:
        """Choose the option under the mouse."""
        x = event.x - 1
        for option, content in self._labels():
            width = line_width(content)
            if 0 <= x < width:
                self.chosen = option
                return
            x -= width + 1

    def render_line(self, y: int) -> Strip:
        """All options, the chosen one in brackets."""
        width = self.size.width
        if y:
            return Strip.blank(width, self.rich_style)
        parts = [self.draw((Piece(" "),), 1)]
        for option, content in self._labels():
            states = ("choice--chosen",) if option == self.chosen else ()
            parts.append(self.draw(content, line_width(content), *states))
            parts.append(self.draw((Piece(" "),), 1))
        return Strip.join(parts).adjust_cell_length(width, self.rich_style)
