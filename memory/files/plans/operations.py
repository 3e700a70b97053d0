"""The operations on plans."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from memory.errors import UsageError
from memory.files.edit import Edit
from memory.files.operations import Call, EntryGroup, pairs, something
from memory.operations import Context, Pairs, argument, option, under
from memory.operations.result import Paint, Result, listing

from .edits import add_plan, edit_plan, remove_plan, replace_plan_text
from .model import Plan, find_plan

_set = option("--set", "changes", multiple=True, type=Pairs(), help="Set a field, or section; may be repeated.")

orchestration = EntryGroup(
    "orchestration",
    "List, add, edit and remove plans of several agents and projects (orchestration.md).",
    key="plan",
    find=lambda snapshot, ref, _: find_plan(snapshot, ref, archived=True),
    title=lambda plan: str(plan.title),
)


@under(
    orchestration,
    "list",
    serves="look",
    examples=("memdeck orchestration list", "memdeck orchestration list --status running -o json"),
)
@option("--status", metavar="S", help="Only plans with this status, such as running or completed.")
def list_plans(context: Context, status: str | None) -> Result:
    """List plans with their phases and the state of each of their tasks."""
    found: list[Plan] = list(context.snapshot.plans.plans)
    if status is not None:
        found = [plan for plan in found if (plan.status or "").casefold() == status.casefold()]
    return listing("plans", lambda: (plan.json() for plan in found), lambda paint: _trees(paint, found))


def _trees(paint: Paint, found: Sequence[Plan]) -> Iterator[str]:
    if not found:
        yield "no plans"
    for index, plan in enumerate(found):
        yield from [""] if index else []
        progress = "" if plan.progress is None else f", {plan.progress}%"
        ref = plan.ref.partition("#")[2]
        yield paint.line(f"{plan.title} ({plan.status or 'no status'}{progress})  {plan.plan_id or ''} {ref}")
        for phase in plan.phases:
            yield paint.line(f"phase {phase.name}" if phase.name.isdigit() else phase.name, indent="  ")
            rows = [
                (task.id, task.status or "", "" if task.progress is None else f"{task.progress}%", task.title or "")
                for task in phase.tasks
            ]
            alerts = {row: 1 for row, task in enumerate(phase.tasks) if task.status in ("blocked", "failed")}
            yield from paint.columns(rows, indent="    ", alerts=alerts)


@orchestration.changes(
    "add",
    "added",
    examples=("memdeck orchestration add 'Move to Redis' --set status=planning --set planId=plan-redis",),
)
@argument("title")
@_set
@option("--text", metavar="TEXT", help="What goes below its fields, such as its table of tasks.")
def add(call: Call, title: str, changes: Sequence[str] | Mapping[str, str] = (), text: str | None = None) -> Edit:
    """Add a plan to Active Plans."""
    return add_plan(call.snapshot, title, pairs(changes), text or "", now=call.now)


@orchestration.changes("edit", "changed", examples=("memdeck orchestration edit 5b2c9d1 --set status=completed",))
@argument("ref")
@_set
@option("--unset", multiple=True, metavar="KEY", help="Remove a field; may be repeated.")
@option("--text", metavar="TEXT", help="The whole text of the plan in the file, instead of its fields.")
def edit(
    call: Call,
    ref: str,
    changes: Sequence[str] | Mapping[str, str] = (),
    unset: Sequence[str] = (),
    text: str | None = None,
) -> Edit:
    """Change fields of a plan; `section` moves it."""
    values = pairs(changes)
    something((values, unset, text is not None))
    if text is None:
        return edit_plan(call.snapshot, ref, values, unset, now=call.now)
    if values or unset:
        raise UsageError("usage.arguments", "--text replaces the whole plan", "give either --text or fields")
    return replace_plan_text(call.snapshot, ref, text, now=call.now)


@orchestration.changes("remove", "removed", examples=("memdeck orchestration remove 5b2c9d1",))
@argument("ref")
def remove(call: Call, ref: str) -> Edit:
    """Remove a plan; it is printed as it was."""
    call.item = find_plan(call.snapshot, ref)
    return remove_plan(call.snapshot, ref, now=call.now)
