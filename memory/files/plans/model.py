"""The plans of orchestration.md and its archives: fields, a table of tasks, and maybe the plan as JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from typing import Any, Literal, NamedTuple

from memory.base.problems import Level
from memory.base.values import is_absent, no_constant
from memory.document import Document, Entry, Section
from memory.document.lines import split_lines
from memory.document.tables import Table
from memory.files.fields import dress
from memory.files.fields.dress import LineFinding, PlainFile, PlainSection, regex
from memory.files.fields.values import Schema, Value, moment, one_of, read_progress
from memory.files.refs import FieldText, FileView, PlacedEntry, identity_hex

TASK_KEYS = ("id", "project", "title", "phase", "dependsOn", "status", "progress")
"""The columns of a plan's table of tasks, in the order in which a new table has them."""
MAX_CHARACTERS = 512 * 1024
MAX_TASKS = 5000
_DONE = frozenset({"completed", "done"})
_STEP = r"[0-9]{1,3}[.)][ \t]+\S|[-*+][ \t]+\[[ xX]?\][ \t]+\S"
_SEPARATOR = re.compile(r"[,;\s]+")
_FENCED = re.compile(
    r"^ {0,3}(?P<fence>`{3,20}|~{3,20})[ \t]*(?P<info>[^`\n]*)\n(?P<text>.*?)^ {0,3}(?P=fence)[`~]*[ \t]*$", re.M | re.S
)


class PlanTask(NamedTuple):
    """One task of a plan; `minutes` is the estimate, `line` (from 0) that of its row, -1 if it is only in the JSON."""

    id: str
    project: str | None
    title: str
    phase: str | None
    depends_on: tuple[str, ...]
    status: str | None
    progress: int | None
    minutes: float | None
    line: int

    @property
    def share(self) -> int:
        """How much of it is done, 0 to 100; a completed task is done whatever its progress says."""
        return 100 if (self.status or "").casefold() in _DONE else self.progress or 0

    def json(self) -> dict[str, Any]:
        """Return the task under the keys of the interface."""
        keys = ("id", "project", "title", "phase", "depends_on", "status", "progress", "minutes")
        values = {key: getattr(self, key) for key in keys}
        depends_on, minutes = list(values.pop("depends_on")), values.pop("minutes")
        return {**values, "dependsOn": depends_on, "estimatedMinutes": minutes}


class JsonPlan(NamedTuple):
    """What the JSON block of a plan says; `line` (from 0, in the entry's body) is where it begins.

    `phases` are the ids of their tasks, `problems` lines of the body with a sentence each.
    """

    line: int
    plan_id: str | None = None
    tasks: tuple[PlanTask, ...] = ()
    phases: tuple[tuple[str, ...], ...] = ()
    problems: tuple[tuple[int, str], ...] = ()

    @property
    def phase_of(self) -> Mapping[str, str]:
        """The number of the first phase of each id."""
        return {name: str(number) for number, ids in reversed([*enumerate(self.phases, 1)]) for name in ids}


class PlanPhase(NamedTuple):
    """One phase, in the order in which phases run; tasks of no phase are in the last one, named empty."""

    name: str
    tasks: tuple[PlanTask, ...]


def task_table(entry: Entry) -> Table | None:
    """Return the table of a plan's tasks: the first one with the columns id and title."""
    return next((one for one in entry.tables if None not in (one.column("id"), one.column("title"))), None)


def tasks_of(entry: Entry, top: int, plan: JsonPlan | None) -> tuple[PlanTask, ...]:
    """Return the tasks of a plan, those of its table first; `top` is the line of the first line of its body."""
    table = task_table(entry)
    tasks = [] if table is None else list(_rows(table, top, plan))
    seen = {task.id for task in tasks}
    return (*tasks, *(task for task in (plan.tasks if plan else ()) if task.id not in seen or not task.id))


