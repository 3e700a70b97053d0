"""The files of other tools as items; the one list to which a new format is added.

A reader accepts a path and the zone of the workspace, and yields items, what it skips, and what an item loses. It reads
nothing outside that path, follows no links and changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import tzinfo
from pathlib import Path
from typing import NamedTuple

from memory.base.items import Item, Loss, Skipped

from . import notes, trackers
from .taskwarrior import read_taskwarrior
from .todo_txt import read_todo_txt


class Format(NamedTuple):
    """A format: its description, and its reader."""

    words: str
    read: Callable[[Path, tzinfo], Iterator[Item | Skipped | Loss]]


FORMATS = {
    "claude-code": Format(
        "a memory folder of Claude Code, or a CLAUDE.md or AGENTS.md with lists", notes.read_claude_code
    ),
    "taskwarrior": Format("what `task export` writes", read_taskwarrior),
    "todotxt": Format("a todo.txt file", read_todo_txt),
    "beads": Format("what `bd export` writes, or the folder .beads", trackers.read_beads),
    "task-master": Format("a tasks.json of task-master, or its project", trackers.read_task_master),
    "kiro": Format("a folder of Kiro's specs, or a tasks.md", trackers.read_specs),
    "spec-kit": Format("a folder of spec-kit's specs, or a tasks.md", trackers.read_specs),
    "cursor-rules": Format("a project with .cursor/rules, that folder, or one rule", notes.read_cursor_rules),
    "memory-bank": Format("a folder memory-bank of Cline, Roo and others", notes.read_memory_bank),
}
