"""Folders of instructions for agents: the rules of Cursor, and memory banks."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from datetime import tzinfo
from pathlib import Path

from memory.base.items import Item, Skipped
from memory.convert.outside import lines_of, markdown_files, parts_of, read_text, rest_of, title_of
from memory.document import parse
from memory.errors import UsageError

from .trackers import BOX, checklist

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
