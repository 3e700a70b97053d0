"""The plans of orchestration.md and its archives: fields, a table of tasks, and maybe the plan as JSON."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from memory.base.values import is_absent
from memory.document.nodes import bare
from memory.files.dress import LineFinding, Schema, plain_entry
from memory.files.refs import EntryItem, FieldText, Lookup, Name, name_all
from memory.files.values import read_progress

from .json_block import read_plan_json
from .parts import JsonPlan, PlanPhase, PlanProblem, PlanTask, plan_problems

if TYPE_CHECKING:
    from memory.document import Document, Entry
    from memory.document.tables import Table
    from memory.files.snapshot import Snapshot

FILE = "orchestration.md"
KIND = "orchestration"
STATUSES = ("planning", "running", "blocked", "completed", "failed")
PlanSection = Literal["active", "completed"]
SECTIONS: dict[str, PlanSection] = {"active plans": "active", "completed plans": "completed"}
"""The sections that hold plans, by their name without case."""
SCHEMA = Schema(
    ("planId", "status", "created", "completed", "currentPhase", "progress", "projects"),
    {
        "planId": ("plan",),
        "status": ("state",),
        "created": ("created at", "created on", "started"),
        "completed": ("completed at", "completed on", "finished"),
        "currentPhase": ("phase",),
        "projects": ("project",),
    },
)
_COLUMNS = ("id", "project", "title", "phase", "dependsOn", "status", "progress")
_SEPARATOR = re.compile(r"[,;\s]+")


@dataclass(frozen=True, slots=True)
class Plan(EntryItem):
    """One plan; texts as they stand in the file, None where there is none.

    One that stands under a heading that is no section of plans is active and has that `heading`, "" for none.
    `progress` is computed from the tasks (None without any), `stated_progress` what the field says.
    """

    section: PlanSection
    archived: bool
    tasks: tuple[PlanTask, ...]
    phases: tuple[PlanPhase, ...]
    problems: tuple[PlanProblem, ...]
    heading: str | None = None

    plan_id = FieldText("planId")
    """The id that tasks refer to, `orch-…`."""

    status = FieldText("status")
    """One of `STATUSES`, or what stands there."""

    created = FieldText("created")
    """When it was made."""

    completed = FieldText("completed")
    """When it was finished."""

    current_phase = FieldText("currentPhase")
    """The phase that runs now."""

    @property
    def projects(self) -> tuple[str, ...]:
        """The projects that take part."""
        return tuple(part.strip() for part in (self.text_of("projects") or "").split(",") if part.strip())

    @property
    def progress(self) -> int | None:
        """The share that is done, 0 to 100: weighted by estimated minutes where they are known, else by count."""
        return progress_of(self.tasks)

    @property
    def stated_progress(self) -> int | None:
        """What the field `progress` says, None where that is no number from 0 to 100."""
        return read_progress(self.text_of("progress"))

    def json(self) -> dict[str, Any]:
        """Return the plan under the keys of the interface; absent values are None, lines count from 1."""
        return {
            "ref": self.ref,
            "title": self.title,
            "planId": self.plan_id,
            "section": "archived" if self.archived else self.section,
            "status": self.status,
            "created": self.created,
            "completed": self.completed,
            "currentPhase": self.current_phase,
            "progress": self.progress,
            "statedProgress": self.stated_progress,
            "projects": list(self.projects),
            "tasks": [task.json() for task in self.tasks],
            "phases": [{"name": phase.name, "tasks": [task.id for task in phase.tasks]} for phase in self.phases],
            "problems": [
                {"line": one.line + 1, "level": one.level, "code": one.code, "message": one.message}
                for one in self.problems
            ],
            "line": self.line + 1,
        }


def _plan(
    name: Name,
    file: str,
    line: int,
    entry: Entry,
    at: tuple[int, int],
    section: PlanSection,
    archived: bool,
    heading: str | None,
) -> Plan:
    said = read_plan_json(entry.body)
    tasks = tuple(_read_tasks(entry, line + 1, said))
    plan_id = entry.fields.get("planId")
    problems = plan_problems(tasks, said, line, plan_id)
    return Plan(*name, file, line, entry, at, section, archived, tasks, _phases(tasks, said), tuple(problems), heading)


class Plans:
    """The plans of one file in file order: entries of Active Plans and Completed Plans, and of all other sections."""

    def __init__(self, file: str, document: Document) -> None:
        """Read the plans; never fails."""
        self.file = file
        self.document = document
        found = []
        for index, part in document.all_sections():
            known_section = SECTIONS.get(part.name) if part.level == 2 else None
            heading = None if known_section else part.title if part.heading else ""
            for number, entry in enumerate(part.entries):
                plain = plain_entry(entry, SCHEMA)[0]
                found.append((index, number, known_section or "active", heading, plain))
        known = [(entry.title, entry.fields.get("created") or "") for *_, entry in found]
        names = name_all(KIND, known, [bare(entry) for *_, entry in found])
        archived = file.startswith("archive/")
        self.plans: tuple[Plan, ...] = tuple(
            _plan(name, file, document.line_of(index, number), entry, (index, number), section, archived, heading)
            for name, (index, number, section, heading, entry) in zip(names, found, strict=True)
        )

    def in_section(self, section: PlanSection) -> tuple[Plan, ...]:
        """Return the plans of one section: active or completed."""
        return tuple(plan for plan in self.plans if plan.section == section)

    @cached_property
    def counts(self) -> Mapping[str, int]:
        """How many plans are active, completed and failed; a failed one is neither of the others."""
        found = {"active": 0, "completed": 0, "failed": 0}
        for plan in self.plans:
            found["failed" if (plan.status or "").casefold() == "failed" else plan.section] += 1
        return found


def read_plans(file: str, document: Document) -> Plans:
    """Return the plans of orchestration.md or of an archive of it; never fails."""
    return Plans(file, document)


PLANS: Lookup[Plan] = Lookup(
    KIND,
    "plan",
    lambda snapshot: snapshot.plans.plans,
    lambda snapshot: (plan for plans in snapshot.archived_plans() for plan in plans.plans),
    is_open=lambda plan: plan.section == "active" and not plan.archived,
)


def find_plan(snapshot: Snapshot, text: str, *, archived: bool = False) -> Plan:
    """Return the plan that a ref, its digits, its planId or a part of its title means; errors as `Lookup.find`."""
    for plans in (snapshot.plans, *(snapshot.archived_plans() if archived else ())):
        found = [plan for plan in plans.plans if plan.plan_id == text.strip()]
        if len(found) == 1:
            return found[0]
    return PLANS.find(snapshot, text, archived=archived)


def tasks_of_plan(entry: Entry) -> tuple[PlanTask, ...]:
    """Return the tasks of a plan's entry, also of one that is no longer in any file; lines are counted in the entry."""
    return tuple(_read_tasks(entry, 1, read_plan_json(entry.body)))


