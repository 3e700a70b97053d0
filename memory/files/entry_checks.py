"""What is wrong with the entries of memory files: fields, sections, titles and twins."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from datetime import tzinfo
from functools import lru_cache

from memory.base.clock import BadMoment, read_moment
from memory.base.problems import Problem
from memory.document.check import structure_problems
from memory.document.model import Document

from .config import meant_key, unknown_key_words, value_problem
from .dress import unread_entries
from .journal.model import date_of
from .journal.reading import plain_day, plain_heading, split_heading
from .monitors import SCHEMA as MONITORS
from .plans.model import SCHEMA as PLANS
from .plans.model import Plans, section_of
from .snapshot import Snapshot
from .tasks.model import Task, TaskList
from .tasks.values import SCHEMA as TASKS

_MISSPELLED = 0.93
"""The likeness to a known setting from which an unknown one counts as a misspelling."""
_BRACKETED = re.compile(r"\[[A-Za-z]{1,20}\](?:[ \t]|$)")
_TIME = re.compile(r"([0-9]{1,2}):([0-9]{2})(?::([0-9]{2}))?(?![0-9])", re.ASCII)


@lru_cache(maxsize=4096)
def date_problem(text: str, zone: tzinfo) -> str | None:
    """Return what is wrong with a date or time; None if nothing is, or if the field has none."""
    try:
        read_moment(text, zone)
    except BadMoment as error:
        return error.message
    return None


def task_problems(snapshot: Snapshot, name: str, document: Document) -> Iterator[Problem]:  # noqa: ARG001
    """Yield the findings of tasks.md or of an archive of it."""
    tasks = snapshot.view(name, TaskList)
    seen: dict[tuple[str, str], Task] = {}
    under = Counter(task.at[0] for task in tasks if task.heading is not None)
    for task in tasks:
        line, title = task.line + 1, repr(task.title[:40])
        if count := task.heading is not None and under.pop(task.at[0], 0):
            what = f"{title} is" if count == 1 else f"{title} and {count - 1} more are"
            where = f"under {task.heading[:40]!r}, which is no section of tasks" if task.heading else "in no section"
            message = f"{what} {where}, and read as pending, or as completed where the box is checked"
            yield Problem("note" if task.is_item else "error", name, line, "task.unknown_section", message)
        if not task.title.strip() and task.heading is None:
            yield Problem("warning", name, line, "task.title", "the task has no title")
        if (tasks.archived or task.section == "completed") and not task.fields.get("completed"):
            message = f"{title} has no completed, so it is never archived"
            yield Problem("note", name, line, "task.completed_missing", message)
        if task.priority is None and _BRACKETED.match(task.title) and not task.is_item:
            yield Problem("warning", name, line, "task.priority", f"{title} begins with an unknown priority")
        elif task.priority is None and not task.is_item:
            yield Problem("note", name, line, "task.priority_missing", f"{title} has no priority")
        if not task.fields.get("created") and not task.is_item:
            yield Problem("note", name, line, "task.created_missing", f"{title} has no created")
        first = seen.setdefault((task.title, task.fields.get("created") or ""), task)
        if first is not task:
            message = f"{title} has the title and created of the task in line {first.line + 1}"
            yield Problem("note", name, line, "task.twin", message)
        yield from TASKS.problems(name, task.entry, line, snapshot.zone)


def journal_problems(snapshot: Snapshot, name: str, document: Document) -> Iterator[Problem]:  # noqa: ARG001
    """Yield the findings of journal.md or of an archive of it."""
    for index, section in enumerate(document.sections):
        line = document.line_of(index) + 1
        day = section.memo(plain_day).name
        if day is None and len(section):
            noun = "entry is" if len(section) == 1 else "entries are"
            message = f"{len(section)} {noun} under {section.title[:40]!r}, which is no date"
            yield Problem("error", name, line, "journal.section", message)
        elif day is not None and date_of(day) is None:
            yield Problem("error", name, line, "journal.date", f"the date {day} does not exist")
        for number, entry in enumerate(section.entries):
            clock = _TIME.match(split_heading(plain_heading(entry.title))[0] or "")
            place = document.line_of(index, number) + 1
            if clock is None:
                yield Problem("note", name, place, "journal.time_missing", f"{entry.title[:40]!r} has no time")
            elif int(clock[1]) > 23 or int(clock[2]) > 59 or int(clock[3] or 0) > 59:
                yield Problem("error", name, place, "journal.time", f"the time {clock[0]} does not exist")


def knowledge_problems(snapshot: Snapshot, name: str, document: Document) -> Iterator[Problem]:  # noqa: ARG001
    """Yield the decisions whose date does not exist."""
    for item in snapshot.knowledge.items:
        if item.date and (message := date_problem(item.date, snapshot.zone)) is not None:
            yield Problem("error", name, item.line + 1, "knowledge.date", message)


def monitor_file_problems(snapshot: Snapshot, name: str, _: Document) -> Iterator[Problem]:
    """Yield the findings of monitors.md."""
    for monitor in snapshot.monitors.monitors:
        yield from MONITORS.problems(name, monitor.entry, monitor.line + 1, snapshot.zone)
        need = {"http": "url", "command": "command"}.get(monitor.type or "")
        if monitor.type is None or (need is not None and need not in monitor.entry.fields):
            message = f"the monitor {monitor.name[:40]!r} has no {need or 'type'}"
            yield Problem("note", name, monitor.line + 1, "monitor.incomplete", message)


def plan_file_problems(snapshot: Snapshot, name: str, document: Document) -> Iterator[Problem]:
    """Yield the findings of orchestration.md or of an archive of it."""
    known = [index for index, part in document.all_sections() if section_of(part)]
    why = "is read as active: it is in no section of plans"
    yield from (one.of(name) for one in unread_entries(document, known, "error", "plan.unknown_section", why))
    for plan in (snapshot.plans if name == "orchestration.md" else Plans(name, document)).plans:
        yield from (one.of(name) for one in plan.problems)
        yield from PLANS.problems(name, plan.entry, plan.line + 1, snapshot.zone)
        missing = [key for key in ("planId", "status", "created") if key not in plan.entry.fields]
        if plan.section == "completed" and plan.completed is None:
            missing.append("completed")
        if missing:
            message = f"the plan {plan.title[:40]!r} has no {', '.join(missing)}"
            yield Problem("note", name, plan.line + 1, "plan.incomplete", message)


def contact_problems(snapshot: Snapshot, name: str, document: Document) -> Iterator[Problem]:
    """Yield the people in another form, and the cells and columns of tables that nothing reads."""
    for person in snapshot.contacts.people:
        if person.plain:
            message = f"{person.name[:40]!r} is not written as **Name** (Role): text"
            yield Problem("warning", name, person.line + 1, "contact.form", message)
    for index, section in enumerate(document.sections):
        top = document.line_of(index) + 2
        for table in section.tables:
            names = [title.casefold() for title in table.header if title]
            if len(set(names)) != len(names):
                message = "two columns have the same name; the first counts"
                yield Problem("warning", name, top + table.line, "contact.column", message)
            for row in table.rows:
                if len(row.cells) > len(table.header):
                    message = "the row has more cells than the table columns"
                    yield Problem("warning", name, top + row.line, "contact.cells", message)


def config_problems(snapshot: Snapshot, name: str, document: Document) -> Iterator[Problem]:
    config = snapshot.config
    doubtful = config.doubtful
    yield from (Problem("error", name, line + 1, "config.malformed", words) for line, _, words in doubtful)
    said = {line for line, _, _ in doubtful}
    again = set(map(id, config.duplicates))
    # Two in one section are already reported as duplicate fields.
    found = {line for line, code, _ in structure_problems(document) if code == "field.twice"} if again else set()
    for setting in config.settings:
        if id(setting) in again:
            if setting.line in found:
                continue
            first = config.setting(setting.key)
            message = f"{setting.key} stands in line {first.line + 1 if first else 0} too; the first counts"
            yield Problem("warning", name, setting.line + 1, "config.twice", message)
            continue
        wrong = value_problem(setting.key, setting.value)
        if wrong is not None:
            yield Problem("error", name, setting.line + 1, "config.value", wrong)
        elif setting.line not in said and (meant := meant_key(setting.key, _MISSPELLED)) is not None:
            words = unknown_key_words(setting.key, meant)
            yield Problem("warning", name, setting.line + 1, "config.unknown_key", words)
