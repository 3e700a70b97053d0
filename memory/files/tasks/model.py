"""The tasks of tasks.md and its archives: thin views over the entries, which read a field when it is asked for.

Open tasks of one title are twins: allowed, but their actions do not run, and the title names neither of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, tzinfo
from typing import Any, Literal

from memory.base.clock import Moment
from memory.base.cron import BadCron, next_runs
from memory.base.values import alike
from memory.document.model import Document
from memory.document.nodes import Entry
from memory.files.fields.values import moment_or_none, read_progress, text_or_none
from memory.files.refs import FieldText, FileView, PlacedEntry

from .reading import FIELD_KEYS, DueValue, Head, SectionName, is_checked, plain_section, read_due, read_tags

DueState = Literal["overdue", "today", "week", "later"]

KIND = "tasks"
_SENTENCE = re.compile(r"[A-Z][a-z]+(?: [\w'’-]+[,:;]?)+\.(?:\s|$)(?!.*[|&<>$`=])", re.DOTALL)
"""A capital, words, and a full stop, with nothing of a shell behind it."""
SECTIONS: tuple[SectionName, ...] = ("pending", "in-progress", "completed")
"""The sections of tasks.md, in their order."""
_NOTHING: dict[str, Any] = dict.fromkeys(
    (
        *("ref", "section", "priority", "title", "due", "recurring", "assigned", "created", "started", "completed"),
        *("progress", "tags", "cronJobId", "orchestrationId", "action", "notes", "outcome", "lastUpdate"),
        *("extra", "line"),
    )
)
"""The keys of the interface in their order, as a task without any value has them."""
_KNOWN = frozenset(FIELD_KEYS)
_TEXTS = _KNOWN - {"due", "tags", "progress"}


class Task(PlacedEntry):
    """One task; every property reads the entry when it is asked for. Texts are as in the file.

    `at` is (section index, entry index) in the document of `file`, `section` one of pending, in-progress, completed,
    archived. `heading` is the heading above the task where that is no section of tasks ("" for none), else None.
    """

    __slots__ = ("heading", "section")

    def __init__(
        self,
        of: TaskList,
        section: SectionName,
        at: tuple[int, int],
        raw: Entry,
        heading: str | None = None,
        listed: int | None = None,
    ) -> None:
        """Store where the task is, its section, and its entry as written."""
        super().__init__(of, at, raw, listed)
        self.section: SectionName = section
        self.heading = heading

    @property
    def entry(self) -> Entry:
        """The entry in the plain form."""
        return self.raw.memo(Head).plain or self.raw

    @property
    def identity(self) -> str:
        """Ten hex digits made of title and `created`; twins have the same."""
        return self.raw.memo(Head).hex

    @property
    def is_open(self) -> bool:
        """Whether the task is pending or in progress."""
        return self.section in ("pending", "in-progress")

    @property
    def is_run(self) -> bool:
        """Whether it is a completed run of a recurring task: the short digits name the open task itself."""
        return self.raw.memo(Head).is_run

    @property
    def priority(self) -> str | None:
        """HIGH, NORMAL, LOW, or None where the heading has no known one."""
        return self.raw.memo(Head).priority

    @property
    def title(self) -> str:
        """The heading without its priority."""
        return self.raw.memo(Head).title

    @property
    def fields(self) -> Mapping[str, str]:
        """All fields, unknown ones included, in file order."""
        return self.entry.fields

    @property
    def due_parts(self) -> DueValue:
        """The value of `due` in its parts."""
        return read_due(self.entry.fields.get("due"))

    @property
    def due(self) -> str | None:
        """The date or date and time of `due`, without recurrence and remark."""
        return self.due_parts.date

    @property
    def recurring(self) -> str | None:
        """The cron expression of `due`."""
        return self.due_parts.recurring

    @property
    def progress(self) -> int | None:
        """0 to 100; None where there is none or it is no such number."""
        return read_progress(self.entry.fields.get("progress"))

    @property
    def tags(self) -> tuple[str, ...]:
        """The tags, in their order."""
        return tuple(read_tags(self.entry.fields.get("tags")))

    created = FieldText("created")
    """When the task was created."""

    assigned = FieldText("assigned")
    """Who is to do it."""

    started = FieldText("started")
    """When it was started."""

    completed = FieldText("completed")
    """When it was completed."""

    cron_job_id = FieldText("cronJobId")
    """The cron job that belongs to the task."""

    orchestration_id = FieldText("orchestrationId")
    """The plan that the task is a part of."""

    action = FieldText("action")
    """What to run or to do; text, never run unasked."""

    @property
    def command(self) -> str | None:
        """The action as a command; None without one, or where it is a sentence that tells a reader what to do."""
        return command_of(self.action)

    notes = FieldText("notes")
    """Further words."""

    outcome = FieldText("outcome")
    """The result."""

    last_update = FieldText("lastUpdate")
    """The last word on the progress."""

    @property
    def extra(self) -> dict[str, str]:
        """The fields that the format does not know."""
        return {key: value for key, value in self.entry.fields.items() if key not in _KNOWN}

    def due_moment(self, zone: tzinfo) -> Moment | None:
        """Return the date or time of `due`; None where there is none, or one that does not exist."""
        return moment_or_none(self.due, zone)

    def due_state(self, now: datetime, zone: tzinfo) -> DueState | None:
        """Return how near the due date is: overdue, today, week (within the next seven days, today included), later.

        None for completed tasks and those without a usable date. A task that only recurs is due at its next run.
        """
        if self.section in ("completed", "archived"):
            return None
        moment = self.due_moment(zone)
        if moment is not None and moment.is_overdue(now, zone):
            return "overdue"
        day = None if moment is None else moment.date
        if self.due is None and self.recurring is not None:
            with suppress(BadCron):
                day = next_runs(self.recurring, now, zone)[0].date()
        if day is None:
            return None
        ahead = (day - now.astimezone(zone).date()).days
        return "today" if ahead <= 0 else "week" if ahead < 7 else "later"

    def json(self) -> dict[str, Any]:
        """Return the task under the keys of the interface; absent values are None, lines count from 1.

        For one under a heading that is no section, `extra` has that heading as `heading`.
        """
        due, extra = self.due_parts, self.extra
        if self.heading is not None:
            extra.setdefault("heading", self.heading)
        return _NOTHING | {
            **{key: text_or_none(value) for key, value in self.entry.fields.items() if key in _TEXTS},
            "ref": self.ref,
            "section": self.section,
            "priority": self.priority,
            "title": self.title,
            "due": due.date,
            "recurring": due.recurring,
            "progress": self.progress,
            "tags": list(self.tags),
            "extra": extra,
            "line": self.line + 1,
        }


class TaskList(FileView[Task]):
    """The tasks of one file in file order: those of the sections Pending, In Progress and Completed, and all others.

    Entries and items of a checklist under another heading, or before any section, are tasks that have that `heading`:
    completed where their box is checked, else pending. Tasks of an archive are `archived`.
    """

    kind = KIND

    def __init__(self, file: str, document: Document) -> None:
        """Wrap the entries; no field is read."""
        super().__init__(file, document)
        self.archived = file.startswith("archive/")
        found: list[Task] = []
        for index, section in document.all_sections():
            read = section.memo(plain_section)
            shown: SectionName = "archived" if self.archived else read.name or "pending"
            done: SectionName = "completed" if shown == "pending" and read.name is None else shown
            heading = section.title if read.name is None else None
            for number, item in enumerate(read.items, -len(read.items)):
                where = done if item.checked else shown
                found.append(Task(self, where, (index, number), item.entry, heading, item.line))
            for number, entry in enumerate(section.entries):
                where = done if done != shown and is_checked(entry) else shown
                found.append(Task(self, where, (index, number), entry, heading))
        self.items = tuple(found)

    def __len__(self) -> int:
        """Return the number of tasks."""
        return len(self.items)

    def in_section(self, *names: str) -> tuple[Task, ...]:
        """Return the tasks of some sections: pending, in-progress, completed or archived."""
        return tuple([task for task in self.items if task.section in names])

    @property
    def open(self) -> tuple[Task, ...]:
        """The tasks that are pending or in progress."""
        return self.in_section("pending", "in-progress")

    def count(self, name: str) -> int:
        """Return how many tasks a section has."""
        return sum([task.section == name for task in self.items])


def open_twins(tasks: Iterable[Task]) -> dict[str, list[Task]]:
    """Return the open tasks by what titles share that a person would take for one."""
    found: dict[str, list[Task]] = {}
    for task in tasks:
        if task.is_open:
            found.setdefault(alike(task.title), []).append(task)
    return found


def command_of(action: str | None) -> str | None:
    """Return an action that a shell could run; None for a sentence such as `Collect the logs. Send them to Alice.`"""
    return None if action is None or _SENTENCE.match(action) else action


def twin_words(twins: Iterable[Task], title: str) -> str:
    """Return a sentence on the open tasks that have a title already; empty where there is none."""
    found: Sequence[Task] = tuple(twins)
    if not found or not title.strip():
        return ""
    words = "an open task already has this title" if len(found) == 1 else f"{len(found)} open tasks have this title"
    return f"{words}; the action of neither runs" if any(task.command is not None for task in found) else words
