"""The tasks pane: what is pending, in progress and completed, with what each task says and is linked to."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, ClassVar

from widgets.detail import DetailLine
from widgets.pane import Badge, Build, FormPlan, Pane, Removal
from widgets.pieces import Line
from widgets.rows import Heading, Note
from widgets.task_words import task_row

if TYPE_CHECKING:
    from memory.files.snapshot import Snapshot
    from memory.files.tasks import Task

SECTIONS = (("pending", "PENDING"), ("in-progress", "IN PROGRESS"), ("completed", "COMPLETED"))
"""The sections of tasks.md and what they are called here."""

PRIORITIES = ("HIGH", "NORMAL", "LOW")
"""Priorities, the most urgent first."""


class TasksPane(Pane):
    """Tasks by section, in the order of the file."""

    pane_id: ClassVar[str] = "tasks"
    number: ClassVar[str] = "2"
    title: ClassVar[str] = "Tasks"
    files: ClassVar[tuple[str, ...]] = ("tasks.md",)
    empty: ClassVar[str] = "What there is to do, for people and agents.\n\nPress {entry.add|a} to add the first task."
    sorts: ClassVar[tuple[str, ...]] = ("file order", "due", "priority", "title")
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
    item_name: ClassVar[str] = "task"

    def rows(self, snapshot: Snapshot, now: datetime) -> Sequence[Any]:  # noqa: ARG002
        """A heading per section, then its tasks."""
        tasks = snapshot.tasks
        rows: list[Any] = []
        for name, title in SECTIONS:
            found = tasks.in_section(name)
            if found:
                if rows:
                    rows.append(Note(number=len(rows)))
                rows.append(Heading(title, str(len(found))))
                rows.extend(found)
        return rows

    def remark(self, snapshot: Snapshot, now: datetime) -> str:  # noqa: ARG002
        """How many wait."""
        return f"{len(snapshot.tasks.in_section('pending'))} pending"

    @classmethod
    def badge(cls, snapshot: Snapshot, now: datetime) -> Badge:  # noqa: ARG003
        """How many are open."""
        tasks = snapshot.tasks
        return Badge(len(tasks.in_section("pending")) + len(tasks.in_section("in-progress")))

    def draw_row(self, item: Task, width: int) -> Line:
        """Priority, title, when or how far."""
        return task_row(item, width, self.now, self.zone, self.glyphs)

    def detail(self, item: Task) -> Sequence[DetailLine]:
        """Every field, then what else stands in the entry."""
        from .task_detail import task_detail

        return task_detail(item, self.now, self.zone, self.glyphs)

    def field_text(self, item: Task, name: str) -> str:
        """The value of a field for `name:value`."""
        match name:
            case "tag":
                return ", ".join(item.tags)
            case "due":
                state = item.due_state(self.now, self.zone)
                return f"{state or ''} {item.due or ''} {item.recurring or ''}".strip()
            case _:
                return super().field_text(item, name)

    def sort_key(self, item: Task, name: str) -> Any:
        """By due date (none last), priority, or title."""
        match name:
            case "due":
                moment = item.due_moment(self.zone)
                return (moment is None, moment.due_at(self.zone).timestamp() if moment else 0)
            case "priority":
                return PRIORITIES.index(item.priority) if item.priority in PRIORITIES else len(PRIORITIES)
            case _:
                return item.title.casefold()

    def adding(self, now: datetime) -> FormPlan | None:
        """The form of a new task."""
        from .task_forms import adding

        assert self.snapshot is not None
        return adding(self.snapshot, now)

    def editing(self, item: Task, now: datetime) -> FormPlan | None:
        """The form of a task."""
        from .task_forms import editing

        assert self.snapshot is not None
        return editing(self.snapshot, item, now)

    def removing(self, items: Sequence[Task]) -> Removal | None:
        """Remove tasks, all in one change."""
        from memory.files.task_edits import remove_task

        from .chain import chain, question

        refs = [item.ref for item in items]

        def build(now: datetime) -> Build:
            return chain([lambda snapshot, ref=ref: remove_task(snapshot, ref, now=now) for ref in refs])

        return Removal(*question("task", [item.title for item in items]), build, "tasks.remove")

    def from_source(self, item: Task, text: str, now: datetime) -> Build | None:
        """Replace the task's source."""
        from memory.files.task_edits import replace_task_text

        ref, base = item.ref, item.entry
        return lambda snapshot: replace_task_text(snapshot, ref, text, base=base, now=now)
