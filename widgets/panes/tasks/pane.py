"""The tasks pane: pending, in-progress and completed tasks, each with its fields and links."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, ClassVar

from memory.base.clock import BadMoment
from memory.files.tasks.due_filter import STATES, days_asked, due_when
from widgets.detail import DetailLine
from widgets.pane.base import Badge, Build, FormPlan, Removal
from widgets.text.styled_text import Line, Piece, line
from widgets.text.words import card_line, task_row

from .views import TaskViews

if TYPE_CHECKING:
    from memory.files.snapshot import Snapshot
    from memory.files.tasks.model import Task

WIDE_ENOUGH = 40
"""Cells from which a row shows how urgent its task is."""


class TasksPane(TaskViews):
    """Tasks by section in file order, or grouped and sorted as the person chose."""

    pane_id: ClassVar[str] = "tasks"
    title: ClassVar[str] = "Tasks"
    files: ClassVar[tuple[str, ...]] = ("tasks.md",)
    empty: ClassVar[str] = "What there is to do, for people and agents.\n\nPress {entry.add|a} to add the first task."
    filter_fields: ClassVar[tuple[str, ...]] = (
        "title",
        "tag",
        "priority",
        "assigned",
        "due",
        "section",
        "notes",
        "action",
    )
    filter_values: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "priority": ("high", "normal", "low"),
        "section": ("pending", "in-progress", "completed"),
    }
    item_name: ClassVar[str] = "task"

    def remark(self, snapshot: Snapshot, now: datetime) -> str:  # noqa: ARG002
        """How many are open, as the sidebar counts them."""
        return f"{_open(snapshot):,} open"

    @classmethod
    def badge(cls, snapshot: Snapshot, now: datetime) -> Badge:  # noqa: ARG003
        """How many are open; tasks under a heading that is no section need attention."""
        return Badge(_open(snapshot), any(task.heading is not None for task in snapshot.tasks))

    def draw_row(self, item: Task, width: int) -> Line:
        """Draw priority, title, and date or progress; also the urgency if rows are sorted by it."""
        if self.sort == "urgency" and width >= WIDE_ENOUGH:
            from memory.files.tasks.urgency import urgency_of

            points = urgency_of(item, self.now, self.zone)
            rest = task_row(item, width - 6, self.now, self.zone, self.glyphs)
            return line(Piece(f"{points:>4.1f}  " if points else " " * 6, "muted"), rest)
        return task_row(item, width, self.now, self.zone, self.glyphs)

    def draw_card(self, item: Task, number: int, width: int) -> Line:
        """Draw the title; date, progress and assignee; a blank line."""
        return card_line(item, number, width, self.now, self.zone, self.glyphs)

    def detail(self, item: Task) -> Sequence[DetailLine]:
        """Every field, then the rest of the entry."""
        from .detail import task_detail

        return task_detail(item, self.now, self.zone, self.glyphs)

    def field_text(self, item: Task, name: str) -> str:
        """The value of a field for `name:value`."""
        match name:
            case "tag":
                return ", ".join(item.tags)
            case "due":
                state = item.due_state(self.now, self.zone)
                return f"{state or ''} {item.due or ''} {item.recurring or ''}".strip()
            case "section" if item.heading is not None:
                return f"{item.section} {item.heading}"
            case _:
                return super().field_text(item, name)

    def field_fits(self, item: Task, name: str, value: str) -> bool | None:
        """Let `due` also accept a day as people write it: `due:2dec`, `due:tomorrow`, `due:next_week`."""
        if name != "due":
            return None
        if value in self.field_text(item, name).casefold():
            return True
        days = days_asked(value.replace("_", " "), self.now.astimezone(self.zone).date())
        moment = item.due_moment(self.zone) if days else None
        return moment is not None and moment.date in days

    def value_words(self, name: str, value: str) -> str:
        """List the possible values; for `due`, what it accepts if the value is no date."""
        if name != "due":
            return super().value_words(name, value)
        try:
            due_when(value.replace("_", " "), self.now, self.zone)
        except BadMoment:
            pass
        else:
            return ""
        return f"due: takes {', '.join(STATES)} or a date such as fri, 2dec or 2024-01-15."

    def adding(self, now: datetime) -> FormPlan | None:
        """The form of a new task."""
        from .forms import adding

        assert self.snapshot is not None
        day = self.calendar.day if self.calendar is not None else None
        return adding(self.snapshot, now, due=day.isoformat() if day is not None else "")

    def editing(self, item: Task, now: datetime) -> FormPlan | None:
        """The form of a task."""
        from .forms import editing

        assert self.snapshot is not None
        return editing(self.snapshot, item, now)

    def removing(self, items: Sequence[Task]) -> Removal | None:
        """Remove tasks, all in one change."""
        from memory.files.tasks.edits import remove_task
        from widgets.pane.removing import question

        refs = [item.ref for item in items]

        def build(now: datetime) -> Build:
            return lambda snapshot: remove_task(snapshot, refs, now=now)

        return Removal(*question("task", [item.title for item in items]), build, "tasks.remove")

    def from_source(self, item: Task, text: str, now: datetime) -> Build | None:
        """Replace the task's source."""
        from memory.files.tasks.edits import replace_task_text

        ref, base = item.ref, item.entry
        return lambda snapshot: replace_task_text(snapshot, ref, text, base=base, now=now)


def _open(snapshot: Snapshot) -> int:
    return len(snapshot.tasks.open)
