"""Finder: what screens share in which a line is typed above a list; keys move the list's cursor while one types."""

from __future__ import annotations

from textual.binding import Binding
from textual.widgets import Input

from widgets.input.editors import SafeInput
from widgets.list.line_list import LineList

from .dialogs import Modal


def finder_bindings(prefix: str, noun: str) -> list[Binding]:
    """Return the keys that move in a list of `noun`s; their ids begin with `prefix`."""
    keys = (
        ("down,ctrl+n", "move(1)", "down", f"The next {noun}"),
        ("up,ctrl+p", "move(-1)", "up", f"The previous {noun}"),
        ("pagedown", "page(1)", "page down", "A page down"),
        ("pageup", "page(-1)", "page up", "A page up"),
    )
    return [
        Binding(key, action, words, id=f"{prefix}.{words.replace(' ', '_')}", tooltip=tooltip, show=False)
        for key, action, words, tooltip in keys
    ]


class Finder(Modal):
    """Mixin of screens with a `SafeInput` and a `LineList`; they list rows for a text, and choose."""

    @property
    def listed(self) -> LineList:
        """The list."""
        return self.query_one(LineList)

    @property
    def text(self) -> str:
        """The typed text."""
        return self.query_one(SafeInput).text

    def on_mount(self) -> None:
        """Type into the line."""
        self.query(SafeInput).focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        """List the rows that fit the typed text."""
        event.stop()
        self.typed()

    def typed(self) -> None:
        """List the rows that fit the typed text."""
        raise NotImplementedError

    def action_move(self, step: int) -> None:
        """Move the cursor of the list."""
        self.listed.action_move(step)

    def action_page(self, pages: int) -> None:
        """Move the cursor of the list by pages."""
        self.listed.action_page(pages)

    def action_choose(self) -> None:
        """Choose the row under the cursor."""
        raise NotImplementedError

    def on_line_list_opened(self, event: LineList.Opened) -> None:
        """Choose with a double click."""
        event.stop()
        self.action_choose()
