"""Pick: a dialog to choose one option from a list."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen

from memory.base.safe_text import cell_width, visible
from widgets.list.line_list import LineList
from widgets.list.rows import Heading, Note
from widgets.text.styled_text import Line, Piece, line, pad_line

from .dialogs import DIALOG_CSS, Dialog


@dataclass(frozen=True, slots=True)
class PickOption:
    """One option: `id` is what is returned, `marked` shows that it is the current one.

    `group` is the heading above it; `removable` lets the key `x` remove it.
    """

    id: str
    label: str
    note: str = ""
    group: str = ""
    marked: bool = False
    removable: bool = False


class Pick(Dialog, ModalScreen["tuple[str, str] | None"]):
    """Returns `("take", id)`, `("remove", id)`, or None when left."""

    DEFAULT_CSS: ClassVar[str] = f"""
    Pick {{
        {DIALOG_CSS}
        & > .dialog {{ max-width: 56; }}
        .pick--list {{ height: auto; }}
        &.-low .pick--list {{ height: 1fr; }}
    }}
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "take", "choose", id="pick.take", tooltip="Take what is under the cursor", priority=True),
        Binding("x", "remove", "remove", id="pick.remove", tooltip="Take the saved view away"),
        Binding("escape,q", "leave", "cancel", id="pick.leave", tooltip="Change nothing"),
    ]

    def __init__(
        self, title: str, options: Sequence[PickOption], *, looked: Callable[[str], None] | None = None
    ) -> None:
        """`looked` is called with the id under the cursor as it moves, to preview the effect of choosing it."""
        super().__init__()
        self._looked = looked
        self.heading = title
        self._options = {option.id: option for option in options}
        self._column = min(24, max((cell_width(visible(option.label)) for option in options), default=0))
        rows: list[Hashable] = []
        group = ""
        for option in options:
            if option.group != group:
                group = option.group
                if rows:
                    rows.append(Note(number=len(rows)))
                rows.append(Heading(group))
            rows.append(option.id)
        self._list = LineList(self._draw, rows, classes="dialog--body pick--list")

    def _draw(self, key: Hashable, width: int) -> Line:  # noqa: ARG002
        option = self._options[str(key)]
        sign = Piece(f"{self._list.glyphs.check} " if option.marked else "  ", "accent")
        if not option.note:
            return line(sign, option.label)
        return line(sign, pad_line(line(option.label), self._column), "  ", Piece(option.note, "muted"))

    def parts(self) -> ComposeResult:
        """Yield the list."""
        yield self._list

    def on_mount(self) -> None:
        """Begin at the current option."""
        marked = next((option.id for option in self._options.values() if option.marked), None)
        if marked is not None:
            self._list.cursor = marked
        self._list.focus()

    def _current(self) -> PickOption | None:
        return None if self._list.cursor is None else self._options[str(self._list.cursor)]

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        """Enable `remove` only for removable options."""
        option = self._current()
        return action != "remove" or (option is not None and option.removable)

    def on_line_list_highlighted(self, event: LineList.Highlighted) -> None:
        """Refresh the keys, which depend on the option, and call `looked`."""
        event.stop()
        self.refresh_bindings()
        if self._looked is not None and event.key is not None and self.is_current:
            self._looked(str(event.key))

    def on_line_list_opened(self, event: LineList.Opened) -> None:
        """Choose the option on Enter or a double click."""
        event.stop()
        self.action_take()

    def action_take(self) -> None:
        """Choose the option under the cursor."""
        if self._list.cursor is not None:
            self.dismiss(("take", str(self._list.cursor)))

    def action_remove(self) -> None:
        """Ask to remove the option under the cursor."""
        if self._list.cursor is not None:
            self.dismiss(("remove", str(self._list.cursor)))


class Orders(Pick):
    """A menu of sort orders; may also return `("reverse", id)`. The key that opened it moves to the next order."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("r", "reverse", "reverse", id="orders.reverse", tooltip="Take it, or turn it round once more"),
        Binding("S", "next", "next", id="orders.next", tooltip="Go to the next order", show=False),
    ]

    def action_reverse(self) -> None:
        """Choose the order under the cursor, reversed."""
        if self._list.cursor is not None:
            self.dismiss(("reverse", str(self._list.cursor)))

    def action_next(self) -> None:
        """Move to the next order; after the last one to the first."""
        before = self._list.cursor
        self._list.action_move(1)
        if self._list.cursor == before:
            self._list.action_first()
