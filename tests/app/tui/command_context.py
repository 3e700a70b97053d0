"""What the tests of commands share: what they use of the application, over a real workspace and a pane that read it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from typing import Any, NamedTuple

from textual.geometry import Size

from app.tui.commands.conditions import Situation
from app.tui.commands.table import BY_ID
from app.tui.state import State, panes_by_id
from memory.workspace import Outcome, Workspace
from tests.app.tui.tui_helpers import NOW
from widgets.pane.base import Pane
from widgets.text.glyphs import UNICODE, Glyphs


class Done(NamedTuple):
    """What a command did, by the name of the method of a part of the application."""

    name: str
    arguments: tuple[Any, ...]
    options: dict[str, Any]


@dataclass
class CommandContext:
    """The application as commands see it; nothing runs, and no screen is there."""

    shown_workspace: Workspace
    shown_pane: Pane
    environ: Mapping[str, str] = field(default_factory=dict)
    glyphs: Glyphs = UNICODE
    safe: bool = False
    zone: tzinfo = UTC
    size: Size = field(default_factory=lambda: Size(120, 36))

    def clock(self) -> datetime:
        """The time in all tests."""
        return NOW

    def key_of(self, action_id: str) -> str:
        """The first key of an action."""
        return BY_ID[action_id].keys[0]

    @property
    def pane(self) -> Pane:
        """The open pane."""
        return self.shown_pane

    @property
    def situation(self) -> Situation:
        """The open pane and its selection."""
        state = State(self.shown_workspace)
        state.open = self.shown_pane
        return Situation(state)

    def __getattr__(self, name: str) -> Any:
        """What commands do is only recorded."""
        return lambda *arguments, **options: Done(name, arguments, options)


def context_over(workspace: Workspace, pane_id: str, *titles: str) -> CommandContext:
    """A context with a pane over the files, the cursor on the first of the titles, all selected if there are more."""
    pane = panes_by_id()[pane_id].load()()
    contents = pane.read(workspace.snapshot(), NOW)
    pane.contents, pane.snapshot, pane.now, pane.zone = contents, contents.snapshot, NOW, UTC
    pane.arrangement.put(contents.rows, contents.order)
    pane.line_list.set_rows(contents.rows.keys)
    rows = [row for title in titles for row in contents.rows.rows if row.item.title == title]
    assert len(rows) == len(titles)
    if rows:
        pane.line_list.cursor = rows[0]
    if len(rows) > 1:
        pane.line_list.select(rows)
    return CommandContext(workspace, pane)


def answered(done: Done, answer: object) -> Any:
    """What follows from an answer to a question."""
    assert done.name == "ask", done
    left = done.options.get("left", lambda: None)
    return left() if answer is None or answer is False else done.arguments[1](answer)


def written(context: CommandContext, done: Done) -> Outcome:
    """Write an edit as the application does, under the name that the command gives it."""
    assert done.name == "change", done
    operation, build = done.arguments
    return context.shown_workspace.change(operation, build, actor="human", now=NOW)


def text_of(workspace: Workspace, name: str = "tasks.md") -> str:
    """What a file says now."""
    return (workspace.memory / name).read_text("utf-8")
