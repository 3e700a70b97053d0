"""The values of a task: priority, title, `due` with its parts, tags, and the fields that the format knows."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime, timedelta, tzinfo
from functools import lru_cache
from typing import NamedTuple

from memory.base.clock import format_exact, read_moment
from memory.base.cron import BadCron, check_cron, next_runs
from memory.base.values import ABSENT, is_absent, split_remark
from memory.document.nodes import Entry
from memory.errors import UsageError
from memory.files.fields.values import Schema, Value, moment, moment_or_none, percent, text_or_none

PRIORITIES = ("HIGH", "NORMAL", "LOW")
_PRIORITY = re.compile(r"\[(HIGH|NORMAL|LOW)\](?:[ \t]+|$)", re.IGNORECASE)
_HASHTAGS = re.compile(r"(?:#[^\s#]+\s*)+")
_HASHED = re.compile(r"#([^\s#]+)")
_RECURRING = re.compile(r"recurring:[ \t]*(\S.*)", re.IGNORECASE)


class DueValue(NamedTuple):
    """The value of `due` in its parts: date or date and time as text, cron expression, other remark."""

    date: str | None = None
    recurring: str | None = None
    remark: str | None = None

    def __str__(self) -> str:
        """Return the value as it is written; empty if there is nothing to say."""
        recurring = f"recurring: {self.recurring}" if self.recurring else ""
        if self.date is None:
            value = recurring or ("null" if self.remark else "")
        else:
            value = f"{self.date} ({recurring})" if recurring else self.date
        return f"{value} ({self.remark})" if self.remark else value


@lru_cache(maxsize=4096)
def read_due(value: str | None) -> DueValue:
    """Take the value of `due` apart: a date, `(recurring: CRON)` or `recurring: CRON` alone, and a remark."""
    if not value:
        return DueValue()
    if value[0] in "0123456789" and value[-1] not in ") \t":
        return DueValue(value)
    plain, remark = split_remark(value)
    recurring = None
    other = None
    while remark is not None:
        found = _RECURRING.fullmatch(remark)
        if found and recurring is None:
            recurring = found[1]
        else:
            other = remark if other is None else other
        # A remark may stand behind the recurrence.
        plain, remark = split_remark(plain) if plain.endswith(")") else (plain, None)
    found = _RECURRING.fullmatch(plain)
    if found:
        return DueValue(None, found[1], other)
    return DueValue(None if is_absent(plain) else plain, recurring, other)


def check_due(value: str, zone: tzinfo) -> DueValue:
    """Return the parts of a `due` that may be written; raises BadMoment and BadCron."""
    due = read_due(value)
    if due.date is not None:
        read_moment(due.date, zone)
    if due.recurring is not None:
        check_cron(due.recurring)
    return due


def next_due(due: DueValue, now: datetime, zone: tzinfo) -> DueValue:
    """Return `due` at the first occurrence that is after now and not the one that `due` says already.

    What is finished before it was due is done for that time, so the occurrence after it is the next; occurrences that
    were missed are not made up for. Recurrence and remark stay; a local time that happens twice because clocks go back
    is written as `format_exact` does. Raises BadCron for an expression that is none or never runs.
    """
    assert due.recurring is not None
    day = moment_or_none(due.date, zone)
    after = now
    if day is not None:
        # A date alone lasts until the midnight after it, and a run at that midnight is one of the next day.
        after = max(now, day.due_at(zone) - timedelta(minutes=0 if day.instant is not None else 1))
    try:
        run = next_runs(due.recurring, after, zone)[0]
    except BadCron:
        if after == now:
            raise
        # Due at the end of the calendar, behind which nothing runs.
        run = next_runs(due.recurring, now, zone)[0]
    return due._replace(date=format_exact(run, zone))


def split_priority(title: str) -> tuple[str | None, str]:
    """Split a heading into its priority and the title; an unknown priority stays a part of the title."""
    found = _PRIORITY.match(title)
    return (None, title) if found is None else (found[1].upper(), title[found.end() :])


def is_run(entry: Entry) -> bool:
    """Return whether a task is one completed run of a recurring one: the task itself goes on, open, beside it."""
    fields = entry.fields
    return bool(text_or_none(fields.get("completed"))) and read_due(fields.get("due")).recurring is not None


def read_tags(value: str | None) -> list[str]:
    """Return the tags of a value that separates them by commas, or has a `#` in front of each."""
    if value is None or value.lower() in ABSENT:
        return []
    parts = [part.strip() for part in value.replace("\n", ",").split(",")]
    found = (_HASHED.findall(part) if _HASHTAGS.fullmatch(part) else [part] for part in parts)
    return [tag for tags in found for tag in tags if tag]


def write_tags(tags: Iterable[str]) -> str:
    """Return tags as the file writes them, each once, in their order; commas inside of one separate two."""
    parts = (part.strip() for tag in tags for part in re.split(r"[,\r\n]", tag))
    return ", ".join(dict.fromkeys(part for part in parts if part))


def _due(_key: str, value: str, zone: tzinfo) -> str:
    check_due(value, zone)
    return value


def _no_recurring(_key: str, _value: str, _zone: tzinfo) -> str:
    raise UsageError("task.recurring", "a task recurs by its due, `recurring: 0 9 * * MON`", "write it into due")


FIELDS = {
    "due": Value(
        _due,
        (
            *("deadline", "due date", "due by", "due on", "due at", "date due"),
            *("fällig", "fällig am", "frist", "échéance", "vence", "vencimiento", "scadenza", "期限", "截止日期"),
        ),
        "task.due",
        whole=True,
    ),
    "started": Value(moment, ("started at", "started on", "start date", "date started"), "task.started"),
    "completed": Value(
        moment,
        ("completed at", "completed on", "completion date", "date completed", "finished", "finished at"),
        "task.completed",
    ),
    "assigned": Value(
        words=(
            *("assignee", "assigned to", "owner", "assignees"),
            *(
                "zuständig",
                "zugewiesen",
                "verantwortlich",
                "responsable",
                "asignado",
                "assigné",
                "担当",
                "負責人",
                "负责人",
            ),
        )
    ),
    "created": Value(moment, ("created at", "created on", "date created", "creation date", "added"), "task.created"),
    "cronJobId": Value(),
    "orchestrationId": Value(words=("plan id", "orchestration")),
    "progress": Value(percent, ("percent complete", "completion"), "task.progress"),
    "tags": Value(lambda _, value, __: write_tags([value]), ("tag", "labels", "label")),
    "notes": Value(words=("notizen", "notiz"), free=True),
    "action": Value(free=True),
    "outcome": Value(free=True),
    "lastUpdate": Value(words=("last updated", "latest update")),
}
"""The fields that the format knows, in the order in which memdeck writes them."""
FIELD_KEYS = tuple(FIELDS)
SCHEMA = Schema(
    {
        **FIELDS,
        "priority": Value(words=("prio", "priorität", "priorité", "prioridad", "優先度", "优先级")),
        "status": Value(words=("state",)),
        "recurring": Value(_no_recurring, code="task.recurring", level="warning"),
    }
)
"""What is read in an entry of a task: some fields belong into its heading, its section or its `due`."""