def _read_tasks(entry: Entry, top: int, plan: JsonPlan | None) -> list[PlanTask]:
    table = next((one for one in entry.tables if None not in (one.column("id"), one.column("title"))), None)
    tasks = [] if table is None else list(_row_tasks(table, top, plan))
    seen = {task.id for task in tasks}
    return [*tasks, *(task for task in (plan.tasks if plan else ()) if task.id not in seen or not task.id)]


def _row_tasks(table: Table, top: int, plan: JsonPlan | None) -> Iterator[PlanTask]:
    said = {task.id: task for task in plan.tasks if task.id} if plan else {}
    columns = {key: table.column(key) for key in _COLUMNS}
    for row in table.rows:
        cells = {key: None if at is None or is_absent(row.text(at)) else row.text(at) for key, at in columns.items()}
        name = cells["id"] or ""
        other = said.get(name)
        depends = tuple(part for part in _SEPARATOR.split(cells["dependsOn"] or "") if part)
        if columns["dependsOn"] is None and other is not None:
            depends = other.depends_on
        yield PlanTask(
            name,
            cells["project"],
            cells["title"] or "",
            cells["phase"] or (plan.phase_of.get(name) if plan else None),
            depends,
            cells["status"],
            read_progress(cells["progress"]),
            other.minutes if other else None,
            top + row.line,
        )


def _phases(tasks: Sequence[PlanTask], plan: JsonPlan | None) -> tuple[PlanPhase, ...]:
    groups: dict[str, list[PlanTask]] = {str(at): [] for at in range(1, len(plan.phases) + 1)} if plan else {}
    for task in tasks:
        groups.setdefault(task.phase or "", []).append(task)
    order = {name: at for at, name in enumerate(groups)}

    def rank(name: str) -> tuple[int, int]:
        if not name:
            return 2, 0
        return (0, int(name)) if name.isascii() and name.isdigit() and len(name) < 9 else (1, order[name])

    return tuple(PlanPhase(name, tuple(groups[name])) for name in sorted(groups, key=rank) if groups[name])


def progress_of(tasks: Sequence[PlanTask]) -> int | None:
    """Return the share of tasks that is done, 0 to 100, weighted by their minutes; None for none."""
    if not tasks:
        return None
    known = [task.minutes for task in tasks if task.minutes is not None]
    # A task without an estimate counts like an average one.
    usual = sum(known) / len(known) if known else 1.0
    weights = [usual if task.minutes is None else task.minutes for task in tasks]
    done = sum(weight * task.share for weight, task in zip(weights, tasks, strict=True))
    return int(done / sum(weights) + 0.5)


def plain_plans(document: Document) -> Document:
    """Return orchestration.md, or an archive of it, with the fields of its plans in the plain form."""
    for index, section in document.all_sections():
        for number, entry in enumerate(section.entries):
            document = document.replace_entry(index, number, plain_entry(entry, SCHEMA)[0])
    return document


def plan_findings(document: Document) -> Iterator[LineFinding]:
    """Yield what was found in the fields of plans; lines count from 0 in the file."""
    for index, section in document.all_sections():
        for number, entry in enumerate(section.entries):
            yield from (one.moved(document.line_of(index, number)) for one in plain_entry(entry, SCHEMA)[1])
