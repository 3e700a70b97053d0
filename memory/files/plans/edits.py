"""The operations on plans, and the edits that they make; what they do not set keeps its bytes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from memory.base.clock import format_local
from memory.document import Entry
from memory.document.tables import Table, add_row, compose_table, remove_row
from memory.errors import ConflictError, NotFoundError, UsageError
from memory.files import edit as edits
from memory.files.edit import Edit, EntryEdits, Refs, Step
from memory.files.find import PLANS, find_plan
from memory.files.operations import UNSET, Call, EntryGroup, pairs, something, whole_text
from memory.files.snapshot import Snapshot
from memory.operations import Context, Pairs, argument, option
from memory.operations.result import Paint, Result, listing

from .model import FILE, SCHEMA, TASK_KEYS, Plan, plain_section, progress_of, read_plan_json, task_table, tasks_of

_set = option("--set", "changes", multiple=True, type=Pairs(), help="Set a field, or section; may be repeated.")

orchestration = EntryGroup(
    "orchestration", "List, add, edit and remove plans of agents and projects (orchestration.md).", PLANS, key="plan"
)


@orchestration.look("list", "", "--status running -o json")
@option("--status", metavar="S", help="Only plans with this status, such as running or completed.")
def list_plans(context: Context, status: str | None) -> Result:
    """List plans with their phases and the state of each of their tasks."""
    found: list[Plan] = list(context.snapshot.plans.items)
    if status is not None:
        found = [plan for plan in found if (plan.status or "").casefold() == status.casefold()]
    return listing("plans", lambda: (plan.json() for plan in found), lambda paint: _trees(paint, found))


@orchestration.look("show", "plan-redis")
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


@orchestration.changes("add", "added", "'Move to Redis' --set status=planning --set planId=plan-redis")
@argument("title")
@_set
@option("--text", metavar="TEXT", help="What goes below its fields, such as its table of tasks.")
def add(call: Call, title: str, changes: Sequence[str] | Mapping[str, str] = (), text: str | None = None) -> Edit:
    """Add a plan to Active Plans."""
    title = edits.one_line("plan.title", "the title of a plan", title)
    values = {"created": format_local(call.now, call.zone), **pairs(changes)}
    document = edits.started_document(call.snapshot, FILE, call.now)
    entry = PLAN_EDITS.composed(title, values, document.newline, call.zone)
    return PLAN_EDITS.add(document, "active", edits.with_text_below(entry, text or ""), title)


@orchestration.changes("edit", "changed", "5b2c9d1 --set status=completed")
@argument("ref")
@_set
@UNSET
@whole_text("plan")
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
    values = {**pairs(changes), **dict.fromkeys(unset, "")}
    if text is not None:
        return PLAN_EDITS.rewrite(call.snapshot, ref, text, base=call.base, beside=(values, task))
    something(values)
    if task is not None:
        return _edit_task(call, ref, task, values)
    return _edit_plan(call, ref, values)


@orchestration.changes("start", "started", "plan-redis", "plan-redis --task T2")
@argument("ref")
@option("--task", metavar="ID", help="Start this task of the plan instead.")
def start(call: Call, ref: str, task: str | None = None) -> Edit:
    """Start a plan, or one of its tasks."""
    # In its first phase with an open task where it says no phase yet. ConflictError `plan.completed`.
    if task is not None:
        return _edit_task(call, ref, task, {"status": "running"}, "started")
    plan = _open_plan(call.snapshot, ref)
    phase = _phase_now(plan)
    first = {} if plan.current_phase is not None or phase is None else {"currentPhase": plan.phases[phase].name}
    return _edit_plan(call, ref, {"status": "running", **first}, "started")


@orchestration.changes("advance", "advanced", "plan-redis")
@argument("ref")
def advance(call: Call, ref: str) -> Edit:
    """Move a plan on to its next phase."""
    # What is open in the phase before stays open. ConflictError `plan.completed`, UsageError `plan.phase`.
    call.after = lambda plan: f"  phase {plan.current_phase}"
    plan = _open_plan(call.snapshot, ref)
    names = [phase.name for phase in plan.phases if phase.name]
    now_in = _phase_now(plan)
    following = 0 if now_in is None else now_in + 1
    if following >= len(names):
        what = f"{names[-1]!r} is its last phase" if names else "its tasks are in no phases"
        raise UsageError("plan.phase", what, "finish the plan with `memdeck orchestration done REF`")
    values = {"currentPhase": names[following], "status": "running"}
    return _edit_plan(call, ref, values, "advanced", f" to phase {names[following][:40]}")


@orchestration.changes("done", "completed", "plan-redis", "plan-redis --task T2")
@argument("ref")
@option("--task", metavar="ID", help="Complete this task of the plan instead.")
def done(call: Call, ref: str, task: str | None = None) -> Edit:
    """Complete a plan and move it to Completed Plans, or complete one of its tasks; its progress follows."""
    if task is None:
        left = [one.id for one in find_plan(call.snapshot, ref).tasks if one.share < 100]
        if left:
            call.notes.append(f"warning: plan.open_tasks: not completed: {', '.join(left)[:200]}")
        return _edit_plan(call, ref, {"section": "completed", "status": "completed"})
    call.after = lambda plan: "" if plan.progress is None else f"  {plan.progress}%"
    table = task_table(find_plan(call.snapshot, ref).entry)
    values = {"status": "completed", "progress": "100%", "completed": format_local(call.now, call.zone)}
    known = {key: value for key, value in values.items() if table is None or table.column(key) is not None}
    return _edit_task(call, ref, task, known, "completed")


@orchestration.changes("remove", "removed", "5b2c9d1")
@argument("ref")
@option("--task", metavar="ID", help="Remove this task of the plan instead.")
def remove(call: Call, ref: Refs, task: str | None = None) -> Edit:
    """Remove a plan, which is printed as it was, or one of its tasks."""
    return PLAN_EDITS.remove(call.snapshot, ref) if task is None else _edit_task(call, ref, task, None, "removed")


_TITLES = {"active": "Active Plans", "completed": "Completed Plans"}
_SETTERS = {"title": edits.titled("plan.title", "the title of a plan")}
PLAN_EDITS = EntryEdits(PLANS, "plans", "plan", schema=SCHEMA, setters=_SETTERS, plain=plain_section, titles=_TITLES)


def _edit_plan(call: Call, ref: str, changes: Mapping[str, str], verb: str = "changed", more: str = "") -> Edit:
    """Set fields and `title`; `section` (`active`, `completed`) moves the plan to the end of that section.

    A plan that moves to Completed Plans is completed now, where it does not say when. UsageError `plan.section`.
    """
    values = dict(changes)
    word = values.pop("section", None)
    section = None if word is None else word.strip().casefold().removesuffix(" plans")
    if section is not None and section not in PLAN_EDITS.titles:
        raise UsageError("plan.section", f"{(word or '')[:40]!r} is not a section", "use active or completed")

    def planned(plan: Plan) -> Step[Entry]:
        moves = section is not None and section != plan.section
        if moves and section == "completed":
            if plan.completed is None:
                values.setdefault("completed", format_local(call.now, call.zone))
            values.setdefault("status", "completed")
        entry = PLAN_EDITS.with_values(plan, call.base, values, call.zone)
        return Step(None, [(section, entry)], verb) if moves and section else Step(entry, (), verb, more)

    return PLAN_EDITS.edit(call.snapshot, ref, planned)


def _open_plan(snapshot: Snapshot, ref: str) -> Plan:
    plan = find_plan(snapshot, ref)
    if plan.section == "completed":
        advice = "`memdeck orchestration edit REF --set section=active` reopens it"
        raise ConflictError("plan.completed", f"{plan.title[:60]!r} is already completed", advice, ref=plan.ref)
    return plan


def _phase_now(plan: Plan) -> int | None:
    """Return the number of the phase that `currentPhase` names, else of the first one with an open task."""
    said = (plan.current_phase or "").casefold()
    for number, phase in enumerate(plan.phases):
        if phase.name and said in (phase.name.casefold(), f"phase {phase.name}".casefold()):
            return number
    open_ones = (number for number, phase in enumerate(plan.phases) if any(task.share < 100 for task in phase.tasks))
    return next(open_ones, None)


# -- the table of tasks ----------------------------------------------------------------------------------------------


def _edit_task(call: Call, ref: Refs, name: str, values: Mapping[str, str] | None, verb: str = "changed") -> Edit:
    """Change cells of a plan's task in its table, or (None) remove it; one whose id is new is added, with its `title`.

    The plan's own field `progress`, where there is one, is set to the share that is done. Raises UsageError `plan.task`
    for a key that is no column, an id that is new without a title, or a plan whose tasks are in its JSON.
    """
    changes = None if values is None else {key: value.strip() for key, value in values.items()}
    SCHEMA.written("status", (changes or {}).get("status", ""))
    call.done = f"{verb} task {name} of"

    def planned(plan: Plan) -> Step[Entry]:
        entry = _without_task(plan.entry, name) if changes is None else _with_task(plan, name, changes)
        return Step(_with_progress(plan, entry), verb=f"{verb} task {name[:40]} of")

    return PLAN_EDITS.edit(call.snapshot, ref, planned)


def _without_task(entry: Entry, name: str) -> Entry:
    """Return the entry of a plan without the row of a task; NotFoundError `plan.task`."""
    table = task_table(entry)
    row = None if table is None else _row_of(table, name)
    if table is None or row is None:
        words = f"the table of this plan has no task {name[:40]!r}"
        raise NotFoundError("plan.task", words, "see `memdeck orchestration show`")
    return entry.with_body(remove_row(entry.body, table, row))


def _with_task(plan: Plan, name: str, changes: Mapping[str, str]) -> Entry:
    """Return the entry of a plan with other cells in the row of a task, or with a new row."""
    entry = plan.entry
    if task_table(entry) is None:
        if any(task.id for task in plan.tasks):
            raise UsageError("plan.task", "the tasks of this plan are in its JSON", "change them with --text")
        body, newline = entry.body.rstrip("\r\n"), entry.newline
        entry = entry.with_body(body + newline * (2 if body else 1) + compose_table(TASK_KEYS, [], newline))
    table = task_table(entry)
    assert table is not None
    columns = {key: at for key in (*TASK_KEYS, "completed") if (at := table.column(key)) is not None}
    if unknown := [key for key in changes if key not in columns]:
        known = ", ".join(columns)
        raise UsageError("plan.task", f"the table of tasks has no column {unknown[0]!r}", f"it has {known}")
    row, body = _row_of(table, name), entry.body
    if row is None:
        if not changes.get("title"):
            raise UsageError("plan.task", f"the plan has no task {name[:40]!r}", "give a title to add it")
        given = {"status": "planning", **changes, "id": name}
        cells = {columns[key]: value for key, value in given.items() if key in columns}
        return entry.with_body(add_row(body, table, [cells.get(at, "") for at in range(len(table.header))]))
    cells = {columns[key]: value for key, value in changes.items()}
    return entry.with_body(edits.with_cells(body, entry.tables.index(table), row, cells))


def _row_of(table: Table, name: str) -> int | None:
    column = table.column("id") or 0
    return next((number for number, row in enumerate(table.rows) if row.text(column) == name.strip()), None)


def _with_progress(plan: Plan, entry: Entry) -> Entry:
    """Return an entry whose field `progress`, where a plan has one, says which share of its tasks is done."""
    done = progress_of(tasks_of(entry, 1, read_plan_json(entry.body)))
    if plan.stated_progress is None or done is None or done == plan.stated_progress:
        return entry
    return edits.with_text(entry, "progress", f"{done}%", SCHEMA)