def _rows(table: Table, top: int, plan: JsonPlan | None) -> Iterator[PlanTask]:
    said = {task.id: task for task in plan.tasks if task.id} if plan else {}
    phase_of = plan.phase_of if plan else {}
    columns = {key: table.column(key) for key in TASK_KEYS}
    for row in table.rows:
        cells = {key: None if at is None or is_absent(row.text(at)) else row.text(at) for key, at in columns.items()}
        name = cells["id"] or ""
        other = said.get(name)
        depends = tuple(part for part in _SEPARATOR.split(cells["dependsOn"] or "") if part)
        if columns["dependsOn"] is None and other is not None:
            depends = other.depends_on
        yield PlanTask(
            name, cells["project"], cells["title"] or "", cells["phase"] or phase_of.get(name), depends,
            cells["status"], read_progress(cells["progress"]), other.minutes if other else None, top + row.line,
        )  # fmt: skip


def phases_of(tasks: Sequence[PlanTask], plan: JsonPlan | None) -> tuple[PlanPhase, ...]:
    """Return the phases that have tasks: numbered ones by their number, the others in the order of the plan."""
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


# -- the plan that an agent left as fenced JSON: read behind a guard, never written ----------------------------------


def read_plan_json(body: str) -> JsonPlan | None:
    """Return the first fenced JSON block of an entry's body, None where there is none; never fails.

    What the guard refuses (size, depth, no JSON, no object) is an empty plan with a problem.
    """
    if "```" not in body and "~~~" not in body:
        return None
    lines = "\n".join(line for line, _ in split_lines(body))
    for block in _FENCED.finditer(lines):
        info = block["info"].strip().casefold().split(" ")[0]
        if info in ("json", "jsonc") or (not info and block["text"].lstrip().startswith("{")):
            return _read(block["text"].removesuffix("\n"), lines.count("\n", 0, block.start()))
    return None


def _read(text: str, line: int) -> JsonPlan:
    data: Any = None
    wrong, at = "", line
    if len(text) > MAX_CHARACTERS:
        wrong = f"is longer than {MAX_CHARACTERS // 1024} KB"
    else:
        try:
            data = json.loads(text, parse_constant=no_constant)
            wrong = "" if isinstance(data, dict) else "is not an object"
        except json.JSONDecodeError as error:
            wrong, at = f"does not parse: {error.msg}", line + error.lineno
        except (ValueError, RecursionError):
            wrong = "contains an invalid number, or is nested too deeply"
    if wrong:
        return JsonPlan(line, problems=((at, f"the JSON plan {wrong}"),))
    order = [
        one.get("tasks", one.get("taskIds")) if isinstance(one, dict) else one for one in _list(data, "executionOrder")
    ]
    plan = JsonPlan(line, _word(data.get("planId")), phases=tuple(map(_words, order[:MAX_TASKS])))
    listed = [one for one in _list(data, "tasks") if isinstance(one, dict)]
    more = ((line, f"the JSON plan has more than {MAX_TASKS} tasks; the rest is not read"),)
    phase_of = plan.phase_of
    tasks = tuple(_task(one, phase_of) for one in listed[:MAX_TASKS])
    return plan._replace(tasks=tasks, problems=more if len(listed) > MAX_TASKS else ())


def _task(data: Mapping[str, Any], phase_of: Mapping[str, str]) -> PlanTask:
    minutes = data.get("estimatedMinutes")
    usable = isinstance(minutes, int | float) and not isinstance(minutes, bool) and 0 < minutes < 1e9
    name, title = _word(data.get("id")) or "", _word(data.get("title")) or ""
    project, status = _word(data.get("project")), _word(data.get("status"))
    estimate = float(minutes) if usable and minutes is not None else None
    return PlanTask(name, project, title, phase_of.get(name), _words(data.get("dependsOn")), status, None, estimate, -1)


def _list(data: Mapping[str, Any], key: str) -> Sequence[Any]:
    found = data.get(key)
    return found if isinstance(found, list) else []


def _words(data: Any) -> tuple[str, ...]:
    found = map(_word, [data] if isinstance(data, str) else data if isinstance(data, list) else [])
    return tuple(word for word in found if word)


def _word(data: Any) -> str | None:
    if isinstance(data, str):
        return data or None
    return str(data) if isinstance(data, int) and not isinstance(data, bool) and abs(data) < 10**15 else None


