"""What the tests of commands share: a context without an application, over a real workspace and a pane that read it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from typing import Any

from textual.geometry import Size

from app.tui.commands.interface import ApplyEdit, OpenDialog, Step
from app.tui.keys.registry import BY_ID
from app.tui.shell import panes_by_id
from memory.workspace import Outcome, Workspace
from tests.app.tui.tui_helpers import NOW
from widgets.pane.base import Pane
from widgets.text.glyphs import UNICODE, Glyphs


@dataclass
class CommandContext:
    """A context as commands see it; nothing runs, and no screen is there."""

    workspace: Workspace
    pane: Pane
    environ: Mapping[str, str] = field(default_factory=dict)
    glyphs: Glyphs = UNICODE
    safe: bool = False
    zone: tzinfo = UTC
    size: Size = field(default_factory=lambda: Size(120, 36))
    undone: Sequence[Any] = ()
    lost: Any = None
    left_drafts: Sequence[Any] = ()
    has_jobs: bool = False
    shows_one_pane: bool = False
    way: Sequence[Any] = ()
    views: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def clock(self) -> datetime:
        """The time in all tests."""
        return NOW

    def key_of(self, action_id: str) -> str:
        """The first key of an action."""
        return BY_ID[action_id].keys[0]

    def can_undo_or_redo(self, way: str) -> bool:
        """Nothing was done here yet."""
        return False

    def may_undo_or_redo(self, way: str) -> bool:
        """Nothing was done here yet."""
        return False

    def saved_views(self, pane_id: str) -> dict[str, dict[str, str]]:
        """The kept views of the pane."""
        return {name: dict(view) for name, view in self.views.items()}

    def writing(self) -> AbstractContextManager[None]:
        """Nobody else writes."""
        return nullcontext()

    def trust(self) -> None:
        """Nothing was decided."""

    def services(self, job: object) -> Any:
        """No monitor runs in these tests."""
        raise AssertionError(job)


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


def answered(step: Step, answer: object) -> Step:
    """What follows from an answer to a question."""
    assert isinstance(step, OpenDialog), step
    return step.follow(answer)


def written(context: CommandContext, step: Step) -> Outcome:
    """Write an edit as the application does, under the name that the command gives it."""
    assert isinstance(step, ApplyEdit), step
    assert callable(step.build)
    return context.workspace.change(step.operation, step.build, actor="human", now=NOW)


def text_of(workspace: Workspace, name: str = "tasks.md") -> str:
    """What a file says now."""
    return (workspace.memory / name).read_text("utf-8")
