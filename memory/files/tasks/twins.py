"""Open tasks of one title: allowed, but their actions do not run, and the title names neither of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from memory.base.names import alike

if TYPE_CHECKING:
    from .model import Task


def open_twins(tasks: Iterable[Task]) -> dict[str, list[Task]]:
    """Return the open tasks by what titles share that a person would take for one."""
    found: dict[str, list[Task]] = {}
    for task in tasks:
        if task.section in ("pending", "in-progress"):
            found.setdefault(alike(task.title), []).append(task)
    return found


def twins_of(tasks: Iterable[Task], title: str) -> list[Task]:
    """Return the open tasks whose title a person would take for this one, without working out that of every other."""
    wanted = alike(title)
    word = wanted.partition(" ")[0].encode("utf-8", "surrogateescape")
    found = []
    for task in tasks:
        raw = task.entry.raw
        heading = raw[: raw.find(b"\n") + 1] or raw
        # Only letters outside of ASCII are taken for others.
        may = not heading.isascii() or word in heading.lower()
        if may and task.section in ("pending", "in-progress") and alike(task.title) == wanted:
            found.append(task)
    return found


def twin_words(twins: Iterable[Task], title: str) -> str:
    """Return a sentence on the open tasks that have a title already; empty where there is none."""
    found = tuple(twins)
    if not found or not title.strip():
        return ""
    words = "an open task has this title already" if len(found) == 1 else f"{len(found)} open tasks have this title"
    return f"{words}; the action of neither runs" if any(task.action is not None for task in found) else words
