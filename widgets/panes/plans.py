"""The plans pane: a tree of plans, their phases and each task with its state."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, tzinfo
from typing import Any, ClassVar

from memory.files.plans.model import STATUSES, Plan, PlanTask, progress_of
from memory.files.snapshot import Snapshot
from widgets.detail import Labelled, Lines, Prose
from widgets.input.fields import FieldSpec
from widgets.list.rows import Heading
from widgets.pane.base import Badge, FormPlan, Pane
from widgets.pane.operation_form import add_form_of, edit_form_of
from widgets.pane.records import Record, RecordPane
from widgets.text.glyphs import Glyphs
from widgets.text.styled_text import Column, Columns, Content, Line, Piece, Tone, line
from widgets.text.words import dated, progress_line

SECTIONS = (("active", "ACTIVE"), ("completed", "COMPLETED"))
"""The sections of orchestration.md and their names here."""

ROW = Columns(Column("sign", 1, importance=9), Column("title", minimum=12), Column("state", 11, "right", importance=1))
"""The columns of a plan, phase or task: its title, and its state or progress."""

STATES: dict[str, tuple[str, Tone]] = {
    "completed": ("check", "muted"), "done": ("check", "muted"), "pending": ("circle", "muted"),
    "planning": ("circle", "plain"), "running": ("half", "plain"), "blocked": ("alert", "warn"),
    "failed": ("cross", "alert"),
}  # fmt: skip
"""The sign and the tone of each state; only blocked and failed ones have a colour."""

LABELS = {"currentPhase": "phase", "planId": "id", "dependsOn": "depends on"}
"""The labels of fields that differ from their names."""
ABOUT = {
    "status": "planning, running, blocked, completed, failed or another word.",
    "currentPhase": "The phase that is worked on.",
    "projects": "The projects that take part, separated by commas.",
    "planId": "The name by which tasks belong to the plan (orchestrationId).",
    "dependsOn": "The ids of the tasks that come first, separated by commas.",
    "text": "Goes below the fields, such as the table of its tasks.",
}
"""What fields are for, where their labels do not say it."""

EDITED = ("title", "status", "currentPhase", "projects", "planId")
TASK_EDITED = ("title", "project", "phase", "dependsOn", "status", "progress")
"""The fields of the forms of a plan and of one of its tasks."""


class PlansPane(RecordPane):
    """Plans with their phases and tasks, active ones first."""

    beside_from: ClassVar[int] = Pane.beside_from
    pane_id: ClassVar[str] = "plans"
    title: ClassVar[str] = "Plans"
    files: ClassVar[tuple[str, ...]] = ("orchestration.md",)
    unread: ClassVar[str] = "not read as a plan"
    empty: ClassVar[str] = (
        "Work that agents split over several projects: each plan with its phases, its tasks and their progress.\n\n"
        "A plan that an agent writes to orchestration.md appears here; {entry.add|a} adds one."
    )
    filter_fields: ClassVar[tuple[str, ...]] = ("status", "project", "phase", "id")
    item_name: ClassVar[str] = "plan"
    removes: ClassVar[str] = "orchestration remove"

    def records(self, snapshot: Snapshot, now: datetime) -> Iterator[Any]:  # noqa: ARG002
        """Yield active plans, then completed ones, each with its phases and their tasks."""
        known = [title for _, title in SECTIONS]
        groups: dict[str, list[Plan]] = {}
        for plan in snapshot.plans.items:
            title = dict(SECTIONS)[plan.section] if plan.heading is None else plan.heading.strip() or "NO HEADING"
            groups.setdefault(title, []).append(plan)
        for title, plans in sorted(groups.items(), key=lambda one: known.index(one[0]) if one[0] in known else -1):
            yield Heading(title, str(len(plans)) if title in known else f"{len(plans)}  not a plan section")
            for plan in plans:
                yield from _tree(plan)

    def remark(self, snapshot: Snapshot, now: datetime) -> str:  # noqa: ARG002
        """Return how many plans are active, completed and failed."""
        counts = snapshot.plans.counts
        ended = [f"{counts[word]} {word}" for word in ("completed", "failed") if counts[word]]
        return ", ".join((f"{counts['active']} active", *ended))

    @classmethod
    def badge(cls, snapshot: Snapshot, now: datetime) -> Badge:  # noqa: ARG003
        """Return how many plans are active; a blocked or failed one needs attention."""
        active = [plan for plan in snapshot.plans.items if plan.section == "active"]
        stuck = any((plan.status or "").casefold() in ("blocked", "failed") for plan in active)
        return Badge(snapshot.plans.counts["active"], stuck)

    def place(self, item: Record) -> str:
        """Return the ref of the plan."""
        return "" if item.group else str(item.thing.ref)

    def cells(self, item: Record) -> Mapping[str, Content]:
        """Return a plan with its bar, a phase with its count of done tasks, or a task with its state."""
        plan, task = item.thing, task_of(item)
        if task is not None:
            title = line(
                Piece(f"{task.id:<3}  ", "muted"), Piece(task.title, "muted" if task.share == 100 else "plain")
            )
            return {"title": title, "state": _state(task, self.glyphs)}
        if item.group:
            return {"title": Piece(item.title, "muted"), "state": Piece(item.about, "muted")}
        bar: Line = () if plan.progress is None else progress_line(plan.progress, self.glyphs)
        return {"title": line(_sign(plan.status, self.glyphs), " ", Piece(item.title, "strong")), "state": bar}

    def told(self, item: Record) -> Mapping[str, Any]:
        """Return a plan in full, how many tasks of a phase are done, or one task."""
        task = task_of(item)
        if item.group:
            return {"done": item.about}
        return plan_told(item.thing, self.now, self.zone, self.glyphs) if task is None else self._task_told(item, task)

    def _task_told(self, item: Record, task: PlanTask) -> Mapping[str, Any]:
        glyphs, titles = self.glyphs, {other.id: other for other in item.thing.tasks}
        needed = [
            Labelled("", f"{name}, which the plan does not have", "warn")
            if name not in titles
            else Labelled("", line(_sign(titles[name].status, glyphs), f" {name} {titles[name].title}"))
            for name in task.depends_on
        ]
        return {
            "state": Lines((line(_sign(task.status, glyphs), " ", Piece(task.status or "no status", item.tone)),)),
            "progress": None if task.progress is None else progress_line(task.progress, glyphs, 12),
            "plan": item.thing.title,
            "id": task.id,
            "project": task.project,
            "phase": task.phase,
            "time": f"{task.minutes:g} min" if task.minutes else "",
            "depends on": needed,
        }

    # What can be done

    def adding(self, now: datetime) -> FormPlan | None:  # noqa: ARG002
        """Return the form of a new plan."""
        fields = [*_fields({"status": "planning"}, ("title", "status", "projects", "planId"))]
        fields.append(FieldSpec("text", "text", "multiline", about=ABOUT["text"]))
        return add_form_of("orchestration add", "New plan", fields, "title")

    def editing(self, item: Record, now: datetime) -> FormPlan | None:  # noqa: ARG002
        """Return the form of a plan or of one of its tasks."""
        if item.group:
            return None
        plan, task = item.thing, task_of(item)
        names = EDITED if task is None else TASK_EDITED

        def values(plan: Plan) -> dict[str, str] | None:
            if task is None:
                return {"title": plan.title, **{name: plan.text_of(name) or "" for name in names[1:]}}
            known = next((one.json() for one in plan.tasks if one.id == task.id), None)
            return known and {name: _text(known[name]) for name in names}

        fixed = {} if task is None else {"task": task.id}
        title = "Edit plan" if task is None else f"Edit task {task.id}"
        fields = _fields(values(plan) or {}, names)
        return edit_form_of("orchestration edit", title, plan, fields, values=values, **fixed)

    def removed_by(self, item: Record) -> Mapping[str, str] | None:
        """Return the ref of a plan; its phases and tasks go with it."""
        return None if item.depth else super().removed_by(item)


def _tree(plan: Plan) -> Iterator[Record]:
    values = {"id": plan.plan_id or "", "status": plan.status or "", "project": " ".join(plan.projects)}
    yield Record(plan.ref, plan.title, folds=bool(plan.tasks), values=values, thing=plan, columns=ROW,
                 mark=plan.entry.raw.rstrip())  # fmt: skip
    number = 0
    for place, phase in enumerate(plan.phases):
        about = f"{sum(task.share == 100 for task in phase.tasks)} of {len(phase.tasks)}"
        yield Record(f"{plan.ref}/{place}", phase_name(phase.name), about=about, depth=1, folds=bool(phase.tasks),
                     group=True, thing=plan, columns=ROW)  # fmt: skip
        for task in phase.tasks:
            told = {"id": task.id, "status": task.status, "project": task.project, "phase": task.phase}
            sign, tone = state_of(task.status)
            yield Record(
                f"{plan.ref}/{number}/{task.id}", str(task.title or task.id or ""), depth=2, sign=sign,
                tone="muted" if task.share == 100 else tone, columns=ROW, mark=repr(task), thing=plan,
                words=plan.title, values={key: text or "" for key, text in told.items()} | {"number": str(number)},
            )  # fmt: skip
            number += 1


def task_of(item: Record) -> PlanTask | None:
    """Return the task of a plan that a row shows; None for a plan or a phase."""
    if "number" not in item.values:
        return None
    tasks: list[PlanTask] = [task for phase in item.thing.phases for task in phase.tasks]
    return tasks[int(item.values["number"])]


def plan_told(plan: Plan, now: datetime, zone: tzinfo, glyphs: Glyphs) -> Mapping[str, Any]:
    """Return state and progress of a plan, its dates, one bar per phase, and its problems."""
    state = line(_sign(plan.status, glyphs), " ", Piece(plan.status or "no status", state_of(plan.status)[1]))
    shares = [(phase_name(one.name), progress_of(one.tasks) or 0) for one in plan.phases]
    problems = [one for one in plan.problems if one.level != "note"]
    # Shares count by the estimated minutes of tasks, not by their number.
    weighted = Piece(" of the estimated time" if any(task.minutes for task in plan.tasks) else "", "muted")
    bars = () if plan.progress is None else (line(*progress_line(plan.progress, glyphs, 8), weighted),)
    stated = "" if plan.stated_progress in (None, plan.progress) else f"{plan.stated_progress}% in the file"
    return {
        "state": Lines((state, *bars)),
        "phase": plan.current_phase,
        "projects": ", ".join(plan.projects),
        "created": dated(plan.created, now, zone),
        "completed": dated(plan.completed, now, zone),
        "plan": plan.plan_id,
        "stated": stated,
        "phases": [Labelled(name, progress_line(share, glyphs, 12)) for name, share in shares],
        "problems": [Prose(f"{glyphs.alert} line {one.line + 1}: {one.message}", tone="warn") for one in problems],
    }


def state_of(status: str | None) -> tuple[str, Tone]:
    """Return the name of the glyph of a state, and its tone."""
    return STATES.get((status or "").casefold(), ("dot", "plain"))


def _sign(status: str | None, glyphs: Glyphs) -> Piece:
    sign, tone = state_of(status)
    return Piece(getattr(glyphs, sign), tone)


def _state(task: PlanTask, glyphs: Glyphs) -> Line:
    if task.share == 100 or (task.status or "").casefold() == "pending":
        return ()
    return progress_line(task.share, glyphs) if task.share else line(Piece(task.status or "", state_of(task.status)[1]))


def phase_name(name: str) -> str:
    """Return `Phase 2` for a phase that only has a number, else its own name."""
    return f"Phase {name}" if name.strip().isdigit() else name or "In no phase"


def _fields(values: Mapping[str, str], names: Sequence[str]) -> list[FieldSpec]:
    """Return the fields of a form; `values` are those to begin with."""
    return [
        FieldSpec(
            name, LABELS.get(name, name), value=values.get(name, ""), required=name == "title",
            suggestions=STATUSES if name == "status" else (), about=ABOUT.get(name, ""),
        )
        for name in names
    ]  # fmt: skip


def _text(value: Any) -> str:
    return ", ".join(value) if isinstance(value, list) else f"{value}%" if isinstance(value, int) else value or ""
