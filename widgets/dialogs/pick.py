"""Pick: a dialog to choose one option from a list, with Enter, a key of the option or the mouse; Confirm: yes or no."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.await_complete import AwaitComplete
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen

from memory.base.safe_text import cell_width, visible
from widgets.detail import LineView
from widgets.list.line_list import LineList
from widgets.list.rows import Heading, Note
from widgets.text.styled_text import Line, Piece, line, pad_line

from .dialogs import DIALOG_CSS, Dialog


@dataclass(frozen=True, slots=True)
class PickOption:
    """One option: `id` is returned, `key` is a character that chooses it at once, `marked` shows that it is current.

    Options of one `group` follow a heading.
    """

    id: str
    label: str
    note: str = ""
    group: str = ""
    key: str = ""
    marked: bool = False


class Pick(Dialog, ModalScreen[str | None]):
    """Returns the id of an option, or None when left; `looked` gets each id that the cursor is on."""

    DEFAULT_CSS: ClassVar[str] = f"""
    Pick {{
        {DIALOG_CSS}
        & > .dialog {{ max-width: 64; }}
        LineList {{ height: auto; }}
        LineList.dialog--below {{ margin-top: 1; max-height: 12; }}
        &.-low LineList.dialog--body {{ height: 1fr; }}
        &.-low LineList {{ margin-top: 0; }}
        KeyHints {{ margin-top: 1; }}
        &.-low KeyHints {{ margin-top: 0; }}
        &.-flat KeyHints {{ display: none; }}
    }}
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "take", "choose", id="pick.take", tooltip="Choose the row under the cursor", priority=True),
        Binding("escape,q", "leave", "cancel", id="pick.leave", tooltip="Change nothing"),
    ]

    def __init__(
        self,
        title: str,
        options: Sequence[PickOption],
        details: str = "",
        *,
        looked: Callable[[str], None] | None = None,
    ) -> None:
        """Offer `options` below the text `details`."""
        super().__init__()
        self.heading, self._details, self._looked = title, details, looked
        self._options = {option.id: option for option in options}
        self._column = min(30, max((cell_width(visible(option.label)) for option in options), default=0))
        self._keys = {option.key: option.id for option in options if option.key}
        rows: list[Hashable] = []
        group = ""
        for option in options:
            if option.group != group:
                group = option.group
                rows += [Note(number=len(rows)), Heading(group)] if rows else [Heading(group)]
            rows.append(option.id)
        self._list = LineList(self._draw, rows, classes="dialog--below" if details else "dialog--body")
        self._list.selects = False

    def parts(self) -> ComposeResult:
        """Put the options below the details."""
        if self._details:
            yield LineView([line(text) for text in self._details.split("\n")], classes="dialog--body")
        yield self._list

    def on_mount(self) -> None:
        """Start at the option that is current."""
        marked = next((option.id for option in self._options.values() if option.marked), None)
        if marked is not None:
            self._list.cursor = marked
        self._list.focus()

    def _draw(self, key: Hashable, width: int) -> Line:  # noqa: ARG002
        option = self._options[str(key)]
        sign = f"{option.key:1} " if self._keys else self._list.glyphs.check if option.marked else " "
        label = pad_line(line(option.label), self._column) if option.note else line(option.label)
        return line(Piece(f"{sign} ", "accent"), label, Piece(f"  {option.note}" if option.note else "", "muted"))

    def on_key(self, event: events.Key) -> None:
        """Choose an option by its own key."""
        if event.character in self._keys:
            event.stop()
            event.prevent_default()
            self.dismiss(self._keys[event.character])

    def on_line_list_highlighted(self, event: LineList.Highlighted) -> None:
        """Tell which option the cursor is on."""
        event.stop()
        if self._looked is not None and event.key is not None and self.is_current:
            self._looked(str(event.key))

    def on_line_list_opened(self, event: LineList.Opened) -> None:
        """Choose an option with a double click."""
        event.stop()
        self.action_take()

    def action_take(self) -> None:
        """Choose the option under the cursor."""
        if self._list.cursor is not None:
            self.dismiss(str(self._list.cursor))


class Confirm(Pick):
    """Asks a question; returns True for yes, False for no and when left. With `danger` the cursor begins on no."""

    def __init__(
        self, question: str, details: str = "", *, yes: str = "Yes", no: str = "No", danger: bool = False
    ) -> None:
        options = (PickOption("yes", yes, key="y"), PickOption("no", no, key="n", marked=danger))
        super().__init__(question, options, details)

    def dismiss(self, result: object = None) -> AwaitComplete:
        """Leave with the answer."""
        return super().dismiss(result == "yes")
