"""What the fields of a kind of entry are, declared once: their keys, other words for them, and what values they take.

Reading, `check` and edits use the same declaration: a value that an edit refuses is one that `check` reports.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, tzinfo
from functools import lru_cache
from typing import NamedTuple

from memory.base.clock import BadMoment, Moment, find_zone, read_moment
from memory.base.cron import check_cron
from memory.base.problems import Level, Problem
from memory.base.values import ABSENT, folded, is_absent, join_remark, split_field
from memory.document.nodes import Entry, field_line
from memory.errors import UsageError

_PROGRESS = re.compile(r"([0-9]{1,3})[ \t]*%?", re.ASCII)
_YES = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}
Written = Callable[[str, str, tzinfo], str]
"""Returns the value of a key as files have it; UsageError for one that it cannot have."""


def text_or_none(value: str | None) -> str | None:
    """Return a value, None for one that says that there is none."""
    if value is None or (len(value) < 8 and value.strip().lower() in ABSENT):
        return None
    return value


def read_progress(value: str | None) -> int | None:
    """Return 0 to 100, None for another value."""
    found = _PROGRESS.fullmatch(value) if value else None
    return int(found[1]) if found and int(found[1]) <= 100 else None


def read_truth(value: str | None) -> bool | None:
    """Return whether a value is `true`, `yes` or `on`; None for one that is neither these nor their opposites."""
    return _YES.get((value or "").lower())


@lru_cache(4096)
def moment_or_none(text: str | None, zone: tzinfo) -> Moment | None:
    """Return the moment of a value, None where it is absent or does not exist."""
    if text is None:
        return None
    try:
        return read_moment(text, zone)
    except BadMoment:
        return None


# -- what a value may be ---------------------------------------------------------------------------------------------


def anything(_key: str, value: str, _zone: tzinfo) -> str:
    """Return any value as it is."""
    return value


def moment(_key: str, value: str, zone: tzinfo) -> str:
    """Return a date or time; BadMoment."""
    read_moment(value, zone)
    return value


def checked(check: Callable[[str], object]) -> Written:
    """Return what accepts a value that a function checks, with its errors."""

    def written(_key: str, value: str, _zone: tzinfo) -> str:
        check(value)
        return value

    return written


cron, zone_name = checked(check_cron), checked(find_zone)


def percent(key: str, value: str, _zone: tzinfo) -> str:
    """Return a progress from 0 to 100 with its sign; UsageError `task.progress`."""
    found = read_progress(value.strip())
    if found is None:
        hint = "use a whole number from 0 to 100"
        raise UsageError("task.progress", f"{key} is {value[:40]!r}, not 0% to 100%", hint)
    return f"{found}%"


def truth(key: str, value: str, _zone: tzinfo) -> str:
    """Return a word for true or false."""
    if read_truth(value) is None:
        raise UsageError("field.value", f"{key} is {value[:40]!r}, not true or false", "write true or false")
    return value


def one_of(words: tuple[str, ...], code: str) -> Written:
    """Return what accepts some words in any case; UsageError with `code` for others."""

    def written(key: str, value: str, _zone: tzinfo) -> str:
        if value.casefold() not in words:
            known = f"{', '.join(words[:-1])} or {words[-1]}"
            raise UsageError(code, f"{key} is {value[:40]!r}, not {known}", f"write {known}")
        return value

    return written


def whole_number(least: int, most: int, words: str) -> Written:
    """Return what accepts a whole number between two; `words` say which."""

    def written(key: str, value: str, _zone: tzinfo) -> str:
        if not (re.fullmatch(r"[0-9]{1,9}", value, re.ASCII) and least <= int(value) <= most):
            raise UsageError("field.value", f"{key} is {value[:40]!r}, not a whole number {words}", "give another")
        return value

    return written


class Value(NamedTuple):
    """What a field holds: how its value is checked and written, and the other words for its key, between commas.

    `code` and `level` are those of a finding of `check`; without a code it says nothing. A field that is `needed` has
    no absent value; of one that is taken `whole` the remark is a part of the value. The key of a `free` text often
    begins a sentence. `takes` says in words what it may be.
    """

    written: Written = anything
    words: str = ""
    code: str = ""
    level: Level = "error"
    needed: bool = False
    whole: bool = False
    free: bool = False
    takes: str = ""


class Schema:
    """The fields that a kind of entry knows.

    A word is compared without case, blanks, dashes and underscores: `Due Date`, `due_date` and `dueDate` are one.
    """

    def __init__(self, fields: Mapping[str, Value], *, understood: bool = True) -> None:
        """Store the fields; where `understood` is false, one in another dress is only told, never read."""
        self.fields = fields
        self.keys = frozenset(fields)
        self.understood = understood
        self._meaning = {_normal(key): key for key in fields}
        words = ((word, key) for key, value in fields.items() for word in value.words.split(",") if value.words)
        self._meaning.update((_normal(word), key) for word, key in words)
        self._told = [(key, value) for key, value in fields.items() if value.code]

    def meaning(self, word: str) -> str | None:
        """Return the key that a word means, None if it means none."""
        return word if word in self.keys else self._meaning.get(_normal(word))

    def written(self, key: str, value: str, zone: tzinfo = UTC) -> str:
        """Return a value as it is written, with its remark; UsageError for one that the key cannot have."""
        known = self.fields.get(key)
        if known is None:
            return value
        plain, remark = (value, None) if known.whole else split_field(key, value)
        if is_absent(plain) and not known.needed:
            return value
        new = known.written(key, plain, zone)
        return value if new == plain else join_remark(new, remark)

    def problem(self, key: str, value: str, zone: tzinfo = UTC) -> str | None:
        """Return what is wrong with a value; None if nothing is, or if the key is unknown."""
        try:
            self.written(key, value, zone)
        except UsageError as error:
            return error.message
        return None

    def problems(self, name: str, entry: Entry, line: int, zone: tzinfo) -> Iterator[Problem]:
        """Yield what is wrong with the fields of an entry of a file, whose heading is in a line (from 1)."""
        fields = entry.fields
        for key, known in self._told:
            if key in fields and (wrong := self.problem(key, fields[key], zone)) is not None:
                words = wrong if wrong.startswith(f"{key} ") else f"{key}: {wrong}"
                message = f"{words}, in {entry.title[:40]!r}"
                yield Problem(known.level, name, field_line(entry, key, line), known.code, message)


def _normal(word: str) -> str:
    return re.sub(r"[\s_-]+", "", folded(word))
