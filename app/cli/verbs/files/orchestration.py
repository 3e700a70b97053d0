"""The verbs on plans."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from app.cli.session import Session, short
from memory.operations import Group, option, under

if TYPE_CHECKING:
    from memory.files.plans.model import Plan

orchestration = Group("orchestration", "List plans of several agents and projects (orchestration.md).")


@under(
    orchestration,
    "list",
    serves="look",
    examples=("memdeck orchestration list", "memdeck orchestration list --status running -o json"),
)
@option("--status", metavar="S", help="Only plans with this status, such as running or completed.")
def list_plans(session: Session, status: str | None) -> None:
    """List plans with their phases and the state of each of their tasks."""
    found: list[Plan] = list(session.snapshot.plans.plans)
    if status is not None:
        found = [plan for plan in found if (plan.status or "").casefold() == status.casefold()]
    session.listing("plans", lambda: (plan.json() for plan in found), lambda: _trees(session, found))


def _trees(session: Session, found: list[Plan]) -> Iterator[str]:
    paint = session.paint
    if not found:
        yield "no plans"
    for index, plan in enumerate(found):
        yield from [""] if index else []
        progress = "" if plan.progress is None else f", {plan.progress}%"
        yield paint.line(
            f"{plan.title} ({plan.status or 'no status'}{progress})  {plan.plan_id or ''} {short(plan.ref)}"
        )
        for phase in plan.phases:
            yield paint.line(f"phase {phase.name}" if phase.name.isdigit() else phase.name, indent="  ")
            rows = [
                (task.id, task.status or "", "" if task.progress is None else f"{task.progress}%", task.title or "")
                for task in phase.tasks
            ]
            alerts = {row: 1 for row, task in enumerate(phase.tasks) if task.status in ("blocked", "failed")}
            yield from paint.columns(rows, indent="    ", alerts=alerts)
