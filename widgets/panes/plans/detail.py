"""A plan in short and in full: the signs of its states, its progress, its phases."""

from __future__ import annotations

from datetime import datetime, tzinfo

from memory.files.plans.model import Plan
from memory.files.plans.parts import PlanTask
from widgets.detail import Caption, DetailLine, Labelled, Lines, Prose, Spacer, Title
from widgets.text.glyphs import Glyphs
from widgets.text.styled_text import Line, Piece, Tone, line
from widgets.text.words import dated, progress_line

STATE_TONES: dict[str, Tone] = {
    "blocked": "warn",
    "failed": "alert",
    "completed": "muted",
    "done": "muted",
    "pending": "muted",
}
"""The tone of each state; only blocked and failed ones have a colour."""


def state_sign(status: str | None, glyphs: Glyphs) -> Piece:
    """The sign of a plan's or a task's state, one cell."""
    state = (status or "").casefold()
    signs = {
        "completed": glyphs.check,
        "done": glyphs.check,
        "running": glyphs.half,
        "blocked": glyphs.alert,
        "failed": glyphs.cross,
        "pending": glyphs.circle,
        "planning": glyphs.circle,
    }
    return Piece(signs.get(state, glyphs.dot), STATE_TONES.get(state, "plain"))


def is_done(task: PlanTask) -> bool:
    """Whether a task of a plan is completed."""
    return (task.status or "").casefold() in ("completed", "done")


def phase_words(tasks: tuple[PlanTask, ...]) -> str:
    """How many tasks of a phase are done: `2 of 3`."""
    return f"{sum(map(is_done, tasks))} of {len(tasks)}"


def plan_detail(plan: Plan, now: datetime, zone: tzinfo, glyphs: Glyphs) -> list[DetailLine]:
    """Title, state and progress, dates, one bar per phase, and the plan's problems."""
    status = plan.status or "no status"
    first: Line = line(state_sign(plan.status, glyphs), " ", Piece(status, STATE_TONES.get(status, "plain")))
    state: tuple[Line, ...] = (first,)
    if plan.progress is not None:
        state = (*state, progress_line(plan.progress, glyphs, 12))
    parts: list[DetailLine] = [Title(plan.title), Lines(state), Spacer()]
    parts += [
        Labelled(label, value)
        for label, value in (
            ("phase", plan.current_phase or ""),
            ("projects", ", ".join(plan.projects)),
            ("created", dated(plan.created, now, zone)),
            ("completed", dated(plan.completed, now, zone)),
            ("plan", plan.plan_id or ""),
            ("stated", stated(plan)),
        )
        if value
    ]
    if plan.phases:
        parts += [Spacer(), Caption("PHASES")]
        parts += [
            Labelled(phase_name(phase.name), line(progress_line(share(phase.tasks), glyphs, 12)))
            for phase in plan.phases
        ]
    if any(problem.level != "note" for problem in plan.problems):
        parts += [Spacer(), Caption("PROBLEMS")]
        parts += [
            Prose(f"{glyphs.alert} line {problem.line + 1}: {problem.message}", tone="warn")
            for problem in plan.problems
            if problem.level != "note"
        ]
    return parts


def stated(plan: Plan) -> str:
    """The progress stated in the file, if it differs from the progress of the tasks; else empty."""
    if plan.stated_progress is None or plan.stated_progress == plan.progress:
        return ""
    return f"{plan.stated_progress}% in the file"


def phase_name(name: str) -> str:
    """`Phase 2` for a phase that only has a number, else its own name."""
    return f"Phase {name}" if name.strip().isdigit() else name or "In no phase"


def share(tasks: tuple[PlanTask, ...]) -> int:
    """The progress of a phase in percent, weighted by the estimates if every task has one."""
    weights = [task.minutes or 0 for task in tasks]
    if not all(weights):
        weights = [1] * len(tasks)
    done = sum(weight * task.share for weight, task in zip(weights, tasks, strict=True))
    return round(done / sum(weights)) if tasks else 0
