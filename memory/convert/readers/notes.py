"""Folders of Markdown: memories of Claude Code, rules of Cursor, and memory banks; and the lists of a CLAUDE.md."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from datetime import tzinfo
from pathlib import Path

from memory.base.items import Item, Skipped, skipped_text
from memory.clients.memories import flattened
from memory.convert.outside import (
    MarkdownFile,
    lines_of,
    markdown_files,
    parts_of,
    read_note,
    read_text,
    rest_of,
    title_of,
)
from memory.document import parse
from memory.document.lines import read_bullets
from memory.errors import UsageError

from .trackers import BOX, checklist

_INDEX = "MEMORY.md"


def read_claude_code(path: Path, _zone: tzinfo) -> Iterator[Item | Skipped]:
    """Yield one item for each memory file of a folder, or for each bullet of a file, under the heading above it."""
    if not os.path.isdir(path):
        yield from _lists(path)
        return
    for file in markdown_files(path):
        if file.name == _INDEX:
            yield Skipped(str(file), "it is the index of the others")
            continue
        note = read_note(file)
        yield note if isinstance(note, Skipped) else _memory(file, note)


def _memory(file: Path, note: MarkdownFile) -> Item | Skipped:
    title = title_of(note.front.get("name") or file.stem)
    fields = rest_of(flattened(note.front.data), ("name",), "claude-code")
    text = note.body.strip("\n")
    if not text and not fields:
        return Skipped(str(file), "it is empty")
    return Item("memory", title, text, str(file), fields=fields)


def _lists(path: Path) -> Iterator[Item | Skipped]:
    """Yield the bullets of a file; the text between them is prose, which cannot become an entry."""
    for heading, body, line in parts_of(read_text(path)):
        end = 0
        for bullet in read_bullets(body):
            if body[end : bullet.start].strip():
                yield _prose(path, heading, body, end, bullet.start, line)
            title, _, text = bullet.text.partition("\n")
            where = f"{path}:{line + bullet.line + bool(heading)}"
            if title.strip():
                yield Item("fact", title.strip(), text, where, fields={"section": heading} if heading else {})
            end = bullet.end
        if body[end:].strip():
            yield _prose(path, heading, body, end, len(body), line)


def _prose(path: Path, heading: str, body: str, start: int, end: int, line: int) -> Skipped:
    """Return the text in a part of a body that is no bullet; `line` is that of the heading."""
    text = body[start:end]
    at = start + len(text) - len(text.lstrip())
    why = f"it is text below {heading!r}, no list" if heading else "it is not a list"
    return skipped_text(f"{path}:{line + bool(heading) + body.count(chr(10), 0, at)}", text, why)


# -- rules of Cursor, and memory banks ------------------------------------------------------------------------------

_FIELD = re.compile(r"^(\w+):[ \t]*(.*?)[ \t\r]*$", re.MULTILINE)
_DECISIONS = frozenset({"decisionLog", "decisions"})


def read_cursor_rules(path: Path, _zone: tzinfo) -> Iterator[Item | Skipped]:
    """Yield one item for each rule of a project, of its folder `.cursor/rules`, or of one file.

    The front matter is read line by line: Cursor writes patterns such as `globs: *.ts`, which are no YAML.
    """
    inside = path / ".cursor" / "rules"
    folder = inside if os.path.isdir(inside) else path
    for file in markdown_files(folder, ".mdc") if os.path.isdir(folder) else [folder]:
        try:
            text = read_text(file)
        except UsageError as error:
            if file == path:
                raise
            yield Skipped(str(file), error.message)
            continue
        front = parse(text.encode()).front
        said = {key: value.strip("\"'") for key, value in _FIELD.findall(front) if value != "false"}
        body = text[len(front) :].strip("\n")
        if not body:
            yield Skipped(str(file), "it is empty")
            continue
        title = title_of(said.get("description") or file.stem.lstrip("."))
        yield Item("memory", title, body, str(file), fields=rest_of(said, ("description",), "cursor"))


def read_memory_bank(path: Path, _zone: tzinfo) -> Iterator[Item | Skipped]:
    """Yield the parts of each file of a memory bank below their headings, and its boxes as tasks."""
    for file in markdown_files(path):
        try:
            text = read_text(file)
        except UsageError as error:
            yield Skipped(str(file), error.message)
            continue
        kind = "decision" if file.stem in _DECISIONS else "note"
        for heading, body, line in parts_of(text):
            if any(one.strip() and not BOX.fullmatch(one) for one in lines_of(body)):
                yield Item(kind, title_of(heading) or file.stem, body.strip("\n"), f"{file}:{line}", tags=(file.stem,))
        yield from checklist(file, text, file.stem)
