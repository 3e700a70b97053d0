"""Choose: a dialog with a few options, each with its own key."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen

from widgets.detail import LineView
from widgets.list.line_list import LineList
from widgets.text.styled_text import Line, Piece, line

from .dialogs import DIALOG_CSS, Dialog


class Choose(Dialog, ModalScreen[str | None]):
    """Asks for one option; returns its words, None when left."""

    letters_leave = True

    DEFAULT_CSS = f"""
    Choose {{
        {DIALOG_CSS}
        &.-question > .dialog {{ max-width: 56; }}
        LineList {{ height: auto; }}
        &.-question LineList {{ max-height: 12; }}
        &.-question.-low LineList {{ height: 1fr; }}
        &.-details LineList {{ margin-top: 1; }}
        KeyHints {{ margin-top: 1; }}
        &.-low LineList, &.-low KeyHints {{ margin-top: 0; }}
        &.-question.-flat KeyHints {{ display: none; }}
    }}
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "take", "choose", id="choose.take", tooltip="Take what the cursor is on", priority=True),
        Binding("escape,q", "leave", "cancel", id="choose.leave", tooltip="Change nothing"),
    ]

    def __init__(self, question: str, options: Sequence[tuple[str, str, str]], details: str = "") -> None:
        """Each option is a key, the words to return, and a remark; `details` may have several lines."""
        super().__init__(classes="-details" if details else "-question")
        self.heading, self._details = question, details
        self._options = {words: (key, remark) for key, words, remark in options}
        self._column = max(16, *(len(words) + 2 for words in self._options))

    def parts(self) -> ComposeResult:
        """Yield the details of the question, and the options."""
        if self._details:
            yield LineView([line(text) for text in self._details.split("\n")], classes="dialog--body")
        yield LineList(self._draw, tuple(self._options), classes="" if self._details else "dialog--body")

    def on_mount(self) -> None:
        """Focus the options."""
        self.query(LineList).focus()

    def _draw(self, words: Hashable, width: int) -> Line:  # noqa: ARG002
        key, remark = self._options[str(words)]
        return line(Piece(f"{key}  ", "accent"), Piece(f"{words:<{self._column}}"), Piece(remark, "muted"))

    def on_key(self, event: events.Key) -> None:
        """Choose an option by its key."""
        for words, (key, _) in self._options.items():
            if event.character == key:
                event.stop()
                event.prevent_default()
                self.dismiss(words)
                return

    def on_line_list_opened(self, event: LineList.Opened) -> None:
        """Choose the option under the cursor on Enter."""
        event.stop()
        self.dismiss(str(event.key))

    def action_take(self) -> None:
        """Choose the option under the cursor."""
        cursor = self.query_one(LineList).cursor
        if cursor is not None:
            self.dismiss(str(cursor))
