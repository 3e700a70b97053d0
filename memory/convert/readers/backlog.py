"""Backlog.md: a folder with one Markdown file a task, its fields in the front matter."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from datetime import tzinfo
from pathlib import Path

from memory.base.items import Item, Loss, Skipped
from memory.convert.outside import MarkdownFile, markdown_files, read_note, rest_of, texts, title_of

_SECTIONS = {"to do": "pending", "in progress": "in-progress", "done": "completed"}
_PRIORITIES = {"high": "HIGH", "medium": "NORMAL", "low": "LOW"}
_READ = frozenset({"title", "status", "priority", "created_date", "labels", "assignee"})
_MARKER = re.compile(r"(<!-- [A-Z:]+ -->)\n?")


def read(path: Path, _zone: tzinfo) -> Iterator[Item | Skipped | Loss]:
    """Yield the tasks of a folder `backlog`, of the folder that contains it, or of a folder of task files.

    Completed and archived tasks are included as completed; documents, decisions and drafts are skipped.
    """
    top = next((one for one in (path / "backlog", path) if os.path.isdir(one)), path)
    for file in markdown_files(top):
        place = file.relative_to(top).parts[:-1]
        folder = place[-1] if place[:1] == ("archive",) and len(place) > 1 else "".join(place[:1])
        if folder not in ("", "tasks", "completed", "archive"):
            yield Skipped(str(file), f"it is in {folder}, and is no task")
            continue
        note = read_note(file)
        item = note if isinstance(note, Skipped) else _item(file, note, place[:1])
        yield item
        if isinstance(item, Item) and isinstance(note, MarkdownFile) and (found := _MARKER.findall(note.body)):
            yield Loss(item.what, "text", f"markers of Backlog.md are left out: {', '.join(found)[:200].strip()}")


def _item(file: Path, note: MarkdownFile, place: tuple[str, ...]) -> Item | Skipped:
    front = note.front
    title = front.get("title")
    if not title:
        return Skipped(str(file), "its front matter names no title")
    status = (front.get("status") or "").strip()
    section = "completed" if place in (("completed",), ("archive",)) else _SECTIONS.get(status.casefold())
    fields = {"section": section or "pending"}
    if section is None and status:
        fields["status"] = status
    priority = front.get("priority")
    if priority:
        fields["priority"] = _PRIORITIES.get(priority.casefold(), priority)
    people = texts(front.data.get("assignee"))
    if people:
        fields["assigned"] = ", ".join(people)
    fields |= rest_of(front.data, _READ, "backlog")
    text = _MARKER.sub("", note.body).strip()
    created = front.get("created_date") or ""
    return Item("task", title_of(title), text, str(file), created, texts(front.data.get("labels")), fields)
