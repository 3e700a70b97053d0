"""Programs for the terminal: the tasks of todo.txt and the journal of jrnl."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, tzinfo
from pathlib import Path

from memory.base.items import Item, Skipped
from memory.convert.outside import lines_of, one_line, read_json, read_text, rest_of, title_of
from memory.errors import UsageError

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


# -- jrnl -----------------------------------------------------------------------------------------------------------

_READ = frozenset({"title", "body", "date", "time", "tags"})


def read_jrnl(path: Path, _zone: tzinfo) -> Iterator[Item | Skipped]:
    """Yield the entries that `jrnl --format json` wrote."""
    found = read_json(path)
    entries = found.get("entries") if isinstance(found, dict) else None
    if not isinstance(entries, list):
        raise UsageError("convert.unreadable", f"{path}:1: it has no entries", "write it with `jrnl --format json`")
    for number, entry in enumerate(entries, 1):
        where = f"{path}:{number}"
        title = entry.get("title") if isinstance(entry, dict) else None
        if not isinstance(title, str) or not title.strip():
            yield Skipped(where, "it has no title")
            continue
        tags = entry.get("tags") or []
        fields = {key: one_line(entry[key]) for key in ("date", "time") if entry.get(key)}
        if not re.fullmatch(r"\d{4}-\d\d-\d\d", fields.get("date", "")):
            yield Skipped(f"{where}: {title_of(title)}", "its date is not written as YYYY-MM-DD")
            continue
        if "time" in fields:
            fields["time"] = _clock(fields["time"])
        fields |= rest_of(entry, _READ, "jrnl")
        body = entry.get("body")
        yield Item(
            "journal",
            title_of(title),
            body.strip("\n") if isinstance(body, str) else "",
            where,
            " ".join(fields[key] for key in ("date", "time") if key in fields),
            tuple(one.lstrip("@") for one in tags if isinstance(one, str)) if isinstance(tags, list) else (),
            fields,
        )


def _clock(text: str) -> str:
    """Return a time of twelve hours as one of 24; another text as it is."""
    found = re.fullmatch(r"(\d{1,2})(:\d\d) ?([AaPp])\.?[Mm]\.?", text.strip())
    if found is None:
        return text
    return f"{int(found[1]) % 12 + (12 if found[3] in 'Pp' else 0):02}{found[2]}"
