"""Edits of plans: each takes a snapshot and returns the new document; what it does not set keeps its bytes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime

from memory.base.clock import format_local
from memory.document import Document, Entry
from memory.document.tables import Table, add_row, compose_table, find_tables, remove_row, set_cell
from memory.errors import ConflictError, NotFoundError, UsageError
from memory.files.edit import (
    Edit,
    EntryEdits,
    TitleRule,
    clean_values,
    entry_of_text,
    one_line,
    started_document,
    with_changes,
    with_named_section,
)
from memory.files.find import find_plan
from memory.files.snapshot import Snapshot

from .model import FILE, SCHEMA, Plan, Plans, PlanSection, section_of
from .parts import TASK_KEYS, progress_of, read_plan_json, task_table, tasks_of

_TITLES: dict[str, str] = {"active": "Active Plans", "completed": "Completed Plans"}
_TITLE = TitleRule(("title",), "plan.title", "the title of a plan")


def add_plan(snapshot: Snapshot, title: str, values: Mapping[str, str], text: str = "", *, now: datetime) -> Edit:
    """Add a plan at the end of Active Plans; a missing section or file is made, `created` is now unless it is given.

    `text` is what goes below the fields: the table of tasks, prose. Raises UsageError `plan.title`, `plan.status`,
    `field.value`, `document.structure` for a text that holds headings.
    """
    heading = one_line(_TITLE.code, _TITLE.what, title)
    document, index = with_plan_section(started_document(snapshot, FILE, now), "active")
    newline = document.newline
    given = {"created": format_local(now, snapshot.zone), **values}
    entry = with_changes(Entry.compose(heading, newline=newline), clean_values(given, SCHEMA.fields), SCHEMA)
    if text.strip():
        lines = "".join(line + newline for line in text.strip("\n").split("\n"))
        entry = entry_of_text(entry.text.rstrip("\r\n") + newline * 2 + lines, entry, None, heading) or entry
    return _EDITS.added(document, index, entry)


def edit_plan(
    snapshot: Snapshot,
    ref: str,
    set: Mapping[str, str],  # noqa: A002 - as in the edits of other files
    unset: Iterable[str] = (),
    *,
    now: datetime,
) -> Edit:
    """Set and unset fields and `title`; `section` (`active`, `completed`) moves the plan to the end of that section.

    A plan that moves to Completed Plans is completed now, where it does not say when. An empty value takes a field
    away. Raises UsageError `plan.title`, `plan.status`, `plan.section`, `field.value`.
    """
    plan = find_plan(snapshot, ref)
    changes = {**set, **dict.fromkeys(unset, "")}
    section = plan.section
    if (word := changes.pop("section", None)) is not None:
        known: dict[str, PlanSection] = {"active": "active", "completed": "completed"}
        wanted = known.get(word.strip().casefold().removesuffix(" plans"))
        if wanted is None:
            raise UsageError("plan.section", f"{word[:40]!r} is not a section", "use active or completed")
        section = wanted
    moves = section != plan.section
    if moves and section == "completed":
        if plan.completed is None:
            changes.setdefault("completed", format_local(now, snapshot.zone))
        changes.setdefault("status", "completed")
    entry = with_changes(plan.entry, changes, SCHEMA, _TITLE)
    if not moves:
        return _EDITS.replaced(snapshot, plan, entry)
    document, index = with_plan_section(snapshot.document(FILE).remove_entry(*plan.at), section)
    return _EDITS.added(document, index, entry, f"changed the plan {plan.title[:60]}")


def start_plan(snapshot: Snapshot, ref: str, *, now: datetime) -> Edit:
    """Set a plan running, in its first phase with an open task where it says no phase yet.

    Raises ConflictError `plan.completed` for a plan that is completed.
    """
    plan = _open_plan(snapshot, ref)
    phase = _phase_now(plan)
    first = {} if plan.current_phase is not None or phase is None else {"currentPhase": plan.phases[phase].name}
    edit = edit_plan(snapshot, ref, {"status": "running", **first}, now=now)
    return edit._replace(summary=f"started the plan {plan.title[:60]}")


def advance_plan(snapshot: Snapshot, ref: str, *, now: datetime) -> Edit:
    """Move a plan on to its next phase; what is open in the phase before stays open.

    Raises ConflictError `plan.completed`, UsageError `plan.phase` for a plan without a further phase.
    """
    plan = _open_plan(snapshot, ref)
    names = [phase.name for phase in plan.phases if phase.name]
    now_in = _phase_now(plan)
    following = 0 if now_in is None else now_in + 1
    if following >= len(names):
        what = f"{names[-1]!r} is its last phase" if names else "its tasks are in no phases"
        raise UsageError("plan.phase", what, "finish the plan with `memdeck orchestration done REF`")
    edit = edit_plan(snapshot, ref, {"currentPhase": names[following], "status": "running"}, now=now)
    return edit._replace(summary=f"moved the plan {plan.title[:60]} to phase {names[following]}")


def _open_plan(snapshot: Snapshot, ref: str) -> Plan:
    plan = find_plan(snapshot, ref)
    if plan.section == "completed":
        advice = "`memdeck orchestration edit REF --set section=active` opens it again"
        raise ConflictError("plan.completed", f"{plan.title[:60]!r} is completed already", advice, ref=plan.ref)
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


def edit_plan_task(
    snapshot: Snapshot,
    ref: str,
    name: str,
    values: Mapping[str, str],
    *,
    now: datetime,  # noqa: ARG001 - edits are called alike
) -> Edit:
    """Change cells of a plan's task in its table; one whose id is new is added, and its `title` is needed.

    The plan's own field `progress`, where there is one, is set to the share that is done. Raises UsageError `plan.task`
    for a key that is no column, an id that is new without a title, or a plan whose tasks are in its JSON.
    """
    plan = find_plan(snapshot, ref)
    changes = {key: value.strip() for key, value in values.items()}
    SCHEMA.written("status", changes.get("status", ""))
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
    row = _row_of(table, name)
    body = entry.body
    if row is None:
        if not changes.get("title"):
            raise UsageError("plan.task", f"the plan has no task {name[:40]!r}", "give a title to add it")
        given = {"status": "planning", **changes, "id": name}
        cells = {columns[key]: value for key, value in given.items() if key in columns}
        body = add_row(body, table, [cells.get(at, "") for at in range(len(table.header))])
    else:
        for key, value in changes.items():
            current = next(one for one in find_tables(body) if one.start == table.start)
            body = set_cell(body, current, row, columns[key], value)
    return _with_tasks(snapshot, plan, entry.with_body(body), f"changed task {name[:40]} of the plan {plan.title[:60]}")


def complete_plan_task(snapshot: Snapshot, ref: str, name: str, *, now: datetime) -> Edit:
    """Complete a task of a plan: its status, and its progress and `completed` where the table has those columns."""
    table = task_table(find_plan(snapshot, ref).entry)
    values = {"status": "completed", "progress": "100%", "completed": format_local(now, snapshot.zone)}
    known = {key: value for key, value in values.items() if table is None or table.column(key) is not None}
    return edit_plan_task(snapshot, ref, name, known, now=now)


def remove_plan_task(snapshot: Snapshot, ref: str, name: str, *, now: datetime) -> Edit:  # noqa: ARG001
    """Take the row of a plan's task out of its table; raises NotFoundError `plan.task` for an id without a row."""
    plan = find_plan(snapshot, ref)
    table = task_table(plan.entry)
    row = None if table is None else _row_of(table, name)
    if table is None or row is None:
        raise NotFoundError(
            "plan.task", f"the table of this plan has no task {name[:40]!r}", "see `memdeck orchestration show`"
        )
    entry = plan.entry.with_body(remove_row(plan.entry.body, table, row))
    return _with_tasks(snapshot, plan, entry, f"removed task {name[:40]} of the plan {plan.title[:60]}")


def _row_of(table: Table, name: str) -> int | None:
    column = table.column("id") or 0
    return next((number for number, row in enumerate(table.rows) if row.text(column) == name.strip()), None)


def _with_tasks(snapshot: Snapshot, plan: Plan, entry: Entry, summary: str) -> Edit:
    done = progress_of(tasks_of(entry, 1, read_plan_json(entry.body)))
    if plan.stated_progress is not None and done is not None and done != plan.stated_progress:
        entry = with_changes(entry, {"progress": f"{done}%"}, SCHEMA)
    return _EDITS.replaced(snapshot, plan, entry, summary)


def with_plan_section(document: Document, name: PlanSection) -> tuple[Document, int]:
    """Return the document with the section that holds such plans, and its index."""
    return with_named_section(
        document, name, _TITLES, ((at, section_of(one)) for at, one in enumerate(document.sections))
    )


_EDITS = EntryEdits(FILE, "plan", find_plan, lambda file, document: Plans(file, document).plans, SCHEMA, _TITLE)
remove_plan, replace_plan_text = _EDITS.removed, _EDITS.rewritten
