"""A task in one line: `Buy stamps fri 9:00 !high @Alice #office every month`, taken apart with the place of each part.

`!high`, `@name` and `#tag` stand anywhere; when it is due and how it recurs stand at the end of what is left, in either
order. What stands in double quotes is title and nothing else, as is a `#` before a number.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, time, tzinfo
from typing import Literal, NamedTuple

from memory.base.clock import format_local, humanize, read_moment
from memory.base.dates import parse_when
from memory.base.recurrence_words import BadRecurrence, Recurrence, read_recurrence, says_recurrence
from memory.errors import UsageError
from memory.files.fields.values import moment_or_none

from .values import PRIORITIES

PartName = Literal["title", "due", "recurring", "priority", "assigned", "tags"]
EXAMPLE = "Buy stamps fri 9:00 !high @Alice #office every month"
"""A line with every part."""
LONGEST = 2000
"""The most characters of a line."""
_TOKEN = re.compile(r'[!@#]?"[^"]*"|\S+')
_BEGINS = re.compile(
    r"(?:every|each|hourly|daily|weekly|biweekly|fortnightly|monthly|quarterly|yearly|annually|weekdays|weekends)\b",
    re.I,
)
_BEFORE_DATE = frozenset({"by", "due", "until", "in"})
_MOST_WORDS = 10  # of a date or a recurrence


class QuickPart(NamedTuple):
    """One part of a line: what it is, where it stands (characters from 0, `stop` exclusive), and what it means.

    `error` says why it cannot be used; empty where it can.
    """

    name: PartName
    start: int
    stop: int
    meaning: str
    error: str = ""


@dataclass(frozen=True, slots=True)
class QuickTask:
    """What a line says. `due` and `recurring` are as files hold them; `parts` are in the order of the line."""

    title: str
    parts: tuple[QuickPart, ...]
    priority: str = "NORMAL"
    due: str | None = None
    recurring: str | None = None
    assigned: str | None = None
    tags: tuple[str, ...] = ()

    @property
    def error(self) -> str:
        """Why no task can be made of it; empty where one can."""
        if not self.title:
            return "write what is to be done"
        return next((part.error for part in self.parts if part.error), "")


class _Token(NamedTuple):
    text: str
    start: int
    stop: int

    @property
    def quoted(self) -> bool:
        return self.text.startswith('"') and len(self.text) > 1 and self.text.endswith('"')


def read_quick(line: str, now: datetime, zone: tzinfo) -> QuickTask:
    """Return what a line says of a task; never fails, what is wrong stands in `error` and its part.

    Of several priorities and people the last one counts.
    """
    tokens = [_Token(found[0], *found.span()) for found in _TOKEN.finditer(line[:LONGEST])]
    parts: list[QuickPart] = []
    rest: list[_Token] = []
    priority, assigned, tags = "NORMAL", None, []
    for token in tokens:
        mark, value = token.text[:1], token.text[1:].strip('"').strip()
        found = _priority(value) if mark == "!" else None
        if found is not None:
            priority = found
            parts.append(QuickPart("priority", token.start, token.stop, found))
        elif mark == "@" and value:
            assigned = value
            parts.append(QuickPart("assigned", token.start, token.stop, value))
        elif mark == "#" and value and not value.isdigit() and "," not in value and not value.startswith("#"):
            if value not in tags:
                tags.append(value)
            parts.append(QuickPart("tags", token.start, token.stop, value))
        else:
            rest.append(token)
    due: str | None = None
    repeats: list[_Token] = []
    # In either order, each once.
    for _ in range(2):
        count, kind = _at_end(rest, now, zone, due is None, not repeats)
        if kind == "":
            break
        words, rest = rest[len(rest) - count :], rest[: len(rest) - count]
        if kind == "recurring":
            repeats = words
        else:
            due = _due(words, now, zone)
            assert due is not None
            parts.append(QuickPart("due", words[0].start, words[-1].stop, _when(due, now, zone)))
    recurring = None
    if repeats:
        meaning = wrong = ""
        try:
            read = recurrence_from(_joined(repeats), due, zone)
            recurring, meaning = read.cron, "; ".join(filter(None, (read.meaning, read.note)))
        except BadRecurrence as error:
            wrong = f"{error.message}; {error.hint}"
        parts.append(QuickPart("recurring", repeats[0].start, repeats[-1].stop, meaning, wrong))
    title = " ".join(token.text[1:-1].strip() if token.quoted else token.text for token in rest).strip()
    if rest:
        parts.append(QuickPart("title", rest[0].start, rest[-1].stop, title))
    parts.sort(key=lambda part: part.start)
    return QuickTask(title, tuple(parts), priority, due, recurring, assigned, tuple(tags))


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


def _at_end(
    rest: Sequence[_Token], now: datetime, zone: tzinfo, date_too: bool, recurrence_too: bool
) -> tuple[int, Literal["", "due", "recurring"]]:
    """Return how many words at the end are a date or a recurrence, and which of them: the longest that is one."""
    for count in range(min(len(rest), _MOST_WORDS), 0, -1):
        words = rest[len(rest) - count :]
        if any(token.text.startswith('"') for token in words):
            continue
        text = _joined(words)
        if recurrence_too and _BEGINS.match(text) and says_recurrence(text):
            return count, "recurring"
        if date_too and _due(words, now, zone) is not None:
            return count, "due"
    return 0, ""


def _due(words: Sequence[_Token], now: datetime, zone: tzinfo) -> str | None:
    """Return the date that words mean, as files hold it; None where they are none."""
    begins = words[0].text.casefold() in _BEFORE_DATE
    for text in (_joined(words), *((_joined(words[1:]),) if begins and len(words) > 1 else ())):
        try:
            return parse_when(text, now, zone)
        except UsageError:
            continue
    return None


def _joined(words: Sequence[_Token]) -> str:
    return " ".join(token.text for token in words)


def _when(due: str, now: datetime, zone: tzinfo) -> str:
    moment = read_moment(due, zone)
    return due if moment is None else f"{due}, {humanize(moment, now, zone)}"
