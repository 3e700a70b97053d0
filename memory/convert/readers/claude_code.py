"""Claude Code: a folder of memory files with front matter, or the lists of a CLAUDE.md."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import tzinfo
from pathlib import Path

from memory.base.items import Item, Skipped, skipped_text
from memory.clients.memories import flattened
from memory.convert.outside import MarkdownFile, markdown_files, parts_of, read_note, read_text, rest_of, title_of
from memory.document.lines import read_bullets

_INDEX = "MEMORY.md"
_READ = frozenset({"name"})


def read(path: Path, _zone: tzinfo) -> Iterator[Item | Skipped]:
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
    fields = rest_of(flattened(note.front.data), _READ, "claude-code")
    text = note.body.strip("\n")
    if not text and not fields:
        return Skipped(str(file), "it is empty")
    return Item("memory", title, text, str(file), fields=fields)


def _lists(path: Path) -> Iterator[Item | Skipped]:
    """Yield the bullets of a file; the text between them is prose, which cannot become an entry."""
    for heading, body, line in parts_of(read_text(path)):
        yield from _bullets(path, heading, body, line)


def _bullets(path: Path, heading: str, body: str, line: int) -> Iterator[Item | Skipped]:
    bullets = read_bullets(body)
    end = 0
    for bullet in bullets:
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
    why = f"it is text below {heading!r}, no list" if heading else "it is no list"
    return skipped_text(f"{path}:{line + bool(heading) + body.count(chr(10), 0, at)}", text, why)
