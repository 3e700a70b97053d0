"""The palette: every action with its key, narrowed as you type."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.fuzzy import Matcher
from textual.screen import ModalScreen
from textual.widgets import Input

from widgets.dialogs import DIALOG_CSS, Dialog
from widgets.footer import KeyHints, key_name
from widgets.inputs import SafeInput
from widgets.line_list import LineList
from widgets.pieces import Line, Piece, line, line_width, pad_line
from widgets.typed import after_typing

from .actions import Action
from .keymap import Keymap


class Palette(Dialog, ModalScreen[str | None]):
    """Gives the id of the action that was chosen."""

    DEFAULT_CSS: ClassVar[str] = f"""
    Palette {{
        {DIALOG_CSS}
        align: center top;
        & > .dialog {{ margin-top: 2; height: auto; }}
        &.-low > .dialog {{ margin-top: 0; }}
        LineList {{ height: auto; max-height: 16; margin-top: 1; }}
        &.-low LineList {{ height: 1fr; margin-top: 0; }}
        KeyHints {{ margin-top: 1; }}
        &.-low KeyHints {{ margin-top: 0; }}
    }}
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "choose", "do it", id="palette.choose", tooltip="Do the action", priority=True),
        Binding("escape", "leave", "leave", id="palette.leave", tooltip="Do nothing"),
        Binding("down,ctrl+n", "move(1)", "down", id="palette.down", tooltip="The next action", show=False),
        Binding("up,ctrl+p", "move(-1)", "up", id="palette.up", tooltip="The action before", show=False),
        Binding("pagedown", "page(1)", "page down", id="palette.page_down", tooltip="A page down", show=False),
        Binding("pageup", "page(-1)", "page up", id="palette.page_up", tooltip="A page up", show=False),
    ]

    def __init__(self, actions: Sequence[Action], keymap: Keymap) -> None:
        """`actions`: those that mean something now; `keymap`: the keys that the person chose."""
        super().__init__()
        self._keymap = keymap
        self._actions: dict[Hashable, Action] = {action.id: action for action in actions}

    def compose(self) -> ComposeResult:
        """What is typed, what fits, the keys."""
        with Vertical(classes="dialog"):
            yield SafeInput(placeholder="what to do")
            actions = LineList(self._draw, tuple(self._actions), classes="dialog--body")
            actions.can_focus = False
            yield actions
            yield KeyHints(indent=0)

    def on_mount(self) -> None:
        """Type at once."""
        self.query_one(SafeInput).focus()

    def _draw(self, key: Hashable, width: int) -> Line:
        action = self._actions[key]
        keys = "  ".join(key_name(one) for one in self._keymap.keys(action.id, action.keys))
        right = line(Piece(keys, "accent"))
        left = line(Piece(action.description))
        return line(pad_line(left, max(0, width - line_width(right) - 1)), " ", right)

    def on_input_changed(self, event: Input.Changed) -> None:
        """Narrow, the best first."""
        event.stop()
        listed = self.query_one(LineList)
        query = event.value.strip()
        if not query:
            listed.set_rows(tuple(self._actions), redraw=False)
            return
        matcher = Matcher(query)
        scores = {
            key: max(matcher.match(action.description), matcher.match(action.words))
            for key, action in self._actions.items()
        }
        listed.set_rows(sorted((key for key in scores if scores[key] > 0), key=lambda key: -scores[key]), redraw=False)
        listed.action_first()

    def action_move(self, step: int) -> None:
        """Move in the list."""
        self.query_one(LineList).action_move(step)

    def action_page(self, pages: int) -> None:
        """Move by pages."""
        self.query_one(LineList).action_page(pages)

    def action_choose(self) -> None:
        """Do what the cursor stands on."""
        after_typing(self, self._choose)

    def _choose(self) -> None:
        if not self.is_current:
            return
        cursor = self.query_one(LineList).cursor
        self.dismiss(None if cursor is None else str(cursor))

    def on_line_list_opened(self, event: LineList.Opened) -> None:
        """A double click chooses."""
        event.stop()
        self.dismiss(str(event.key))

    def action_leave(self) -> None:
        """Do nothing."""
        self.dismiss(None)
