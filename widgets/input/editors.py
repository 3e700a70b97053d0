"""Editors for values from files: characters that could control a terminal are replaced while editing, then restored.

Textual's own editors draw control characters raw, and its text area cuts lines at U+2028 and form feeds. Here
each such character is held as a private one while a person edits, and drawn as a visible sign, so that nothing is lost
and nothing reaches the terminal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.text import Text
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.message import Message
from textual.reactive import Reactive, reactive
from textual.strip import Strip
from textual.suggester import Suggester
from textual.widget import Widget
from textual.widgets import Input, Static

from memory.base.safe_text import cell_width, visible
from widgets.chrome.keys import name_of_keys
from widgets.text.drawing import Drawing
from widgets.text.styled_text import Piece

_PRIVATE = 0x100000
_PRIVATE_TAGS = 0x10F000


def hold(text: str, *, newlines: bool = False) -> str:
    """The text with each unsafe character replaced by a private one; `newlines` keeps line feeds."""
    if visible(text, newlines=newlines) == text:
        return text
    return "".join(_hold(char) if _is_unsafe(char) and not (newlines and char == "\n") else char for char in text)


def release(text: str) -> str:
    """The text that `hold` was called with."""
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
    """The text as an editor draws it: each unsafe character, held or not, as a printable one of one cell."""
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
        self.words = text
        """The text as it was given."""

    def say(self, text: str, *, layout: bool = True) -> None:
        """Show another text; `layout=False` promises that it takes as much room as the one before."""
        if text != self.words:
            self.words = text
            self.update(Text(visible(text, newlines=True)), layout=layout)


class SafeInput(Input):
    """A one-line editor for text from files; `text` is the value as it is in the file."""

    virtual_size: Reactive[Size] = Reactive(Size(0, 0), repaint=False)
    """How wide the text is; it changes with each key, which moves nothing else on the screen."""

    DEFAULT_CSS = """
    SafeInput.-textual-compact { background: $surface; padding: 0 1; }
    SafeInput > .input--placeholder, SafeInput > .input--suggestion { color: $foreground-muted; }
    SafeInput > .input--selection { color: $block-cursor-foreground; }
    SafeInput.-textual-compact:focus { background: $panel; background-tint: $foreground 0%; }
    """

    def __init__(self, text: str = "", *, placeholder: str = "", suggester: Suggester | None = None) -> None:
        self._original = text
        super().__init__(
            hold(text),
            placeholder=visible(placeholder),
            suggester=suggester,
            compact=True,
            select_on_focus=False,
            # Nothing is validated here; otherwise Textual would update styles with the first letter.
            validate_on=(),
        )

    @dataclass
    class Pasted(Message):
        """Several lines pasted where one can be typed; they are joined unless the message is stopped."""

        editor: SafeInput
        lines: Sequence[str]

    def on_paste(self, event: events.Paste) -> None:
        """Take all pasted lines; Textual would take the first one."""
        lines = [text.strip() for text in event.text.splitlines() if text.strip()]
        if len(lines) > 1:
            event.stop()
            event.prevent_default()
            self.post_message(self.Pasted(self, lines))

    def put(self, text: str) -> None:
        """Insert text at the cursor, in place of the selection."""
        start, end = sorted(self.selection)
        self.replace(hold(text), start, end)

    @property
    def text(self) -> str:
        """The value; exactly the original text while it is not edited."""
        return self._original if self.value == hold(self._original) else release(self.value)

    @text.setter
    def text(self, text: str) -> None:
        self.value = hold(text)

    def action_end(self, select: bool = False) -> None:
        """Go to the end; at the end, accept the suggestion as the right arrow does."""
        if not select and self.cursor_at_end and self._suggestion:
            self.action_cursor_right()
        else:
            super().action_end(select)

    @property
    def _value(self) -> Text:
        return Text(picture(self.value), no_wrap=True, overflow="ignore", end="")

    @property
    def content_width(self) -> int:
        """The cells of the text, and one for the cursor after it."""
        if self.placeholder and not self.value:
            return cell_width(self.placeholder)
        return cell_width(picture(self.value)) + 1


class Choice(Drawing, Widget, can_focus=True):
    """One of a few options on one line; left, right, space, a first letter or a click choose another.

    While it has the focus, and room, it shows which keys choose.

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
        Binding("left", "step(-1)", "before", id="choice.previous", tooltip="The previous option", show=False),
        Binding("right,space", "step(1)", "next", id="choice.next", tooltip="The next option", show=False),
    ]

    chosen: reactive[str] = reactive("")
    """The chosen option; a value outside the options is kept and shown first."""

    class Changed(Message):
        """Another option was chosen."""

    def __init__(self, options: Sequence[str], value: str = "") -> None:
        super().__init__()
        self.options: tuple[str, ...] = tuple(options) if value in options else (value, *options)
        self.set_reactive(Choice.chosen, value)

    def watch_chosen(self) -> None:
        """Report that another option was chosen."""
        if self.is_attached:
            self.post_message(self.Changed())

    def action_step(self, step: int) -> None:
        """Choose the next option or the one before."""
        self.chosen = self.options[(self.options.index(self.chosen) + step) % len(self.options)]

    def on_key(self, event: events.Key) -> None:
        """Choose the next option that begins with the typed letter."""
        if event.character and event.is_printable and event.character != " ":
            start = self.options.index(self.chosen) + 1
            for option in (*self.options[start:], *self.options[:start]):
                if option.casefold().startswith(event.character.casefold()):
                    self.chosen = option
                    event.stop()
                    event.prevent_default()
                    return

    def _placed(self) -> list[tuple[int, str, str]]:
        """The options as first cell, label and option, the chosen one in brackets; it alone if not all fit."""

        def place(options: Sequence[str]) -> list[tuple[int, str, str]]:
            found: list[tuple[int, str, str]] = []
            x = 0
            for option in options:
                name = visible(option) or "-"
                found.append((x, f"[{name}]" if option == self.chosen else f" {name} ", option))
                x += cell_width(name) + 3
            return found

        every = place(self.options)
        x, label, _ = every[-1]
        return every if x + cell_width(label) <= self.size.width else place((self.chosen,))

    def on_click(self, event: events.Click) -> None:
        """Choose the option under the mouse."""
        for x, label, option in self._placed():
            if x <= event.x < x + cell_width(label):
                self.chosen = option
                return

    def render_line(self, y: int) -> Strip:
        """The options, the chosen one in brackets."""
        width = self.size.width
        if y:
            return Strip.blank(width, self.rich_style)
        parts: list[Strip] = []
        placed, used = self._placed(), 0
        for x, label, option in placed:
            states = ("choice--chosen",) if option == self.chosen else ()
            parts += [self.draw((), x - used), self.draw((Piece(label),), cell_width(label), *states)]
            used = x + cell_width(label)
        hint = "/".join(map(name_of_keys(self.app), ("left", "right"))) if self.has_focus else ""
        if len(placed) < len(self.options):
            hint = f"{self.options.index(self.chosen) + 1} of {len(self.options)} {hint}"
        if used + 3 + cell_width(hint) <= width:
            parts.append(self.draw((Piece(f"   {hint}", "muted"),), cell_width(hint) + 3))
        return Strip.join(parts).adjust_cell_length(width, self.rich_style)
