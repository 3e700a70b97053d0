"""What is wrong in task and journal files: priorities, dates, crons, numbers, sections, twins."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import date
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from memory.base.problems import Level, Problem
from memory.document.check import MOST_KNOWN, remembered
from memory.document.nodes import field_line, of_each

from .model import ARCHIVE, read_tasks
from .values import Head, read_due, task_places

if TYPE_CHECKING:
    from datetime import tzinfo

    from memory.document import Document, Entry, Section
    from memory.files.snapshot import Snapshot

_DATES = ("created", "started", "completed")
_PROGRESS = re.compile(r"(?:100|[0-9]{1,2})[ \t]*%?", re.ASCII)
_BRACKETED = re.compile(r"\[[A-Za-z]{1,20}\](?:[ \t]|$)")
_DAY = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})(?:[ \t].*)?", re.ASCII)
_TIMED = re.compile(rb"### (?:[01][0-9]|2[0-3]):[0-5][0-9][ \t\r\n]")
_TIME = re.compile(r"([0-9]{1,2}):([0-9]{2})(?::([0-9]{2}))?(?![0-9])", re.ASCII)


def task_problems(snapshot: Snapshot, name: str, document: Document) -> list[Problem]:
    """Return the findings of tasks.md or of an archive of it."""
    problems: list[Problem] = []
    zone, archived = snapshot.zone, name.startswith(ARCHIVE)
    parts = task_places(document)
    for index, _, heading, section in parts:
        if heading is not None and index >= 0:
            for number, entry in enumerate(section.entries):
                message = f"{entry.title[:60]!r} stands under {heading[:40]!r}, which is no section of tasks"
                line = document.line_of(index, number) + 1
                problems.append(Problem("error", name, line, "task.unknown_section", message))
    seen: dict[tuple[str, str], int] = {}
    lines: Sequence[int] = ()
    read = remembered(_read, sum([len(section) for *_, section in parts]))
    place = -1
    for _, kind, heading, section in parts:
        ended = archived or kind == "completed"
        for entry in section.entries:
            place += 1
            said = read(entry, zone)
            first = seen.setdefault((said.title, said.created), place)
            open_ended = ended and not said.completed
            if first == place and said.title.strip() and not said.wrong and not open_ended:
                continue
            lines = lines or snapshot.view(name, read_tasks).lines()
            line, title = lines[place] + 1, repr(said.title[:40])
            if not said.title.strip() and heading is None:
                problems.append(Problem("warning", name, line, "task.title", "the task has no title"))
            if open_ended:
                message = f"{title} has no completed, so it is never archived"
                problems.append(Problem("note", name, line, "task.completed_missing", message))
            if first != place:
                message = f"{title} has the title and created of the task in line {lines[first] + 1}"
                problems.append(Problem("note", name, line, "task.twin", message))
            for level, code, key, message in said.wrong:
                at = field_line(entry, key, line) if key else line
                problems.append(Problem(level, name, at, code, message))
    return problems


class _Said(NamedTuple):
    """What the entry of a task says, and what is wrong with that by itself: level, code, field ("": heading), words."""

    title: str
    created: str
    completed: bool
    wrong: tuple[tuple[Level, str, str, str], ...]


@lru_cache(MOST_KNOWN)
def _read(entry: Entry, zone: tzinfo) -> _Said:
    """Read an entry; one that stands in a later version of its file as well is not read again."""
    head = entry.memo(Head)
    priority, title = head.priority, head.title
    fields = entry.fields
    created = fields.get("created") or ""
    wrong: list[tuple[Level, str, str, str]] = []
    if priority is None:
        if _BRACKETED.match(title):
            wrong.append(("warning", "task.priority", "", f"{title[:40]!r} begins with an unknown priority"))
        else:
            wrong.append(("note", "task.priority_missing", "", f"{title[:40]!r} has no priority"))
    if not created:
        wrong.append(("note", "task.created_missing", "", f"{title[:40]!r} has no created"))
    if not fields:
        return _Said(title, "", False, tuple(wrong))
    for key in _DATES:
        if bad := _bad_date(fields.get(key) or "", zone):
            wrong.append(("error", f"task.{key}", key, f"{key}: {bad}, in {title[:40]!r}"))
    if value := fields.get("due"):
        due = read_due(value)
        if bad := _bad_date(due.date or "", zone) or (_bad_cron(due.recurring) if due.recurring else None):
            wrong.append(("error", "task.due", "due", f"due: {bad}, in {title[:40]!r}"))
    if "recurring" in fields:
        message = "a task recurs by its due, such as `due: recurring: 0 9 * * MON`; this field does nothing"
        wrong.append(("warning", "task.recurring", "recurring", message))
    progress = fields.get("progress")
    if progress and progress.lower() not in ("null", "none", "-") and not _PROGRESS.fullmatch(progress):
        wrong.append(("error", "task.progress", "progress", f"progress is {progress[:40]!r}, not 0% to 100%"))
    return _Said(title, created, bool(fields.get("completed")), tuple(wrong))


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
    from memory.base.cron import BadCron, check_cron

    try:
        check_cron(text)
    except BadCron as error:
        return error.message
    return None


def journal_problems(snapshot: Snapshot, name: str, document: Document) -> Iterator[Problem]:  # noqa: ARG001
    """Yield the findings of journal.md or of an archive of it."""
    for index, slips in enumerate(of_each(document.sections, _in_day)):
        for number, level, code, message in slips:
            yield Problem(level, name, document.line_of(index, number) + 1, code, message)


def _in_day(section: Section) -> Sequence[tuple[int | None, Level, str, str]]:
    """Return what is wrong in a section of a journal: entry number (None: its heading), level, code and words."""
    found: list[tuple[int | None, Level, str, str]] = []
    day = _DAY.fullmatch(section.title) if section.level == 2 else None
    if day is None:
        if len(section):
            message = f"{len(section)} entries stand under {section.title[:40]!r}, which is no date"
            found.append((None, "error", "journal.section", message))
    elif not _exists(day[1]):
        found.append((None, "error", "journal.date", f"the date {day[1]} does not exist"))
    if untimed := _untimed(section):
        bad_time, entries = remembered(_bad_time, len(section)), section.entries
        found += [(number, *wrong) for number in untimed if (wrong := bad_time(entries[number])) is not None]
    return found or ()


def _untimed(section: Section) -> list[int]:
    """Return the numbers of the entries whose headings do not begin with a time as nearly all do."""
    match = _TIMED.match
    if section.marks is None:
        # The entries were put there by an edit.
        return [number for number, entry in enumerate(section.entries) if not match(entry.raw)]
    data, marks = section.marks
    return [number for number, mark in enumerate(marks[1:-1]) if not match(data, mark)]


@lru_cache(MOST_KNOWN)
def _bad_time(entry: Entry) -> tuple[Level, str, str] | None:
    """Return level, code and words where the heading of a journal entry has no time, or one that does not exist."""
    title = entry.title
    clock = _TIME.match(title)
    if clock is None:
        return "note", "journal.time_missing", f"{title[:40]!r} has no time"
    if int(clock[1]) > 23 or int(clock[2]) > 59 or int(clock[3] or 0) > 59:
        return "error", "journal.time", f"the time {clock[0]} does not exist"
    return None


def _exists(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True
