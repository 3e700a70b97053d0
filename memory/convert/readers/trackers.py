"""Trackers of work for agents: beads, task-master, and the checklists of Kiro and spec-kit."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import tzinfo
from pathlib import Path
from typing import Any

from memory.base.items import Item, Skipped, skipped_text
from memory.convert.outside import markdown_files, read_json, read_text, title_of

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
