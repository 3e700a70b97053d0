"""The palette: every action with its key, narrowed as you type.

Textual's own palette searches in the background: Enter right after the last letter runs what was highlighted before it.
Here keys typed ahead mean the command that their letters name.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input

from widgets.chrome.keys import KeyHints, after_typing, key_name
from widgets.dialogs.dialogs import DIALOG_CSS, Dialog
from widgets.input.editors import SafeInput, SafeText
from widgets.list.line_list import LineList
from widgets.text.styled_text import Line, Piece, line, line_width, pad_line

from .keymap import Keymap
from .registry import Command

NAMES = 18
"""Cells of the column of names, if the box has room for sentences beside it."""

ALSO: dict[str, str] = {
    "change.undo": "revert take back history",
    "change.redo": "again",
    "change.revert": "undo",
    "entry.restore": "unarchive undelete",
    "entry.remove": "delete",
    "entry.add": "new create",
    "entry.source": "editor vim",
    "entry.copy_ref": "yank clipboard",
    "entry.copy": "yank clipboard",
    "entry.history": "versions log",
    "pane.changes": "history log undo",
    "trust.review": "allow consent permission",
    "trust.all": "allow consent permission",
    "trust.workspace": "allow consent permission",
    "run.mute": "silence snooze quiet",
    "run.stop": "cancel kill",
    "task.done": "complete finish close",
    "task.due": "date deadline schedule",
    "task.copy": "copy clone",
    "task.raise": "priority",
    "task.lower": "priority",
    "task.assign": "owner person",
    "app.theme": "color look light dark contrast",
    "app.quit": "exit close",
    "app.help": "keys",
    "app.reload": "refresh",
    "app.search": "find grep",
    "journal.capture": "quick capture note",
    "task.quick": "quick add new todo natural language",
    "view.saved": "saved",
    "upkeep.archive": "clean up",
    "upkeep.prune": "clean up journal",
    "upkeep.maintain": "maintenance clean up",
}
"""Other words by which users search for an action."""


def words_of(text: str) -> list[str]:
    """Return the words of a text in the form in which they are compared."""
    return re.findall(r"[^\W_]+", text.casefold())


def score(query: str, action: Command) -> int:
    """Return how well an action matches the query; 0: not at all.

    Each word of the query must begin a word of the action. Its name counts most, then the beginning of its sentence,
    then its id and synonyms, then the rest of its sentence and its group.
    """
    name, sentence = words_of(action.words), words_of(action.description)
    other = words_of(f"{action.id} {ALSO.get(action.id, '')}")
    total = 0
    for typed in words_of(query):
        if any(word.startswith(typed) for word in name):
            total += 4
        elif sentence and sentence[0].startswith(typed):
            total += 3
        elif any(word.startswith(typed) for word in other):
            total += 2
        elif any(word.startswith(typed) for word in (*sentence, *words_of(action.group))):
            total += 1
        else:
            return 0
    return total


class Palette(Dialog, ModalScreen[str | None]):
    """Returns the id of the action that was chosen."""

    DEFAULT_CSS: ClassVar[str] = f"""
    Palette {{
        {DIALOG_CSS}
        align: center top;
        & > .dialog {{ margin-top: 2; height: auto; max-width: 110; }}
        &.-low > .dialog {{ margin-top: 0; }}
        LineList {{ height: auto; max-height: 16; margin-top: 1; }}
        &.-low LineList {{ height: 1fr; margin-top: 0; }}
        .palette--nothing {{ display: none; margin-top: 1; color: $foreground-muted; }}
        &.-nothing LineList {{ display: none; }}
        &.-nothing .palette--nothing {{ display: block; }}
        &.-low .palette--nothing {{ margin-top: 0; }}
        KeyHints {{ margin-top: 1; }}
        &.-low KeyHints {{ margin-top: 0; }}
    }}
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "choose", "choose", id="palette.choose", tooltip="Do the action", priority=True),
        Binding("escape", "leave", "cancel", id="palette.leave", tooltip="Do nothing"),
        Binding("down,ctrl+n", "move(1)", "down", id="palette.down", tooltip="The next action", show=False),
        Binding("up,ctrl+p", "move(-1)", "up", id="palette.up", tooltip="The action before", show=False),
        Binding("pagedown", "page(1)", "page down", id="palette.page_down", tooltip="A page down", show=False),
        Binding("pageup", "page(-1)", "page up", id="palette.page_up", tooltip="A page up", show=False),
    ]

    def __init__(self, actions: Sequence[Command], keymap: Keymap, recent: Sequence[str] = ()) -> None:
        """`actions`: the available ones; `keymap`: the user's keys; `recent`: the actions chosen before, the latest
        first; they are listed first.
        """
        super().__init__()
        self._keymap = keymap
        known = {action.id: action for action in actions}
        first = [known[name] for name in recent if name in known]
        self._actions: dict[Hashable, Command] = {action.id: action for action in (*first, *actions)}

    def compose(self) -> ComposeResult:
        """The query, the matches, the keys."""
        with Vertical(classes="dialog"):
            yield SafeInput(placeholder="what to do")
            actions = LineList(self._draw, tuple(self._actions), classes="dialog--body")
            actions.can_focus = False
            yield actions
            yield SafeText(classes="palette--nothing")
            yield KeyHints(indent=0)

    def on_mount(self) -> None:
        """Focus the query at once."""
        self.query(SafeInput).focus()

    def _draw(self, key: Hashable, width: int) -> Line:
        action = self._actions[key]
        keys = "  ".join(key_name(one) for one in self._keymap.keys(action.id, action.keys))
        right = line(Piece(keys, "accent"))
        if width < 2 * NAMES + 10:
            left = line(Piece(action.words))
        else:
            left = line(pad_line(line(Piece(action.words)), NAMES), " ", Piece(action.description, "muted"))
        return line(pad_line(left, max(0, width - line_width(right) - 1)), " ", right)

    def on_input_changed(self, event: Input.Changed) -> None:
        """Narrow the list, best matches first."""
        event.stop()
        listed = self.query_one(LineList)
        query = event.value.strip()
        if not query:
            self._say_nothing("")
            listed.set_rows(tuple(self._actions))
            return
        scores = {key: score(query, action) for key, action in self._actions.items()}
        found = sorted((key for key in scores if scores[key]), key=lambda key: -scores[key])
        listed.set_rows(found)
        listed.action_first()
        self._say_nothing("" if found else query)

    def _say_nothing(self, query: str) -> None:
        """Say that nothing matches the query; empty: something does."""
        self.set_class(bool(query), "-nothing")
        if query:
            self.query_one(".palette--nothing", SafeText).say(f"No action fits “{query[:40]}”.")

    def action_move(self, step: int) -> None:
        """Move in the list."""
        self.query_one(LineList).action_move(step)

    def action_page(self, pages: int) -> None:
        """Move by pages."""
        self.query_one(LineList).action_page(pages)

    def action_choose(self) -> None:
        """Do the action under the cursor."""
        after_typing(self, self._choose)

    def _choose(self) -> None:
        if not self.is_current:
            return
        cursor = self.query_one(LineList).cursor
        if cursor is not None:
            self.dismiss(str(cursor))

    def on_line_list_opened(self, event: LineList.Opened) -> None:
        """Choose with a double click."""
        event.stop()
        self.dismiss(str(event.key))
