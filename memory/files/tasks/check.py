"""What is wrong in task and journal files: priorities, dates, crons, numbers, sections, twins."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from datetime import date, tzinfo
from functools import lru_cache
from typing import TYPE_CHECKING

from memory.base.clock import BadMoment, read_moment
from memory.base.cron import BadCron, check_cron
from memory.base.problems import Level, Problem
from memory.base.values import is_absent
from memory.document.model import Document
from memory.document.nodes import field_line
from memory.files.journal.reading import plain_day, plain_heading, split_heading

from .model import Task, read_tasks

if TYPE_CHECKING:
    from memory.files.snapshot import Snapshot

_DATES = ("created", "started", "completed")
_PROGRESS = re.compile(r"(?:100|[0-9]{1,2})[ \t]*%?", re.ASCII)
_BRACKETED = re.compile(r"\[[A-Za-z]{1,20}\](?:[ \t]|$)")
_TIME = re.compile(r"([0-9]{1,2}):([0-9]{2})(?::([0-9]{2}))?(?![0-9])", re.ASCII)


def task_problems(snapshot: Snapshot, name: str) -> Iterator[Problem]:
    """Yield the findings of tasks.md or of an archive of it."""
    tasks = snapshot.view(name, read_tasks)
    seen: dict[tuple[str, str], Task] = {}
    under = Counter(task.at[0] for task in tasks if task.heading is not None)
    for task in tasks:
        line, title = task.line + 1, repr(task.title[:40])
        if count := task.heading is not None and under.pop(task.at[0], 0):
            what = f"{title} is" if count == 1 else f"{title} and {count - 1} more are"
            where = f"under {task.heading[:40]!r}, which is no section of tasks" if task.heading else "in no section"
            message = f"{what} {where}, and read as pending, or as completed where the box is checked"
            level: Level = "note" if task.is_item else "error"
            yield Problem(level, name, line, "task.unknown_section", message)
        if not task.title.strip() and task.heading is None:
            yield Problem("warning", name, line, "task.title", "the task has no title")
        if (tasks.archived or task.section == "completed") and not task.fields.get("completed"):
            message = f"{title} has no completed, so it is never archived"
            yield Problem("note", name, line, "task.completed_missing", message)
        first = seen.setdefault((task.title, task.fields.get("created") or ""), task)
        if first is not task:
            message = f"{title} has the title and created of the task in line {first.line + 1}"
            yield Problem("note", name, line, "task.twin", message)
        for level, code, key, message in _wrong(task, snapshot.zone):
            yield Problem(level, name, field_line(task.entry, key, line) if key else line, code, message)


def _wrong(task: Task, zone: tzinfo) -> Iterator[tuple[Level, str, str, str]]:
    """Yield what is wrong with a task by itself: level, code, field ("": heading), sentence."""
    title, fields = repr(task.title[:40]), task.fields
    if task.priority is None and not task.is_item:
        if _BRACKETED.match(task.title):
            yield "warning", "task.priority", "", f"{title} begins with an unknown priority"
        else:
            yield "note", "task.priority_missing", "", f"{title} has no priority"
    if not fields.get("created") and not task.is_item:
        yield "note", "task.created_missing", "", f"{title} has no created"
    for key in _DATES:
        if bad := _bad_date(fields.get(key) or "", zone):
            yield "error", f"task.{key}", key, f"{key}: {bad}, in {title}"
    due = task.due_parts
    if bad := _bad_date(due.date or "", zone) or (_bad_cron(due.recurring) if due.recurring else None):
        yield "error", "task.due", "due", f"due: {bad}, in {title}"
    if "recurring" in fields:
        message = "a task recurs by its due, such as `due: recurring: 0 9 * * MON`; this field does nothing"
        yield "warning", "task.recurring", "recurring", message
    progress = fields.get("progress")
    if progress and not is_absent(progress) and not _PROGRESS.fullmatch(progress):
        yield "error", "task.progress", "progress", f"progress is {progress[:40]!r}, not 0% to 100%"


@lru_cache(maxsize=4096)
def _bad_date(text: str, zone: tzinfo) -> str | None:
    try:
        read_moment(text, zone)
    except BadMoment as error:
        return error.message
    return None


@lru_cache(maxsize=512)
def _bad_cron(text: str) -> str | None:
    try:
        check_cron(text)
    except BadCron as error:
        return error.message
    return None


def journal_problems(name: str, document: Document) -> Iterator[Problem]:
    """Yield the findings of journal.md or of an archive of it."""
    for index, section in enumerate(document.sections):
        line = document.line_of(index) + 1
        day = section.memo(plain_day).date
        if day is None:
            if count := len(section):
                noun = "entry is" if count == 1 else "entries are"
                message = f"{count} {noun} under {section.title[:40]!r}, which is no date"
                yield Problem("error", name, line, "journal.section", message)
        elif not _exists(day):
            yield Problem("error", name, line, "journal.date", f"the date {day} does not exist")
        for number, entry in enumerate(section.entries):
            level, code, message = _bad_time(entry.title)
            if level is not None:
                yield Problem(level, name, document.line_of(index, number) + 1, code, message)


def _bad_time(title: str) -> tuple[Level | None, str, str]:
    """Return level (None: nothing is wrong), code and sentence for the time in the heading of a journal entry."""
    clock = _TIME.match(split_heading(plain_heading(title))[0] or "")
    if clock is None:
        return "note", "journal.time_missing", f"{title[:40]!r} has no time"
    if int(clock[1]) > 23 or int(clock[2]) > 59 or int(clock[3] or 0) > 59:
        return "error", "journal.time", f"the time {clock[0]} does not exist"
    return None, "", ""


def _exists(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True
