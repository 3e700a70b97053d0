"""What tools for agents keep in a project: issues of beads and task-master, checklists of Kiro and spec-kit, memories
of Claude Code, rules of Cursor, and memory banks; and the lists of a CLAUDE.md.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import tzinfo
from pathlib import Path
from typing import Any

from memory.base.items import Item, Skipped, skipped_text
from memory.clients.memories import flattened
from memory.convert.outside import (
    MarkdownFile,
    lines_of,
    markdown_files,
    parts_of,
    read_json,
    read_note,
    read_text,
    rest_of,
    title_of,
)
from memory.document import parse
from memory.document.lines import read_bullets
from memory.errors import UsageError

_SECTIONS = {
    "in_progress": "in-progress", "in-progress": "in-progress", "hooked": "in-progress", "review": "in-progress",
    "closed": "completed", "done": "completed", "x": "completed", "-": "in-progress", "~": "in-progress",
}  # fmt: skip
"""The section of a task by its status or the mark in its box; any other is pending."""
_PRIORITIES = {"0": "HIGH", "1": "HIGH", "3": "LOW", "4": "LOW", "high": "HIGH", "critical": "HIGH", "low": "LOW"}
BOX = re.compile(r"(\s*)[-*] \[([ xX~-])\]\*? +(.*)")
_NUMBER = re.compile(r"(?:(?:\d+(?:\.\d+)*\.?|T\d+)\s+)?(?:\[[A-Z0-9]+\]\s*)*")


def read_beads(path: Path, _zone: tzinfo) -> Iterator[Item | Skipped]:
    """Yield the issues and memories that `bd export` wrote, from the file or the folder `.beads`."""
    names = ("issues.jsonl", "beads.jsonl")
    file = next((path / name for name in names if (path / name).is_file()), path / names[0]) if path.is_dir() else path
    for number, line in enumerate(read_text(file).split("\n"), 1):
        if not line.strip():
            continue
        where = f"{file}:{number}"
        try:
            found = json.loads(line)
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, dict):
            yield skipped_text(where, line, "it is not a JSON object")
        elif found.get("_type") == "memory":
            yield Item("note", title_of(str(found.get("key") or "")), str(found.get("value") or ""), where)
        elif found.get("status") == "tombstone" or found.get("is_template") or not found.get("title"):
            yield skipped_text(where, str(found.get("title") or line), "it was deleted, is a template, or has no title")
        else:
            yield _task(found, where, ("description", "design", "notes", "acceptance_criteria"), "depends_on_id")


def read_task_master(path: Path, _zone: tzinfo) -> Iterator[Item | Skipped]:
    """Yield the tasks of a tasks.json, of all its tags; subtasks are checkboxes in the text."""
    file = path / ".taskmaster/tasks/tasks.json" if path.is_dir() else path
    data = read_json(file)
    groups = {"": data} if isinstance(data, dict) and "tasks" in data else data if isinstance(data, dict) else {}
    for tag, group in groups.items():
        for one in _list(group.get("tasks") if isinstance(group, dict) else None):
            if not isinstance(one, dict) or not one.get("title") or one.get("status") == "cancelled":
                yield skipped_text(str(file), str(one)[:200], "it has no title, or was cancelled")
                continue
            item = _task(one, f"{file}: {one.get('id')}", ("description", "details", "testStrategy"), "")
            boxes = "\n".join(_subtasks(one.get("subtasks")))
            text = "\n\n".join(part for part in (item.text, boxes) if part)
            tags = (tag,) if tag not in ("", "master") else ()
            yield Item("task", item.title, text, item.where, item.created, tags, item.fields)


def _subtasks(found: Any) -> Iterator[str]:
    for one in _list(found):
        if isinstance(one, dict) and one.get("title"):
            yield f"- [{'x' if one.get('status') == 'done' else ' '}] {title_of(str(one['title']))}"


def _task(found: Mapping[str, Any], where: str, texts: Sequence[str], other: str) -> Item:
    status, priority = str(found.get("status") or ""), str(found.get("priority", "")).lower()
    section = _SECTIONS.get(status, "pending")
    fields = {"section": section, "priority": _PRIORITIES.get(priority, "NORMAL")}
    named = {"assignee": "assigned", "due_at": "due", "closed_at": "completed", "close_reason": "outcome", "id": "id"}
    fields |= {ours: str(found[key]) for key, ours in named.items() if found.get(key)}
    if status in ("blocked", "deferred", "pinned"):
        fields["status"] = status
    links = [one.get(other) if isinstance(one, dict) else one for one in _list(found.get("dependencies"))]
    if links:
        fields["depends"] = ", ".join(str(one) for one in links if one)
    text = "\n\n".join(str(found[key]).strip() for key in texts if found.get(key))
    labels = tuple(str(one) for one in _list(found.get("labels")))
    return Item("task", title_of(str(found["title"])), text, where, str(found.get("created_at") or ""), labels, fields)


def _list(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list) else ()


def read_specs(path: Path, _zone: tzinfo) -> Iterator[Item | Skipped]:
    """Yield the tasks of each tasks.md in a folder of specs, or of one file; their steps are in their text."""
    files = [path] if not os.path.isdir(path) else [one for one in markdown_files(path) if one.name == "tasks.md"]
    for file in files:
        yield from checklist(file, read_text(file), file.parent.name)


def checklist(file: Path, text: str, tag: str) -> Iterator[Item]:
    """Yield the boxes in the text of a file as tasks with a tag; what is indented below one is its text."""
    boxes: list[tuple[int, str, str, list[str]]] = []
    for number, line in enumerate(text.split("\n"), 1):
        found = BOX.fullmatch(line.rstrip("\r"))
        if found and not found[1]:
            boxes.append((number, found[2].lower(), found[3], []))
        elif line.startswith("#") or not line.strip():
            continue
        elif boxes and line.startswith((" ", "\t")):
            boxes[-1][3].append(line.rstrip())
    for number, mark, title, steps in boxes:
        fields = {"section": _SECTIONS.get(mark, "pending")}
        plain = title_of(_NUMBER.sub("", title, count=1) or title)
        yield Item("task", plain, "\n".join(steps), f"{file}:{number}", "", (tag,), fields)


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
