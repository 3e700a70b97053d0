"""The plans of orchestration.md and its archives: fields, a table of tasks, and maybe the plan as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from memory.document.nodes import bare
from memory.files.dress import LineFinding, plain_entry
from memory.files.refs import EntryItem, FieldText, name_all
from memory.files.values import Schema, Value, moment, one_of, read_progress

from .parts import PlanPhase, PlanTask, phases_of, plan_problems, progress_of, read_plan_json, tasks_of

if TYPE_CHECKING:
    from memory.document import Document, Section

FILE = "orchestration.md"
KIND = "orchestration"
STATUSES = ("planning", "running", "blocked", "completed", "failed")
PlanSection = Literal["active", "completed"]
SECTIONS: dict[str, PlanSection] = {"active plans": "active", "completed plans": "completed"}
"""The sections that hold plans, by their name without case."""
SCHEMA = Schema(
    {
        "planId": Value(words=("plan",)),
        "status": Value(one_of(STATUSES, "plan.status"), ("state",), "plan.status", "warning"),
        "created": Value(moment, ("created at", "created on", "started"), "plan.date"),
        "completed": Value(moment, ("completed at", "completed on", "finished"), "plan.date"),
        "currentPhase": Value(words=("phase",)),
        "progress": Value(),
        "projects": Value(words=("project",)),
    }
)
"""The fields of a plan in the order in which they are written."""


def section_of(section: Section) -> PlanSection | None:
    """Return which plans a section holds; None for a section of other things."""
    return SECTIONS.get(section.name) if section.level == 2 else None


@dataclass(frozen=True, slots=True)
class Plan(EntryItem):
    """One plan; texts as in the file, None where there is none.

    One under a heading that is no section of plans is active and has that `heading`, "" for none. `progress` is
    computed from the tasks (None without any), `stated_progress` what the field says.
    """

    section: PlanSection
    archived: bool
    tasks: tuple[PlanTask, ...]
    phases: tuple[PlanPhase, ...]
    problems: tuple[LineFinding, ...]
    heading: str | None = None

    plan_id = FieldText("planId")
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


class Plans:
    """The plans of one file in file order: entries of Active Plans and Completed Plans, and of all other sections."""

    def __init__(self, file: str, document: Document) -> None:
        """Read the plans; never fails."""
        self.file = file
        self.document = document
        found = [
            ((index, number), part, plain_entry(entry, SCHEMA)[0])
            for index, part in document.all_sections()
            for number, entry in enumerate(part.entries)
        ]
        known = [(entry.title, entry.fields.get("created") or "") for *_, entry in found]
        plans = []
        for name, (at, part, entry) in zip(name_all(KIND, known, [bare(one) for *_, one in found]), found, strict=True):
            line, section, said = document.line_of(*at), section_of(part), read_plan_json(entry.body)
            tasks = tasks_of(entry, line + 1, said)
            problems = plan_problems(tasks, said, line, entry.fields.get("planId"))
            heading = None if section else part.title if part.heading else ""
            plans.append(
                Plan(*name, file, line, entry, at, section or "active", file.startswith("archive/"), tasks,
                     phases_of(tasks, said), problems, heading)
            )  # fmt: skip
        self.plans: tuple[Plan, ...] = tuple(plans)

    @cached_property
    def counts(self) -> Mapping[str, int]:
        """How many plans are active, completed and failed; a failed one is neither of the others."""
        found = {"active": 0, "completed": 0, "failed": 0}
        for plan in self.plans:
            found["failed" if (plan.status or "").casefold() == "failed" else plan.section] += 1
        return found