# -- what is wrong with a plan ---------------------------------------------------------------------------------------


def plan_problems(
    tasks: Sequence[PlanTask], plan: JsonPlan | None, title_line: int, plan_id: str | None
) -> tuple[LineFinding, ...]:
    """Return the findings of one plan in line order; lines from 0 in the file, `title_line` that of its heading.

    Wrong are cycles, unknown dependencies, tasks of no phase, and JSON that does not parse.
    """
    body = title_line + 1
    json_line = body + plan.line if plan else title_line
    found: list[LineFinding] = []

    def add(line: int, level: Level, code: str, message: str) -> None:
        found.append(LineFinding(json_line if line < 0 else line, level, f"plan.{code}", message))

    known = {task.id for task in tasks}
    seen: set[str] = set()
    if plan is not None:
        for line, message in plan.problems:
            add(body + line, "error", "json", message)
        if plan.plan_id and plan_id and plan.plan_id != plan_id:
            message = f"the JSON plan calls itself {plan.plan_id[:40]!r}, the field says {plan_id[:40]!r}"
            add(-1, "warning", "id_differs", message)
        for at, names in enumerate(plan.phases, 1):
            for name in names:
                if name not in known:
                    add(-1, "warning", "unknown_task", f"phase {at} names {name[:40]!r}, which is not in the plan")
    for task in tasks:
        if not task.id:
            add(task.line, "warning", "task_id", f"the task {task.title[:60]!r} has no id")
        elif task.id in seen:
            add(task.line, "warning", "task_twice", f"the task {task.id[:40]!r} is in the plan twice")
        seen.add(task.id)
        for name in task.depends_on:
            if name not in known:
                message = f"{task.id[:40]!r} depends on {name[:40]!r}, which is not in the plan"
                add(task.line, "error", "unknown_dependency", message)
        if task.phase is None:
            add(task.line, "warning", "no_phase", f"the task {task.id[:40]!r} is in no phase")
    try:
        TopologicalSorter({task.id: task.depends_on for task in reversed(tasks)}).prepare()
    except CycleError as error:
        cycle = [task for task in tasks if task.id in error.args[1]]
        words = ", ".join(task.id[:40] for task in cycle[:8]) + (", …" if len(cycle) > 8 else "")
        add(cycle[0].line, "error", "cycle", f"these tasks wait for each other: {words}")
    return tuple(sorted(found, key=lambda one: one.line))


FILE = "orchestration.md"
KIND = "orchestration"
STATUSES = ("planning", "running", "blocked", "completed", "failed")
PlanSection = Literal["active", "completed"]
SECTIONS: dict[str, PlanSection] = {"active plans": "active", "completed plans": "completed"}
"""The sections that hold plans, by their name without case."""
SCHEMA = Schema(
    {
        "planId": Value(words="plan"),
        "status": Value(one_of(STATUSES, "plan.status"), "state", "plan.status", "warning"),
        "created": Value(moment, "created at, created on, started", "plan.date"),
        "completed": Value(moment, "completed at, completed on, finished", "plan.date"),
        "currentPhase": Value(words="phase"),
        "progress": Value(),
        "projects": Value(words="project"),
    }
)
"""The fields of a plan in the order in which they are written."""


def section_of(section: Section) -> PlanSection | None:
    """Return which plans a section holds; None for a section of other things."""
    return SECTIONS.get(section.name) if section.level == 2 else None


def plain_section(section: Section) -> PlainSection[PlanSection]:
    """Return a section of orchestration.md in the plain form."""
    return dress.entry_section(section, section_of(section), SCHEMA, "a plan is `### title` with its fields below")


def plain_plans(document: Document) -> PlainFile:
    """Return orchestration.md, or an archive of it, with the fields of its plans in the plain form."""

    def plain(_: PlainSection[PlanSection], entry: Entry) -> tuple[Entry, Iterable[LineFinding]]:
        new, findings = dress.plain_entry(entry, SCHEMA)
        return new, (*findings, *_unread_tasks(new, {one.line for one in findings}))

    return dress.plain_file(document, plain_section, plain)


