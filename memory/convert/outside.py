"""Files of other tools, read within limits: no links, no huge files, errors with file and line."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from memory.base.items import Skipped
from memory.document import parse
from memory.document.front_matter import FrontMatter
from memory.errors import RefusedError, UsageError
from memory.files.tasks.reading import FIELD_KEYS
from memory.storage.safe_open import read_start

LARGEST = 64_000_000
"""Maximum bytes of a file."""
MOST_FILES = 100_000
"""Maximum files of a folder."""


def read_text(path: Path) -> str:
    """Return the text of a file; UsageError `convert.unreadable` if it is no file, is too large, or is no UTF-8."""
    try:
        data = read_start(path, LARGEST + 1)
    except RefusedError:
        raise _unreadable(path, "it is not a file") from None
    except OSError as error:
        raise _unreadable(path, error.strerror or "it cannot be read") from None
    if len(data) > LARGEST:
        raise _unreadable(path, f"it is larger than {LARGEST // 1_000_000} MB")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise UsageError("convert.unreadable", f"{path}:{line}: it is not UTF-8", "convert it first") from None


def _unreadable(path: Path, why: str) -> UsageError:
    return UsageError("convert.unreadable", f"{path}: {why}", "name a file or a folder of that format")


def read_json(path: Path) -> Any:
    """Return the content of a JSON file; UsageError `convert.unreadable` with file and line if it is invalid."""
    text = read_text(path)
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise UsageError("convert.unreadable", f"{path}:{error.lineno}: {error.msg}", "export it as JSON") from None
    except (ValueError, RecursionError):
        raise UsageError("convert.unreadable", f"{path}:1: a number or the nesting is too large", "fix it") from None


def markdown_files(folder: Path, ending: str = ".md") -> Iterator[Path]:
    """Yield the Markdown files below a folder in the order of their paths; hidden ones and links are left out."""
    if not os.path.isdir(folder):
        raise _unreadable(folder, "it is not a folder")
    found = []
    for top, folders, names in os.walk(folder, followlinks=False):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in names:
            path = os.path.join(top, name)
            if name.endswith(ending) and not name.startswith(".") and not os.path.islink(path):
                found.append(path)
        if len(found) > MOST_FILES:
            raise _unreadable(folder, f"it holds more than {MOST_FILES:,} files")
    yield from map(Path, sorted(found))


class MarkdownFile(NamedTuple):
    """A Markdown file: its front matter, and the text below."""

    front: FrontMatter
    body: str


def read_note(path: Path) -> MarkdownFile | Skipped:
    """Return a Markdown file, or why it cannot be read."""
    try:
        text = read_text(path)
    except UsageError as error:
        return Skipped(str(path), error.message)
    document = parse(text.encode())
    front = FrontMatter.read(document.front)
    if front.opaque:
        line, _, why = front.problems[0]
        return Skipped(f"{path}:{line + 1}", why)
    return MarkdownFile(front, text[len(document.front) :])


def parts_of(text: str) -> Iterator[tuple[str, str, int]]:
    """Yield the parts of a Markdown text: the heading, the text below it, and the line of the heading, from 1."""
    document = parse(text.encode())
    for index, number, block, _ in document.blocks():
        line = document.line_of(index, number) if index >= 0 or number is not None else 0
        yield block.title, block.body, line + 1


_OURS = frozenset(
    {
        *map(str.casefold, FIELD_KEYS),
        *("section", "heading", "priority", "recurring", "date", "time", "topic", "reason", "scope", "ts", "kind"),
        "contact",
    }
)
"""The names of our fields, in lower case."""


def rest_of(values: Mapping[str, object], known: Collection[str], tool: str) -> dict[str, str]:
    """Return the values that no reader uses, as texts; empty and false ones are left out.

    An attribute of another tool is not a field of ours because it has the same name: it gets the name of the tool in
    front (`taskwarrior-section`).
    """
    empty: tuple[object, ...] = (None, "", False, [], {})
    return {
        f"{tool}-{key}" if key.casefold() in _OURS else key: one_line(one)
        for key, one in values.items()
        if key not in known and one not in empty
    }


def lines_of(text: str) -> list[str]:
    """Return the lines of a text: only a line feed ends one, and a carriage return before it belongs to it."""
    return [line.removesuffix("\r") for line in text.split("\n")]


def title_of(text: str) -> str:
    """Return a text as a title: one line, with single blanks; other white space of Unicode is text."""
    return re.sub(r"[ \t\r\n]+", " ", text).strip(" ")


def one_line(value: object) -> str:
    """Return a value of JSON or front matter as a text: lists with commas, objects as JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(one, (str, int, float)) for one in value):
        return ", ".join(map(str, value))
    return json.dumps(value, ensure_ascii=False, sort_keys=True)
