"""Choices: a few things that can be done, each with a key and a sentence."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen

from widgets.chrome.footer import KeyHints
from widgets.input.editors import SafeText
from widgets.list.line_list import LineList
from widgets.text.line_view import LineView
from widgets.text.styled_text import Line, Piece, line, line_width

from .dialogs import DIALOG_CSS, Dialog


@dataclass(frozen=True, slots=True)
class DialogOption:
    """One thing that can be done: its key, what it is called in code, and words for people."""

    key: str
    name: str
    words: str
    more: str = ""


class Choices(Dialog, ModalScreen[str | None]):
    """Gives the name of the option that was chosen; None when it was left with Escape."""

    letters_leave = True

    DEFAULT_CSS = f"""
    Choices {{
        {DIALOG_CSS}
        LineList {{ height: auto; margin-top: 1; }}
        KeyHints {{ margin-top: 1; }}
        &.-low LineList, &.-low KeyHints {{ margin-top: 0; }}
    }}
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "cancel", id="choices.leave", tooltip="Choose nothing; nothing is lost"),
    ]

    def __init__(self, title: str, details: str, options: Sequence[DialogOption]) -> None:
        """`details` may have several lines."""
        super().__init__()
        self._title, self._details = title, details
        self._options: dict[Hashable, DialogOption] = {option.name: option for option in options}

    def compose(self) -> ComposeResult:
        """What is the matter, and what can be done."""
        with Vertical(classes="dialog"):
            yield SafeText(self._title, classes="dialog--title")
            yield LineView([line(text) for text in self._details.split("\n")], classes="dialog--body")
            yield LineList(self._draw, tuple(self._options))
            yield KeyHints(indent=0)

    def on_mount(self) -> None:
        """Choose at once."""
        self.query(LineList).focus()

    def _draw(self, key: Hashable, width: int) -> Line:
        option = self._options[key]
        words = line(Piece(f"{option.key}  ", "accent"), Piece(option.words, "strong"))
        more = line(Piece(f"  {option.more}", "muted"))
        return line(words, more) if line_width(words) + line_width(more) <= width else words

    def on_key(self, event: events.Key) -> None:
        """A key of an option chooses it."""
        for option in self._options.values():
            if event.character == option.key:
                event.stop()
                event.prevent_default()
                self.dismiss(option.name)
                return

    def on_line_list_opened(self, event: LineList.Opened) -> None:
        """Enter chooses."""
        event.stop()
        self.dismiss(str(event.key))

    def action_leave(self) -> None:
        """Choose nothing."""
        self.dismiss(None)
