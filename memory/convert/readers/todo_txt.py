"""The tasks of a todo.txt."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, tzinfo
from pathlib import Path

from memory.base.items import Item, Skipped
from memory.convert.outside import lines_of, read_text

_DAY = r"\d{4}-\d\d-\d\d"
_LINE = re.compile(rf"(?:(x) (?:({_DAY}) )?)?(?:\(([A-Z])\) )?(?:({_DAY}) )?(?:({_DAY}) )?(.*)", re.DOTALL)
_PRIORITIES = {"A": "HIGH", "B": "NORMAL", "C": "LOW"}


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
        fields["priority"] = _PRIORITIES.get(letter, letter)
    title = " ".join(words).strip(" ")
    if not title:
        return Skipped(where, "it has no text")
    return Item("task", title, "", where, first or "", (*projects, *contexts), fields)


def _is_day(text: str) -> bool:
    try:
        return re.fullmatch(_DAY, text) is not None and bool(date.fromisoformat(text))
    except ValueError:
        return False
