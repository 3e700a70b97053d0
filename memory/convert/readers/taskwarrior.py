"""Taskwarrior: the JSON that `task export` writes, a list of tasks or one task a line."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from memory.base.items import Item, Skipped
from memory.convert.outside import lines_of, one_line, read_json, read_text, rest_of, title_of
from memory.errors import UsageError

_TIME = re.compile(r"(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z")
_PRIORITIES = {"H": "HIGH", "M": "NORMAL", "L": "LOW"}
_SECTIONS = {"pending": "pending", "waiting": "pending", "recurring": "pending", "completed": "completed"}
_NAMES = {"due": "due", "start": "started", "end": "completed"}
_CRON = {"daily": "0 0 * * *", "weekdays": "0 0 * * 1-5", "weekly": "0 0 * * 0", "monthly": "0 0 1 * *",
         "quarterly": "0 0 1 */3 *", "yearly": "0 0 1 1 *", "annual": "0 0 1 1 *"}  # fmt: skip
_COMPUTED = frozenset({"id", "urgency"})
"""Values that each export computes again: nothing is lost without them."""
_READ = frozenset({"description", "status", "priority", "entry", "tags", "annotations", "recur", *_NAMES, *_COMPUTED})


def read(path: Path) -> Iterator[Item | Skipped]:
    """Yield the tasks; deleted ones, and waiting instances that are generated from a recurring one, are skipped.

    Taskwarrior generates an instance of a recurring task for each of its due dates. Completed instances are included,
    without the recurrence, which belongs to the recurring task.
    """
    tasks = _tasks(path)
    recurring = {
        task["uuid"]: number
        for number, task in enumerate(tasks, 1)
        if isinstance(task, dict) and task.get("status") == "recurring" and isinstance(task.get("uuid"), str)
    }
    for number, task in enumerate(tasks, 1):
        where = f"{path}:{number}"
        title = task.get("description") if isinstance(task, dict) else None
        if not isinstance(title, str) or not title.strip():
            yield Skipped(where, "it has no description")
            continue
        status = task.get("status", "pending")
        if not isinstance(status, str) or status not in _SECTIONS:
            yield Skipped(f"{where}: {title}", f"its status is {one_line(status)[:40]}")
            continue
        made_of = recurring.get(one_line(task.get("parent", "")))
        if made_of is not None:
            if _SECTIONS[status] == "pending" and not task.get("start"):
                yield Skipped(f"{where}: {title}", f"it is a due date of the recurring task {path}:{made_of}")
                continue
            task = {key: value for key, value in task.items() if key != "recur"}
        yield _item(task, title_of(title), where)


def _tasks(path: Path) -> list[Any]:
    text = read_text(path).lstrip()
    if not text.startswith("{"):
        found = read_json(path)
        if not isinstance(found, list):
            raise UsageError("convert.unreadable", f"{path}:1: it is no list of tasks", "write it with `task export`")
        return found
    tasks = []
    for number, line in enumerate(lines_of(text), 1):
        if line.strip():
            try:
                tasks.append(json.loads(line.rstrip().removesuffix(",")))
            except (ValueError, RecursionError) as error:
                raise UsageError("convert.unreadable", f"{path}:{number}: {error}", "export it again") from None
    return tasks


def _item(task: dict[str, Any], title: str, where: str) -> Item:
    fields = {"section": _SECTIONS[task.get("status", "pending")]}
    if fields["section"] == "pending" and task.get("start"):
        fields["section"] = "in-progress"
    if task.get("priority"):
        fields["priority"] = _PRIORITIES.get(one_line(task["priority"]), one_line(task["priority"]))
    for key, name in _NAMES.items():
        if task.get(key):
            fields[name] = _time(one_line(task[key]))
    recur = task.get("recur")
    if isinstance(recur, str) and recur in _CRON:
        day = fields.get("due", "")
        fields["due"] = f"{day} (recurring: {_cron(recur, day)})".strip()
    elif recur:
        fields["recur"] = one_line(recur)
    fields.update({key: _time(value) for key, value in rest_of(task, _READ, "taskwarrior").items()})
    notes = [
        f"{_time(one_line(one.get('entry', '')))} {one_line(one.get('description', ''))}".strip()
        for one in task.get("annotations") or ()
        if isinstance(one, dict)
    ]
    if notes:
        fields["notes"] = "\n".join(notes)
    tags = task.get("tags") or []
    words = tuple(one for one in tags if isinstance(one, str)) if isinstance(tags, list) else (one_line(tags),)
    return Item("task", title, "", where, _time(one_line(task.get("entry", ""))), words, fields)


def _time(text: str) -> str:
    """Return a time of Taskwarrior in ISO form; another text as it is."""
    found = _TIME.fullmatch(text)
    return "{}-{}-{}T{}:{}:{}Z".format(*found.groups()) if found else text


def _cron(recur: str, due: str) -> str:
    """Return the schedule of a recurrence word, on the day of the first due date if there is one."""
    try:
        day = datetime.fromisoformat(due)
    except ValueError:
        return _CRON[recur]
    when = {"weekly": f"* * {day.isoweekday() % 7}", "monthly": f"{day.day} * *", "quarterly": f"{day.day} */3 *"}
    yearly = f"{day.day} {day.month} *"
    rest = when.get(recur, yearly if recur in ("yearly", "annual") else _CRON[recur].split(" ", 2)[2])
    return f"{day.minute} {day.hour} {rest}"
