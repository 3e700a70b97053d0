"""Values of tasks: checked, put in the form of the file, and set in one entry."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import tzinfo
from typing import TYPE_CHECKING

from memory.base.clock import read_moment
from memory.base.patterns import late
from memory.base.remarks import is_absent
from memory.errors import UsageError

from .model import PRIORITIES, DueValue, read_due, split_priority

if TYPE_CHECKING:
    from memory.document import Entry

_MOMENTS = frozenset({"created", "started", "completed"})
_NOT_FIELDS = frozenset({"ref", "line", "extra", "section"})
_NUMBER = late(r"([0-9]{1,3})[ \t]*%?", re.ASCII)


def with_value(entry: Entry, key: str, value: str | None, zone: tzinfo) -> Entry:
    """Return the entry with one value set; None or an empty one takes the field away.

    `key` is a key of the interface that is a field, `title`, `priority`, or a field that the format does not know.
    Raises BadMoment, BadCron, and UsageError `task.title`, `task.priority`, `task.progress`, `field.key`,
    `field.value` for what cannot be written.
    """
    wanted = None if value is None or not value.strip() else value.strip()
    if key == "title":
        return with_heading(entry, split_priority(entry.title)[0], wanted or "")
    if key == "priority":
        return with_heading(entry, read_priority(wanted), split_priority(entry.title)[1])
    if key in ("due", "recurring"):
        old = read_due(entry.fields.get("due"))
        due = _changed_date(old, wanted, zone) if key == "due" else _changed_cron(old, wanted)
        return with_text(entry, "due", str(due) or None)
    if key in _NOT_FIELDS:
        raise UsageError("field.key", f"{key!r} is not a field of a task", "set a field, title, priority or section")
    if wanted is not None:
        if key in _MOMENTS:
            read_moment(wanted, zone)
        elif key == "progress":
            wanted = f"{read_percent(wanted)}%"
        elif key == "tags":
            wanted = write_tags([wanted])
    return with_text(entry, key, wanted or None)


def with_text(entry: Entry, key: str, value: str | None) -> Entry:
    """Return the entry with a field that reads as `value`, or without it; no other field may read differently.

    Raises UsageError `field.key` for a key that is none, `field.value` for a value that would not stay one.
    """
    fields = entry.fields
    if value is None:
        return entry.unset_field(key) if key in fields else entry
    if _plain(fields.get(key)) == _plain(value) and fields.get(key) is not None:
        return entry
    new = entry.set_field(key, value)
    read = new.fields
    if _words(read.get(key)) != _words(value) or _others(read, key) != _others(fields, key):
        raise UsageError(
            "field.value",
            f"the value of {key} would not be read as it is written",
            "leave out code fences and HTML, or write them into the entry's text",
        )
    return new


def _plain(value: str | None) -> list[str]:
    return [] if value is None else [line.strip() for line in value.replace("\r\n", "\n").split("\n")]


def _words(value: str | None) -> list[str] | None:
    return None if value is None else value.split()


def _others(fields: Mapping[str, str], key: str) -> list[tuple[str, str]]:
    return [(other, value) for other, value in fields.items() if other != key]


def heading(priority: str | None, title: str) -> str:
    """Return the heading of a priority (None: none) and a title; raises UsageError `task.title`."""
    clean = title.strip()
    if not clean:
        raise UsageError("task.title", "a task needs a title", "say in a few words what is to be done")
    line = f"[{priority}] {clean}" if priority else clean
    if split_priority(line) != (priority, clean):
        raise UsageError(
            "task.title", f"the title {clean[:60]!r} begins with a priority", "set the priority, or another title"
        )
    return line


def with_heading(entry: Entry, priority: str | None, title: str) -> Entry:
    """Return the entry under another priority or title; what stays keeps its spelling."""
    old = entry.title
    old_priority, old_title = split_priority(old)
    clean = title.strip()
    if (old_priority, old_title) == (priority, clean):
        return entry
    if old_priority == priority:
        heading(priority, clean)
        line = old[: len(old) - len(old_title)] + clean
    elif clean or old_title:
        line = heading(priority, clean)
    else:
        # A heading that never had a title gets none now.
        line = f"[{priority}]" if priority else ""
    new = entry.with_title(line)
    if split_priority(new.title) != (priority, clean):
        raise UsageError("task.title", f"the title {clean[:60]!r} would not be read as it is written", "change it")
    return new


def read_priority(text: str | None) -> str | None:
    """Return HIGH, NORMAL or LOW, None for an absent one; raises UsageError `task.priority` for another word."""
    if text is None or is_absent(text):
        return None
    if text.strip().upper() in PRIORITIES:
        return text.strip().upper()
    raise UsageError("task.priority", f"{text[:40]!r} is not a priority", "use HIGH, NORMAL or LOW")


def read_percent(text: str | int) -> int:
    """Return a progress from 0 to 100, with or without %; raises UsageError `task.progress` for another one."""
    found = _NUMBER.fullmatch(str(text).strip())
    if found is None or int(found[1]) > 100:
        raise UsageError("task.progress", f"{str(text)[:40]!r} is not a progress", "use a whole number from 0 to 100")
    return int(found[1])


def write_tags(tags: Mapping[str, object] | list[str] | tuple[str, ...]) -> str:
    """Return tags as the file writes them, each once, in their order; commas inside of one separate two."""
    parts = (part.strip() for tag in tags for part in re.split(r"[,\r\n]", tag))
    return ", ".join(dict.fromkeys(part for part in parts if part))


def check_due(value: str, zone: tzinfo) -> DueValue:
    """Return the parts of a `due` that may be written; raises BadMoment and BadCron."""
    due = read_due(value)
    if due.date is not None:
        read_moment(due.date, zone)
    if due.recurring is not None:
        from memory.base.cron import check_cron

        check_cron(due.recurring)
    return due


def _changed_date(old: DueValue, value: str | None, zone: tzinfo) -> DueValue:
    """Return `due` with another date; the recurrence stays unless the value has its own."""
    if value is None:
        return DueValue(None, old.recurring)
    new = check_due(value, zone)
    cron = new.recurring or old.recurring
    # A remark on "no date" is wrong beside a date, one on another schedule beside a new one.
    stays = old.date is not None and new.date is not None and cron == old.recurring
    return DueValue(new.date, cron, new.remark or (old.remark if stays else None))


def _changed_cron(old: DueValue, value: str | None) -> DueValue:
    if value is None or is_absent(value):
        return DueValue(old.date, None, old.remark if old.date is not None else None)
    from memory.base.cron import check_cron

    check_cron(value)
    cron = " ".join(value.split())
    return DueValue(old.date, cron, old.remark if old.recurring in (None, cron) and old.date is not None else None)