def _unread_tasks(entry: Entry, told: Container[int]) -> Iterator[LineFinding]:
    """Yield the tables and lists that were likely meant as the tasks of a plan that has none."""
    if task_table(entry) is not None or read_plan_json(entry.body) is not None:
        return
    advice = "the tasks of a plan are rows of a table with the columns id and title"
    tops = {table.line: len(table.rows) + 1 for table in entry.tables}
    for number, text in dress.visible_lines(entry.body):
        if number in tops or (regex(_STEP).match(text) and number + 1 not in told):
            yield dress.unread(number + 1, text, advice, more=tops.get(number, 0))


class Plan(PlacedEntry):
    """One plan; texts as in the file, None where there is none.

    One under a heading that is no section of plans is active and has that `heading`, "" for none.
    """

    def __init__(self, of: Plans, at: tuple[int, int], raw: Entry) -> None:
        """Store where the plan is; its fields and tasks are read on first use."""
        super().__init__(of, at, raw)
        part = of.document.section(at[0])
        known = section_of(part)
        self.section: PlanSection = known or "active"
        self.heading = None if known else part.title if part.heading else ""
        self.archived: bool = of.file.startswith("archive/")

    @cached_property
    def entry(self) -> Entry:
        """The entry in the plain form."""
        return dress.plain_entry(self.raw, SCHEMA)[0]

    @property
    def identity(self) -> str:
        """Ten hex digits made of title and `created`."""
        return identity_hex(KIND, self.title, self.entry.fields.get("created") or "")

    @property
    def is_open(self) -> bool:
        """Whether the plan is active, and in no archive."""
        return self.section == "active" and not self.archived

    def has_id(self, text: str) -> bool:
        """Return whether a text is the id of the plan."""
        return self.plan_id == text

    @cached_property
    def _json(self) -> JsonPlan | None:
        return read_plan_json(self.entry.body)

    @cached_property
    def tasks(self) -> tuple[PlanTask, ...]:
        """The tasks, those of the table first."""
        return tasks_of(self.entry, self.line + 1, self._json)

    @cached_property
    def phases(self) -> tuple[PlanPhase, ...]:
        """The phases that have tasks, in the order in which they run."""
        return phases_of(self.tasks, self._json)

    @property
    def problems(self) -> tuple[LineFinding, ...]:
        """What is wrong with the tasks and the JSON; lines count from 0 in the file."""
        return plan_problems(self.tasks, self._json, self.line, self.entry.fields.get("planId"))

    plan_id: FieldText = FieldText("planId")
    """The id that tasks refer to, `orch-…`."""

    status = FieldText("status")
    """One of `STATUSES`, or another word."""

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
        """The share of its tasks that is done, 0 to 100, weighted by their minutes; None without any."""
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
            "section": "archived" if self.archived else self.section,
            **{key: self.text_of(key) for key in ("planId", "status", "created", "completed", "currentPhase")},
            "progress": self.progress,
            "statedProgress": self.stated_progress,
            "projects": list(self.projects),
            "tasks": [task.json() for task in self.tasks],
            "phases": [{"name": phase.name, "tasks": [task.id for task in phase.tasks]} for phase in self.phases],
            "problems": [{**one._asdict(), "line": one.line + 1} for one in self.problems],
            "line": self.line + 1,
        }


class Plans(FileView[Plan]):
    """The plans of one file in file order: entries of Active Plans and Completed Plans, and of all other sections."""

    kind = KIND

    def __init__(self, file: str, document: Document) -> None:
        """Wrap the entries; never fails."""
        super().__init__(file, document)
        self.items = tuple(
            Plan(self, (index, number), entry)
            for index, part in document.all_sections()
            for number, entry in enumerate(part.entries)
        )

    @cached_property
    def counts(self) -> Mapping[str, int]:
        """How many plans are active, completed and failed; a failed one is neither of the others."""
        found = {"active": 0, "completed": 0, "failed": 0}
        for plan in self.items:
            found["failed" if (plan.status or "").casefold() == "failed" else plan.section] += 1
        return found
