"""What is wrong in task and journal files: priorities, dates, crons, numbers, sections, twins."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from functools import lru_cache
from typing import TYPE_CHECKING

from memory.base.problems import Problem

from .model import TaskList, read_due, split_priority
from .sections import task_sections

if TYPE_CHECKING:
    from datetime import tzinfo

    from memory.document import Document, Entry
    from memory.files.snapshot import Snapshot

_DATES = ("created", "started", "completed")
_PROGRESS = re.compile(r"(?:100|[0-9]{1,2})[ \t]*%?", re.ASCII)
_BRACKETED = re.compile(r"\[[A-Za-z]{1,20}\](?:[ \t]|$)")
_DAY = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})(?:[ \t].*)?", re.ASCII)
_TIME = re.compile(r"([0-9]{1,2}):([0-9]{2})(?::([0-9]{2}))?(?![0-9])", re.ASCII)


def task_problems(snapshot: Snapshot, name: str, document: Document) -> Iterator[Problem]:
    """Yield the findings of tasks.md or of an archive of it."""
    known = {index for index, _ in task_sections(document)}
    for index, section in enumerate(document.sections):
        if index not in known:
            for number, entry in enumerate(section.entries):
                message = f"{entry.title[:60]!r} stands under {section.title[:40]!r}, which is no section of tasks"
                yield Problem("error", name, document.line_of(index, number) + 1, "task.unknown_section", message)
    zone = snapshot.zone
    tasks = snapshot.tasks if name == "tasks.md" else TaskList(name, document)
    seen: dict[tuple[str, str], int] = {}
    for task in tasks.tasks:
        line = task.line + 1
        priority, title = split_priority(task.entry.title)
        fields = task.entry.fields
        if priority is None:
            if _BRACKETED.match(title):
                yield Problem("warning", name, line, "task.priority", f"{title[:40]!r} begins with an unknown priority")
            else:
                yield Problem("note", name, line, "task.priority_missing", f"{title[:40]!r} has no priority")
        if not title.strip() and task.heading is None:
            yield Problem("warning", name, line, "task.title", "the task has no title")
        created = fields.get("created") or ""
        if not created:
            yield Problem("note", name, line, "task.created_missing", f"{title[:40]!r} has no created")
        if task.section in ("completed", "archived") and not fields.get("completed"):
            message = f"{title[:40]!r} has no completed, so it is never archived"
            yield Problem("note", name, line, "task.completed_missing", message)
        first = seen.setdefault((title, created), line)
        if first != line:
            message = f"{title[:40]!r} has the title and created of the task in line {first}"
            yield Problem("note", name, line, "task.twin", message)
        for key in _DATES:
            wrong = _bad_date(fields.get(key) or "", zone)
            if wrong:
                yield Problem(
                    "error", name, _line(task.entry, key, line), f"task.{key}", f"{key}: {wrong}, in {title[:40]!r}"
                )
        value = fields.get("due")
        if value:
            due = read_due(value)
            wrong = _bad_date(due.date or "", zone) or (_bad_cron(due.recurring) if due.recurring else None)
            if wrong:
                yield Problem(
                    "error", name, _line(task.entry, "due", line), "task.due", f"due: {wrong}, in {title[:40]!r}"
                )
        if "recurring" in fields:
            message = "a task recurs by its due, such as `due: recurring: 0 9 * * MON`; this field does nothing"
            yield Problem("warning", name, _line(task.entry, "recurring", line), "task.recurring", message)
        progress = fields.get("progress")
        if progress and progress.lower() not in ("null", "none", "-") and not _PROGRESS.fullmatch(progress):
            message = f"progress is {progress[:40]!r}, not 0% to 100%"
            yield Problem("error", name, _line(task.entry, "progress", line), "task.progress", message)


def _line(entry: Entry, key: str, heading: int) -> int:
    """Return the line (from 1) of a field of an entry whose heading stands in line `heading` (from 1)."""
    return next((heading + 1 + node.line for node in entry.fields.nodes if node.key == key), heading)


@lru_cache(maxsize=4096)
def _bad_date(text: str, zone: tzinfo) -> str | None:
    from memory.base.clock import BadMoment, read_moment

    try:
        read_moment(text, zone)
    except BadMoment as error:
        return error.message
    return None


@lru_cache(maxsize=512)
def _bad_cron(text: str) -> str | None:
    from memory.base.schedule import BadCron, check_cron

    try:
        check_cron(text)
    except BadCron as error:
        return error.message
    return None


def journal_problems(snapshot: Snapshot, name: str, document: Document) -> Iterator[Problem]:  # noqa: ARG001
    """Yield the findings of journal.md or of an archive of it."""
    for index, section in enumerate(document.sections):
        line = document.line_of(index) + 1
        found = _DAY.fullmatch(section.title) if section.level == 2 else None
        if found is None:
            if len(section):
                message = f"{len(section)} entries stand under {section.title[:40]!r}, which is no date"
                yield Problem("error", name, line, "journal.section", message)
        elif not _exists(found[1]):
            yield Problem("error", name, line, "journal.date", f"the date {found[1]} does not exist")
        top = document.line_of(index)
        lines = section.entry_lines()
        for number, entry in enumerate(section.entries):
            clock = _TIME.match(entry.title)
            if clock is None:
                message = f"{entry.title[:40]!r} has no time"
                yield Problem("note", name, top + lines[number] + 1, "journal.time_missing", message)
            elif int(clock[1]) > 23 or int(clock[2]) > 59 or int(clock[3] or 0) > 59:
                message = f"the time {clock[0]} does not exist"
                yield Problem("error", name, top + lines[number] + 1, "journal.time", message)


@lru_cache(maxsize=4096)
def _exists(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True
