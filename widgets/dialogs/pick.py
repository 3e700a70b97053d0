"""Pick: a dialog with a list of things, one of which is taken."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen

from memory.base.safe_text import cell_width, visible
from widgets.chrome.footer import KeyHints
from widgets.input.editors import SafeText
from widgets.list.line_list import LineList
from widgets.list.rows import Heading, Note
from widgets.text.styled_text import Line, Piece, line, pad_line

from .dialogs import DIALOG_CSS, Dialog


@dataclass(frozen=True, slots=True)
class PickOption:
    """One thing that can be chosen: `id` is what comes back, `marked` says that it is so now.

    `group` is the heading that it stands under; `removable` lets `x` take it away.
    """

    id: str
    label: str
    note: str = ""
    group: str = ""
    marked: bool = False
    removable: bool = False


class Pick(Dialog, ModalScreen["tuple[str, str] | None"]):
    """Gives `("take", id)`, `("remove", id)`, or None when it was left."""

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
        """`looked` hears the id under the cursor as it moves, to show what taking it would do."""
        super().__init__()
        self._looked = looked
        self._title = title
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

    def compose(self) -> ComposeResult:
        """The title, the list, the keys."""
        with Vertical(classes="dialog"):
            yield SafeText(self._title, classes="dialog--title")
            yield self._list
            yield KeyHints(indent=0)

    def on_mount(self) -> None:
        """Begin at what is so now."""
        marked = next((option.id for option in self._options.values() if option.marked), None)
        if marked is not None:
            self._list.cursor = marked
        self._list.focus()

    def _current(self) -> PickOption | None:
        return None if self._list.cursor is None else self._options[str(self._list.cursor)]

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        """Only what somebody made can be taken away."""
        option = self._current()
        return action != "remove" or (option is not None and option.removable)

    def on_line_list_highlighted(self, event: LineList.Highlighted) -> None:
        """The keys that mean something may be others."""
        event.stop()
        self.refresh_bindings()
        if self._looked is not None and event.key is not None and self.is_current:
            self._looked(str(event.key))

    def on_line_list_opened(self, event: LineList.Opened) -> None:
        """Enter, or a double click."""
        event.stop()
        self.action_take()

    def action_take(self) -> None:
        """Take what is under the cursor."""
        if self._list.cursor is not None:
            self.dismiss(("take", str(self._list.cursor)))

    def action_remove(self) -> None:
        """Take it away."""
        if self._list.cursor is not None:
            self.dismiss(("remove", str(self._list.cursor)))

    def action_leave(self) -> None:
        """Choose nothing."""
        self.dismiss(None)


class Orders(Pick):
    """A menu of orders; gives `("reverse", id)` as well. The key that opened it goes on to the next one."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("r", "reverse", "reverse", id="orders.reverse", tooltip="Take it, or turn it round once more"),
        Binding("S", "next", "next", id="orders.next", tooltip="Go to the next order", show=False),
    ]

    def action_reverse(self) -> None:
        """Take it turned round."""
        if self._list.cursor is not None:
            self.dismiss(("reverse", str(self._list.cursor)))

    def action_next(self) -> None:
        """The next order; after the last one the first."""
        before = self._list.cursor
        self._list.action_move(1)
        if self._list.cursor == before:
            self._list.action_first()
