"""The operations on plans."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from memory.errors import UsageError
from memory.files.edit import Edit
from memory.files.find import find_plan
from memory.files.operations import Call, EntryGroup, pairs, something
from memory.operations import Context, Pairs, argument, option, under
from memory.operations.result import Paint, Result, listing

from .edits import (
    add_plan,
    advance_plan,
    complete_plan_task,
    edit_plan,
    edit_plan_task,
    remove_plan,
    remove_plan_task,
    replace_plan_text,
    start_plan,
)
from .model import Plan

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


@under(orchestration, "show", serves="look", examples=("memdeck orchestration show plan-redis",))
@argument("ref")
def show(context: Context, ref: str) -> Result:
    """Show one plan with its phases and tasks; REF is a ref, its hex, a planId, or a unique part of the title."""
    plan = find_plan(context.snapshot, ref, archived=True)
    return Result(lambda: {"plan": plan.json()}, lambda paint: _trees(paint, [plan]))


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
@option("--task", metavar="ID", help="Change this task of the plan; with a title, a new ID adds one.")
def edit(
    call: Call,
    ref: str,
    changes: Sequence[str] | Mapping[str, str] = (),
    unset: Sequence[str] = (),
    text: str | None = None,
    task: str | None = None,
) -> Edit:
    """Change fields of a plan, or of one of its tasks; `section` moves the plan."""
    values = pairs(changes)
    something((values, unset, text is not None))
    if task is not None:
        if text is not None:
            raise UsageError("usage.arguments", "--text replaces the whole plan", "give either --text or --task")
        call.done = f"changed task {task} of"
        return edit_plan_task(call.snapshot, ref, task, {**values, **dict.fromkeys(unset, "")}, now=call.now)
    if text is None:
        return edit_plan(call.snapshot, ref, values, unset, now=call.now)
    if values or unset:
        raise UsageError("usage.arguments", "--text replaces the whole plan", "give either --text or fields")
    return replace_plan_text(call.snapshot, ref, text, now=call.now)


@orchestration.changes(
    "start",
    "started",
    examples=("memdeck orchestration start plan-redis", "memdeck orchestration start plan-redis --task T2"),
)
@argument("ref")
@option("--task", metavar="ID", help="Start this task of the plan instead.")
def start(call: Call, ref: str, task: str | None = None) -> Edit:
    """Set a plan, or one of its tasks, running."""
    if task is not None:
        call.done = f"started task {task} of"
        return edit_plan_task(call.snapshot, ref, task, {"status": "running"}, now=call.now)
    return start_plan(call.snapshot, ref, now=call.now)


@orchestration.changes("advance", "advanced", examples=("memdeck orchestration advance plan-redis",))
@argument("ref")
def advance(call: Call, ref: str) -> Edit:
    """Move a plan on to its next phase."""
    call.after = lambda plan: f"  phase {plan.current_phase}"
    return advance_plan(call.snapshot, ref, now=call.now)


@orchestration.changes(
    "done",
    "completed",
    examples=("memdeck orchestration done plan-redis", "memdeck orchestration done plan-redis --task T2"),
)
@argument("ref")
@option("--task", metavar="ID", help="Complete this task of the plan instead.")
def done(call: Call, ref: str, task: str | None = None) -> Edit:
    """Complete a plan and move it to Completed Plans, or complete one of its tasks; its progress follows."""
    if task is None:
        left = [one.id for one in find_plan(call.snapshot, ref).tasks if one.share < 100]
        if left:
            call.notes.append(f"warning: plan.open_tasks: not completed: {', '.join(left)[:200]}")
        return edit_plan(call.snapshot, ref, {"section": "completed", "status": "completed"}, now=call.now)
    call.done = f"completed task {task} of"
    call.after = lambda plan: "" if plan.progress is None else f"  {plan.progress}%"
    return complete_plan_task(call.snapshot, ref, task, now=call.now)


@orchestration.changes("remove", "removed", examples=("memdeck orchestration remove 5b2c9d1",))
@argument("ref")
@option("--task", metavar="ID", help="Remove this task of the plan instead.")
def remove(call: Call, ref: str, task: str | None = None) -> Edit:
    """Remove a plan, which is printed as it was, or one of its tasks."""
    if task is not None:
        call.done = f"removed task {task} of"
        return remove_plan_task(call.snapshot, ref, task, now=call.now)
    return remove_plan(call.snapshot, ref, now=call.now)
