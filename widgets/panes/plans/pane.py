"""The plans pane: a tree of plans, their phases and each task with its state."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar

from memory.files.plans.model import Plan
from memory.files.plans.parts import PlanTask
from memory.files.snapshot import Snapshot
from widgets.detail import DetailLine, Labelled, Lines, Link, Spacer, Title
from widgets.list.line_list import LineList
from widgets.list.outline import INDENT, Branch, OutlinePane
from widgets.list.rows import Heading, Note
from widgets.pane.base import Badge
from widgets.pane.rows import RowKey
from widgets.pane.unread import unread_rows
from widgets.panes.titled_row import TitledRow
from widgets.text.styled_text import Column, Columns, Line, Piece, line, line_width
from widgets.text.words import progress_line

from .detail import STATE_TONES, is_done, phase_name, phase_words, plan_detail, state_sign

SECTIONS = (("active", "ACTIVE"), ("completed", "COMPLETED"))
"""The sections of orchestration.md and their names here."""

PLAN = Columns(Column("title", minimum=12), Column("state", 13, "right", importance=1))
"""The columns of a plan or a task: its title, and its state or progress."""


@dataclass(frozen=True, slots=True)
class PlanRow(TitledRow):
    """One task of a plan, as a row of its tree."""

    plan: Plan
    task: PlanTask


class PlansPane(OutlinePane):
    """Plans with their phases and tasks, active ones first; agents write them, this pane only shows them."""

    pane_id: ClassVar[str] = "plans"
    title: ClassVar[str] = "Plans"
    files: ClassVar[tuple[str, ...]] = ("orchestration.md",)
    empty: ClassVar[str] = (
        "Work that agents split over several projects: each plan with its phases, its tasks and how far they are.\n\n"
        "An agent that writes a plan to orchestration.md makes it appear here."
    )
    filter_fields: ClassVar[tuple[str, ...]] = ("status", "project", "phase", "id")
    item_name: ClassVar[str] = "plan"

    DEFAULT_CSS: ClassVar[str] = """
    PlansPane {
        & > .pane--list-frame { width: 11fr; }
        & > .pane--detail-frame { width: 9fr; }
    }
    """

    def rows(self, snapshot: Snapshot, now: datetime) -> Sequence[Any]:  # noqa: ARG002
        """Active plans, then completed ones, each with its phases and their tasks."""
        rows: list[Any] = []
        groups: dict[str, list[Any]] = {}
        for plan in snapshot.plans.plans:
            if plan.heading is not None:
                groups.setdefault(plan.heading.strip() or "NO HEADING", []).append(plan)
        known = [plan for plan in snapshot.plans.plans if plan.heading is None]
        sections = [(title, [plan for plan in known if plan.section == section]) for section, title in SECTIONS]
        for title, plans in (*groups.items(), *sections):
            if not plans:
                continue
            if rows:
                rows.append(Note(number=len(rows)))
            wrong = plans[0].heading is not None
            rows.append(Heading(title, f"{len(plans)}  not a plan section" if wrong else str(len(plans))))
            for number, plan in enumerate(plans):
                if number:
                    rows.append(Note(number=len(rows)))
                rows.append(plan)
                rows.extend(_tree(plan))
        return [*rows, *unread_rows("orchestration.md", snapshot, "not read as a plan", first=len(rows))]

    def remark(self, snapshot: Snapshot, now: datetime) -> str:  # noqa: ARG002
        """How many plans are active, completed and failed."""
        counts = snapshot.plans.counts
        ended = [f"{counts[word]} {word}" for word in ("completed", "failed") if counts[word]]
        return ", ".join((f"{counts['active']} active", *ended))

    @classmethod
    def badge(cls, snapshot: Snapshot, now: datetime) -> Badge:  # noqa: ARG003
        """How many plans are active; a blocked or failed one needs attention."""
        stuck = any(
            (plan.status or "").casefold() in ("blocked", "failed")
            for plan in snapshot.plans.plans
            if plan.section == "active"
        )
        return Badge(snapshot.plans.counts["active"], stuck)

    # The tree

    def depth(self, item: Any) -> int:
        """Plan, phase, task."""
        if isinstance(item, Branch):
            return 1
        return 2 if isinstance(item, PlanRow) else 0

    def folds(self, item: Any) -> bool:
        """Plans and phases hold tasks."""
        return bool(item.count) if isinstance(item, Branch) else not isinstance(item, PlanRow) and bool(item.tasks)

    def mark(self, item: Any) -> Hashable:
        """A task is unchanged while its data in the plan is."""
        if isinstance(item, PlanRow):
            return item.ref, repr(item.task)
        return super().mark(item)

    def counts(self, item: Any) -> bool:
        """Whether an item is counted: plans and their tasks."""
        return not isinstance(item, Branch)

    def text(self, item: Any) -> str:
        """A task is found by everything in its row and by its plan's title."""
        if isinstance(item, Branch):
            return item.title
        if isinstance(item, PlanRow):
            task = item.task
            return f"{task.id} {task.title} {task.project} {task.status} {item.plan.title} {item.plan.plan_id}"
        return f"{item.title} {item.plan_id} {item.status} {' '.join(item.projects)}"

    def field_text(self, item: Any, name: str) -> str:
        """The fields of tasks and plans."""
        if isinstance(item, PlanRow):
            return str(getattr(item.task, name, None) or "")
        if name == "id" and not isinstance(item, Branch):
            return item.plan_id or ""
        if name == "project" and not isinstance(item, Branch):
            return " ".join(item.projects)
        return super().field_text(item, name)

    def draw_row(self, item: Any, width: int) -> Line:
        """Draw a plan with its bar, a phase with its count of done tasks, or a task with its state."""
        if isinstance(item, PlanRow):
            return self._step_row(item.task, width)
        indent = self.indent(item)
        left = line_width(line(indent))
        if isinstance(item, Branch):
            cells: dict[str, str | Piece | Line] = {
                "title": Piece(item.title, "muted"),
                "state": Piece(item.note, "muted"),
            }
        else:
            bar: Line = () if item.progress is None else progress_line(item.progress, self.glyphs)
            cells = {
                "title": line(state_sign(item.status, self.glyphs), " ", Piece(item.title, "strong")),
                "state": bar,
            }
        return line(indent, PLAN.line(max(0, width - left), cells))

    def _step_row(self, task: PlanTask, width: int) -> Line:
        status = (task.status or "").casefold()
        done = is_done(task)
        state: Line = line(Piece(task.status or "", STATE_TONES.get(status, "plain")))
        if task.progress is not None and 0 < task.progress < 100 and not done:
            state = progress_line(task.progress, self.glyphs)
        elif done or status == "pending":
            state = ()
        lead = line(" " * (2 * INDENT), state_sign(task.status, self.glyphs), " ")
        name = line(Piece(f"{task.id:<3}  ", "muted"), Piece(task.title, "muted" if done else "plain"))
        if not state:
            return line(lead, name)
        return line(lead, PLAN.line(max(0, width - line_width(lead)), {"title": name, "state": state}))

    # The detail

    def place(self, item: Any) -> str:
        """A task has the name of its plan."""
        return super().place(item.plan) if isinstance(item, PlanRow) else super().place(item)

    def detail(self, item: Any) -> Sequence[DetailLine]:
        """A plan in full, a phase's tasks, or one task."""
        if isinstance(item, Branch):
            return [Title(item.title), Spacer(), Labelled("done", item.note)]
        if not isinstance(item, PlanRow):
            return plan_detail(item, self.now, self.zone, self.glyphs)
        task = item.task
        status = (task.status or "").casefold()
        sign = line(
            state_sign(task.status, self.glyphs),
            " ",
            Piece(task.status or "no status", STATE_TONES.get(status, "plain")),
        )
        lines: list[DetailLine] = [Title(item.title), Lines((sign,)), Spacer()]
        if task.progress is not None:
            lines.append(Labelled("progress", progress_line(task.progress, self.glyphs, 12)))
        lines += [
            Labelled(label, value)
            for label, value in (
                ("plan", item.plan.title),
                ("id", task.id),
                ("project", task.project),
                ("phase", task.phase or ""),
                ("time", f"{task.minutes:g} min" if task.minutes else ""),
            )
            if value
        ]
        titles = {other.id: other for other in item.plan.tasks}
        for number, name in enumerate(task.depends_on):
            other = titles.get(name)
            label = "depends on" if number == 0 else ""
            if other is None:
                lines.append(Labelled(label, f"{name}, which the plan does not have", "warn"))
            else:
                lines.append(Labelled(label, line(state_sign(other.status, self.glyphs), f" {name} {other.title}")))
        return lines

    def links(self, item: Any) -> Sequence[Link]:
        """A task of a plan is linked as its plan is."""
        return () if isinstance(item, Branch) else super().links(item.plan if isinstance(item, PlanRow) else item)

    def on_line_list_opened(self, event: LineList.Opened) -> None:
        """Fold a plan on Enter; where its detail has little room, open the detail instead, which scrolls there."""
        item = event.key.item if isinstance(event.key, RowKey) else None
        little = self.has_class("-single") or self.has_class("-stacked")
        if little and item is not None and not isinstance(item, Branch | PlanRow):
            event.stop()
            event.prevent_default()
            self.open_detail()

    def source_text(self, item: Any) -> str | None:
        """The source of the plan."""
        return super().source_text(item.plan if isinstance(item, PlanRow) else item)


def _tree(plan: Plan) -> list[Any]:
    rows: list[Any] = []
    number = 0
    for place, phase in enumerate(plan.phases):
        name, note = phase_name(phase.name), phase_words(phase.tasks)
        rows.append(Branch(f"{plan.ref}/{place}", name, 1, len(phase.tasks), note, "phase", plan.title))
        for task in phase.tasks:
            rows.append(PlanRow(f"{plan.ref}/{number}/{task.id}", str(task.title or task.id or ""), plan, task))
            number += 1
    return rows
