"""The values of a task as they are read: section, priority, title, `due` with its parts, progress, tags, `created`."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from memory.base.values import ABSENT, is_absent, split_remark
from memory.document.nodes import Entry
from memory.files.refs import identity_hex
from memory.files.values import text_or_none

from .reading import SectionName, plain_task

KIND = "tasks"
PRIORITIES = ("HIGH", "NORMAL", "LOW")
FIELD_KEYS = (
    "due",
    "started",
    "completed",
    "assigned",
    "created",
    "cronJobId",
    "orchestrationId",
    "progress",
    "tags",
    "notes",
    "action",
    "outcome",
    "lastUpdate",
)
"""The fields that the format knows, in the order in which memdeck writes them."""

KNOWN_KEYS = frozenset(FIELD_KEYS)
_PRIORITY = re.compile(r"\[(HIGH|NORMAL|LOW)\](?:[ \t]+|$)", re.IGNORECASE)
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


NO_DUE = DueValue()
"""What a task without `due` has."""


@lru_cache(maxsize=4096)
def read_due(value: str | None) -> DueValue:
    """Take the value of `due` apart: a date, `(recurring: CRON)` or `recurring: CRON` alone, and a remark."""
    if not value:
        return NO_DUE
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


def split_priority(title: str) -> tuple[str | None, str]:
    """Split a heading into its priority and the title; an unknown priority stays a part of the title."""
    found = _PRIORITY.match(title)
    if found is None:
        return None, title
    return found[1].upper(), title[found.end() :]


class Head:
    """What is read of a task once and kept with its entry, `entry.memo(Head)`: heading, `created`, identity.

    `plain` is the entry in the plain form (None: it is plain itself), `findings` what was found in it.
    """

    __slots__ = ("created", "findings", "hex", "plain", "priority", "title")

    def __init__(self, entry: Entry) -> None:
        """Read the entry."""
        read, self.findings = plain_task(entry)
        self.plain = None if read is entry else read
        self.priority, self.title = split_priority(read.title)
        self.created = text_or_none(read.fields.get("created"))
        self.hex = identity_hex(KIND, self.title, self.created or "")


def is_run(entry: Entry) -> bool:
    """Tell whether a task is one completed run of a recurring one: the task itself goes on, open, beside it."""
    fields = entry.fields
    return bool(text_or_none(fields.get("completed"))) and read_due(fields.get("due")).recurring is not None


def read_tags(value: str | None) -> list[str]:
    """Return the tags of a value that separates them by commas."""
    if value is None or value.lower() in ABSENT:
        return []
    return [tag for tag in (part.strip() for part in value.replace("\n", ",").split(",")) if tag]


SECTIONS: tuple[SectionName, ...] = ("pending", "in-progress", "completed")
"""The sections of tasks.md, in their order."""
