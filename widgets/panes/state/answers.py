"""The answer to a question about the state, and what a repair would do, as lines to show."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memory.state.files.model import plural
from widgets.text.styled_text import Line, Piece, line

from .diff import more

if TYPE_CHECKING:
    from memory.state.checks.finding import RepairPlan
    from memory.state.query import QueryAnswer

SHOWN = 200
"""The most steps of a repair that are shown."""
LEFT = 20
"""The most shown findings that no repair can fix."""


def answer_lines(found: QueryAnswer) -> list[Line]:
    """The answer, then where it comes from: id, place, and the projection that shows it."""
    lines: list[Line] = [line(text) for text in found.answer.split("\n")]
    if found.hits:
        lines += [(), line(Piece("CITATIONS", "heading"))]
    for hit in found.hits:
        where = f"  {hit.item.file}" if hit.item.file else ""
        lines.append(line(Piece(hit.item.id, "accent"), f"  {hit.item.place}", Piece(where, "muted")))
    return lines


def answer_summary(found: QueryAnswer) -> str:
    """Why this is the answer."""
    return f"{found.why[:1].upper()}{found.why[1:]}."


def repair_lines(plan: RepairPlan) -> list[Line]:
    """What is done to each file and why, then the findings that no repair can fix."""
    lines: list[Line] = []
    for step in plan.steps[:SHOWN]:
        lines.append(line(Piece(step.file, "accent"), f"  {step.action}"))
        lines.append(line(Piece(f"  {step.why}", "muted")))
    lines += more(len(plan.steps), SHOWN)
    if plan.left:
        lines += [(), line(Piece("NOT TO BE REPAIRED", "heading"))] if lines else []
    for one in plan.left[:LEFT]:
        lines.append(line(Piece(one.code, "warn"), f"  {one.message}", Piece(f"  {one.file}", "muted")))
    lines += more(len(plan.left), LEFT)
    return lines or [line(Piece("Nothing to repair.", "muted"))]


def repair_summary(plan: RepairPlan) -> str:
    """How many steps a repair has, and what it keeps of damaged files."""
    if not plan.steps:
        return ""
    kept = f"{plural(len(plan.aside), 'damaged file')} kept in the archive" if plan.aside else "nothing damaged is lost"
    return f"{plural(len(plan.steps), 'step')} in one change, {kept}."
