"""todo.txt: one task a line, with priority, dates, projects, contexts and `key:value` pairs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from memory.base.items import Item, Skipped
from memory.convert.outside import read_text

_DAY = r"\d{4}-\d\d-\d\d"
_LINE = re.compile(rf"(x )?(?:\(([A-Z])\) )?(?:({_DAY}) )?(?:({_DAY}) )?(.*)")
_PAIR = re.compile(r"([A-Za-z][A-Za-z0-9_-]*):([^\s:/]\S*)")
_PRIORITIES = {"A": "HIGH", "B": "NORMAL", "C": "LOW"}


def read(path: Path) -> Iterator[Item | Skipped]:
    """Yield the tasks; empty lines are not counted."""
    for number, line in enumerate(read_text(path).splitlines(), 1):
        if line.strip():
            yield _item(line.strip(), f"{path}:{number}")


def _item(line: str, where: str) -> Item | Skipped:
    found = _LINE.fullmatch(line)
    assert found is not None  # Every part except the last may be missing.
    done, letter, first, second, rest = found.groups()
    fields = {"section": "completed" if done else "pending"}
    created = second or (None if done else first) or ""
    if done and first:
        fields["completed"] = first
    if letter:
        fields["priority"] = _PRIORITIES.get(letter, letter)
    words, tags = [], []
    projects, contexts = [], []
    for word in rest.split():
        if len(word) > 1 and word[0] == "+":
            projects.append(word[1:])
        elif len(word) > 1 and word[0] == "@":
            contexts.append(word[1:])
        elif pair := _PAIR.fullmatch(word):
            fields[{"pri": "priority"}.get(pair[1], pair[1])] = _PRIORITIES.get(pair[2], pair[2])
        else:
            words.append(word)
    tags = projects + [f"@{one}" for one in contexts]
    title = " ".join(words)
    if not title:
        return Skipped(where, "it has no text")
    return Item("task", title, "", where, created, tuple(tags), fields)
