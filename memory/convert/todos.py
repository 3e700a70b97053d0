"""Lists of tasks: the JSON that `task export` of Taskwarrior writes, a list or one task a line; and todo.txt."""

from __future__ import annotations

import json
import re
from calendar import monthrange
from collections.abc import Iterator
from datetime import date, datetime, tzinfo
from pathlib import Path
from typing import Any

from memory.base.items import Item, Loss, Skipped
from memory.convert.outside import lines_of, one_line, read_json, read_text, rest_of, title_of
from memory.errors import UsageError

_TIME = re.compile(r"(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z")
_PRIORITIES = {"H": "HIGH", "M": "NORMAL", "L": "LOW"}
_SECTIONS = {"pending": "pending", "waiting": "pending", "recurring": "pending", "completed": "completed"}
_NAMES = {"due": "due", "start": "started", "end": "completed"}
_WORDS = {
    "daily": (1, "day"), "day": (1, "day"), "weekdays": (1, "weekday"), "weekly": (1, "week"), "sennight": (1, "week"),
    "biweekly": (2, "week"), "fortnight": (2, "week"), "monthly": (1, "month"), "bimonthly": (2, "month"),
    "quarterly": (3, "month"), "semiannual": (6, "month"), "annual": (1, "year"), "yearly": (1, "year"),
    "biannual": (2, "year"), "biyearly": (2, "year"),
}  # fmt: skip
"""Recurrence in one word: how many of which unit."""
_PERIOD = re.compile(r"p?(\d{0,4}) ?(d|days?|w|wks?|weeks?|mo|mths?|months?|m|q|qtrs?|quarters?|y|yrs?|years?)")
_UNITS = {"d": "day", "w": "week", "m": "month", "q": "quarter", "y": "year"}
_COMPUTED = frozenset({"id", "urgency", "mask", "imask", "parent", "rtype", "last"})
"""Values that each export computes again: nothing is lost without them."""
_READ = frozenset({"description", "status", "priority", "entry", "tags", "annotations", "recur", *_NAMES, *_COMPUTED})


def read_taskwarrior(path: Path, zone: tzinfo) -> Iterator[Item | Skipped | Loss]:
    """Yield the tasks; deleted ones are skipped. Recurrence is that of the clock in `zone`.

    Taskwarrior keeps a recurring task as a template and generates an instance for each of its due dates. The first open
    instance, with its date and annotations, is the task; the template and further instances are skipped. Completed
    instances are included, without the recurrence.
    """
    tasks = _exported(path)
    templates = {
        task["uuid"]: number
        for number, task in enumerate(tasks, 1)
        if isinstance(task, dict) and task.get("status") == "recurring" and isinstance(task.get("uuid"), str)
    }
    live = _live_instances(tasks, templates)
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
        uuid, template = one_line(task.get("uuid", "")), templates.get(one_line(task.get("parent", "")))
        if status == "recurring" and uuid in live:
            yield Skipped(f"{where}: {title}", f"it is the template of the task {path}:{live[uuid]}")
            continue
        if template is not None:
            made_of = tasks[template - 1]
            if live.get(made_of["uuid"]) == number:
                # The template stays the task when it is converted again, even with another live instance.
                task = {**made_of, **task, "uuid": made_of["uuid"]}
            elif _SECTIONS[status] == "pending":
                yield Skipped(f"{where}: {title}", f"it is one date of the recurring task {path}:{template}")
                continue
            else:
                task = {key: value for key, value in task.items() if key != "recur"}
        yield from _item(task, title_of(title), where, zone)


def _live_instances(tasks: list[Any], templates: dict[str, int]) -> dict[str, int]:
    """Return the number of the open instance of each template that is due first; a started one comes before others."""
    live: dict[str, tuple[bool, str, int]] = {}
    for number, task in enumerate(tasks, 1):
        parent = one_line(task.get("parent", "")) if isinstance(task, dict) else ""
        if parent in templates and one_line(task.get("status", "")) in ("pending", "waiting"):
            rank = (not task.get("start"), one_line(task.get("due", "")), number)
            live[parent] = min(live.get(parent, rank), rank)
    return {parent: number for parent, (_, _, number) in live.items()}


def _exported(path: Path) -> list[Any]:
    text = read_text(path).lstrip()
    if not text.startswith("{"):
        found = read_json(path)
        if not isinstance(found, list):
            raise UsageError(
                "convert.unreadable", f"{path}:1: it is not a list of tasks", "write it with `task export`"
            )
        return found
    tasks = []
    for number, line in enumerate(lines_of(text), 1):
        if line.strip():
            try:
                tasks.append(json.loads(line.rstrip().removesuffix(",")))
            except (ValueError, RecursionError) as error:
                raise UsageError("convert.unreadable", f"{path}:{number}: {error}", "export it again") from None
    return tasks


