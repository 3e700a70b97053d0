"""A task in one line: `Buy stamps fri 9:00 !high @Alice #office every month`, taken apart.

`!high`, `@name` and `#tag` may be anywhere; the due date and the recurrence are at the end of the rest, in either
order. Text in double quotes is always part of the title, as is a `#` before a number. Words such as `every blue moon`
that begin like a recurrence and are none stay in the title, which is told.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime, time, tzinfo
from typing import Literal, NamedTuple

from memory.base.clock import format_local, humanize, read_moment
from memory.base.dates import parse_when
from memory.base.recurrence import BadRecurrence, Recurrence, read_recurrence, says_recurrence
from memory.errors import UsageError
from memory.files.fields.values import moment_or_none

from .reading import PRIORITIES

EXAMPLE = "Buy stamps fri 9:00 !high @Alice #office every month"
"""A line with every part."""
LONGEST = 2000
"""The most characters of a line."""
_BULLET = re.compile(r"\A\s*[-*•] (\[[ xX]?\] )?")
_TOKEN = re.compile(r'[!@#]?"[^"]*"|\S+')
_BEGINS = re.compile(
    r"(?:every|each|hourly|daily|weekly|biweekly|fortnightly|monthly|quarterly|yearly|annually|weekdays|weekends)\b",
    re.I,
)
_BEFORE_DATE = frozenset({"by", "due", "until", "in"})
_MOST_WORDS = 10  # of a date or a recurrence


class QuickTask(NamedTuple):
    """What a line says. `due` and `recurring` are as files hold them; `meanings` say what each part of it means.

    `unread` are words of the title that begin like a recurrence and are none. `error` says why no task can be made of
    the line; empty where one can.
    """

    title: str
    priority: str
    due: str | None
    recurring: str | None
    assigned: str | None
    tags: tuple[str, ...]
    meanings: Mapping[str, str]
    unread: str
    error: str


def read_quick(line: str, now: datetime, zone: tzinfo) -> QuickTask:
    """Return what a line says of a task; never fails, what is wrong is its `error`.

    Of several priorities and people the last one counts.
    """
    rest: list[str] = []
    meanings: dict[str, str] = {}
    tags: list[str] = []
    for token in _TOKEN.findall(_BULLET.sub("", line[:LONGEST])):
        mark, value = token[:1], token[1:].strip('"').strip()
        if mark == "!" and (priority := _priority(value)) is not None:
            meanings["priority"] = priority
        elif mark == "@" and value:
            meanings["assigned"] = value
        elif mark == "#" and value and not value.isdigit() and "," not in value and not value.startswith("#"):
            tags += [value] if value not in tags else []
        else:
            rest.append(token)
    due = recurring = None
    repeats, error = "", ""
    # In either order, each once.
    for _ in range(2):
        count, kind = _at_end(rest, now, zone, due is None, not repeats)
        words, rest = rest[len(rest) - count :], rest[: len(rest) - count]
        if kind == "recurring":
            repeats = " ".join(words)
        elif kind == "due":
            due = _due(words, now, zone)
            assert due is not None
            meanings["due"] = _when(due, now, zone)
    if repeats:
        try:
            read = recurrence_from(repeats, due, zone)
            recurring, meanings["recurring"] = read.cron, "; ".join(filter(None, (read.meaning, read.note)))
        except BadRecurrence as wrong:
            meanings["recurring"] = error = f"{wrong.message}; {wrong.hint}"
    quoted = (token[1:-1].strip() if len(token) > 1 and token[0] == token[-1] == '"' else token for token in rest)
    title = " ".join(quoted).strip()
    if title:
        meanings["title"] = title
    if tags:
        meanings["tags"] = ", ".join(tags)
    priority, assigned = meanings.get("priority", "NORMAL"), meanings.get("assigned")
    error = error if title else "type a title"
    unread = "" if repeats else _unread(rest)
    return QuickTask(title, priority, due, recurring, assigned, tuple(tags), meanings, unread, error)


def checked_quick(line: str, now: datetime, zone: tzinfo) -> QuickTask:
    """Return what a line says of a task; raises UsageError `task.quick` where none can be made of it."""
    found = read_quick(line, now, zone)
    if found.error:
        raise UsageError("task.quick", found.error, f"write a line such as: {EXAMPLE}")
    return found


def recurrence_from(text: str, due: str | None, zone: tzinfo) -> Recurrence:
    """Return a recurrence in words or cron fields that goes out from a due date as files hold it (None: from none).

    Raises BadCron, BadRecurrence.
    """
    moment = moment_or_none(due, zone)
    if moment is None:
        return read_recurrence(text, None, None)
    clock = None if moment.instant is None else time.fromisoformat(format_local(moment.instant, zone)[11:])
    return read_recurrence(text, moment.date, clock)


def _priority(word: str) -> str | None:
    """Return the priority that a word or its first letter names."""
    upper = word.upper()
    return next((name for name in PRIORITIES if upper and upper in (name, name[0])), None)


def _unread(title: Sequence[str]) -> str:
    """Return the words from the last `every` of a title on, or from a `daily at`; empty where it has none."""
    for place in range(len(title) - 2, 0, -1):
        word, following = title[place].casefold(), title[place + 1].casefold()
        if word in ("every", "each") or (_BEGINS.fullmatch(word) and (following == "at" or following[0].isdigit())):
            return " ".join(title[place:])
    return ""


def _at_end(
    rest: Sequence[str], now: datetime, zone: tzinfo, date_too: bool, recurrence_too: bool
) -> tuple[int, Literal["", "due", "recurring"]]:
    """Return how many words at the end are a date or a recurrence, and which of them: the longest that is one."""
    for count in range(min(len(rest), _MOST_WORDS), 0, -1):
        words = rest[len(rest) - count :]
        if any(token.startswith('"') for token in words):
            continue
        text = " ".join(words)
        if recurrence_too and _BEGINS.match(text) and says_recurrence(text):
            return count, "recurring"
        if date_too and _due(words, now, zone) is not None:
            return count, "due"
    return 0, ""


def _due(words: Sequence[str], now: datetime, zone: tzinfo) -> str | None:
    """Return the date that words mean, as files hold it; None where they are none."""
    begins = words[0].casefold() in _BEFORE_DATE
    for text in (" ".join(words), *((" ".join(words[1:]),) if begins and len(words) > 1 else ())):
        try:
            return parse_when(text, now, zone)
        except UsageError:
            continue
    return None


def _when(due: str, now: datetime, zone: tzinfo) -> str:
    moment = read_moment(due, zone)
    return due if moment is None else f"{due}, {humanize(moment, now, zone)}"