def _item(task: dict[str, Any], title: str, where: str, zone: tzinfo) -> Iterator[Item | Loss]:
    """Yield the item of a task, and what of its recurrence is lost."""
    fields = {"section": _SECTIONS[task.get("status", "pending")]}
    if fields["section"] == "pending" and task.get("start"):
        fields["section"] = "in-progress"
    if task.get("priority"):
        fields["priority"] = _PRIORITIES.get(one_line(task["priority"]), one_line(task["priority"]))
    for key, name in _NAMES.items():
        if task.get(key):
            fields[name] = _time(one_line(task[key]))
    losses: list[Loss] = []
    recur = one_line(task.get("recur") or "")
    if recur:
        due = _local(fields.get("due", ""), zone)
        expression, lost = _cron(recur, due)
        if expression:
            fields["due"] = f"{fields.get('due', '')} (recurring: {expression})".strip()
        else:
            fields["recur"] = recur
        if lost:
            losses.append(Loss(f"{where}: {title}", "recur", lost))
        if task.get("until"):
            losses.append(Loss(f"{where}: {title}", "until", "a recurrence cannot end here; the date is kept as text"))
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
    yield Item("task", title, "", where, _time(one_line(task.get("entry", ""))), words, fields)
    yield from losses


def _time(text: str) -> str:
    """Return a time of Taskwarrior in ISO form; another text as it is."""
    found = _TIME.fullmatch(text)
    return "{}-{}-{}T{}:{}:{}Z".format(*found.groups()) if found else text


def _local(text: str, zone: tzinfo) -> datetime | None:
    """Return a time in the zone; None for a text that is none."""
    try:
        return datetime.fromisoformat(text).astimezone(zone)
    except ValueError:
        return None


def _cron(recur: str, due: datetime | None) -> tuple[str | None, str]:
    """Return the cron expression of a recurrence that begins at a due date, and what cron cannot express of it."""
    word = recur.strip().lower()
    count, unit = _WORDS.get(word, (0, ""))
    if not count and (found := _PERIOD.fullmatch(word)):
        count, unit = int(found[1] or 1), _UNITS[found[2][0]]
    if unit == "quarter":
        count, unit = 3 * count, "month"
    if unit == "month" and count and count % 12 == 0:
        count, unit = count // 12, "year"
    if unit == "day" and count == 7:
        count, unit = 1, "week"
    if due is None and count:
        return None, "it has no due date to count from"
    if due is None or not count or (count > 1 and (unit != "month" or 12 % count)):
        return None, f"cron cannot express {recur[:40]!r}; it is kept as text"
    clock = f"{due.minute} {due.hour}"
    if unit in ("day", "weekday"):
        return f"{clock} * * {'*' if unit == 'day' else '1-5'}", ""
    if unit == "week":
        return f"{clock} * * {due.isoweekday() % 7}", ""
    step = 12 if unit == "year" else count
    months = sorted((due.month - 1 + step * number) % 12 + 1 for number in range(12 // step))
    day = "L" if due.day == 31 else str(due.day)
    short = due.day < 31 and any(due.day > monthrange(2025, month)[1] for month in months)
    lost = f"cron skips the months without a day {due.day}" if short else ""
    return f"{clock} {day} {'*' if step == 1 else ','.join(map(str, months))} *", lost


_DAY = r"\d{4}-\d\d-\d\d"
_LINE = re.compile(rf"(?:(x) (?:({_DAY}) )?)?(?:\(([A-Z])\) )?(?:({_DAY}) )?(?:({_DAY}) )?(.*)", re.DOTALL)
_LETTERS = {"A": "HIGH", "B": "NORMAL", "C": "LOW"}


def read_todo_txt(path: Path, _zone: tzinfo) -> Iterator[Item | Skipped]:
    """Yield the tasks of a todo.txt, one a line: priority, dates, projects, contexts, and `due:` and `pri:` words.

    Empty lines are not counted.
    """
    for number, line in enumerate(lines_of(read_text(path)), 1):
        if line.strip():
            yield _task(line.strip(" \t\r"), f"{path}:{number}")


def _task(line: str, where: str) -> Item | Skipped:
    found = _LINE.fullmatch(line)
    assert found is not None  # Every part except the last may be missing.
    done, ended, letter, first, second, rest = found.groups()
    if done and ended is None:
        ended, first, second = first, second, None
    if second:
        rest = f"{second} {rest}"
    fields = {"section": "completed" if done else "pending"}
    if ended:
        fields["completed"] = ended
    words, projects, contexts = [], [], []
    for word in re.split(r"[ \t\r]+", rest):
        if len(word) > 1 and word[0] == "+":
            projects.append(word[1:])
        elif len(word) > 1 and word[0] == "@":
            contexts.append(f"@{word[1:]}")
        elif word.startswith("due:") and "due" not in fields and _is_day(word[4:]):
            fields["due"] = word[4:]
        elif letter is None and re.fullmatch("pri:[A-Z]", word):
            letter = word[4:]
        else:
            # Every other word with a colon is text: a field of ours is none of todo.txt.
            words.append(word)
    if letter:
        fields["priority"] = _LETTERS.get(letter, letter)
    title = " ".join(words).strip(" ")
    if not title:
        return Skipped(where, "it has no text")
    return Item("task", title, "", where, first or "", (*projects, *contexts), fields)


def _is_day(text: str) -> bool:
    try:
        return re.fullmatch(_DAY, text) is not None and bool(date.fromisoformat(text))
    except ValueError:
        return False
