"""Small workspaces for maintenance, and what the tests look at in them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, tzinfo
from pathlib import Path

from memory.document import Document, parse
from memory.workspace import Workspace

NOW = datetime(2024, 1, 15, 12, 0, tzinfo=UTC)
TASKS = "---\ntype: task-list\nupdated: 2024-01-01T00:00:00Z\n---\n\n## Pending\n\n## Completed (last 7 days)\n\n"
JOURNAL = "---\ntype: activity-journal\n---\n\n"


def make(folder: Path, files: Mapping[str, str | bytes], zone: tzinfo = UTC, *, state: bool = True) -> Workspace:
    """Return a workspace with these files."""
    memory = folder / "shop" / ".aiter" / "memory"
    for name, text in files.items():
        path = memory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode() if isinstance(text, str) else text)
    return Workspace.open(folder / "shop", state_home=folder / "state" if state else None, machine_zone=zone)


def contents(workspace: Workspace) -> dict[str, bytes]:
    """Return the bytes of every memory file by name."""
    return {
        path.relative_to(workspace.memory).as_posix(): path.read_bytes()
        for path in sorted(workspace.memory.rglob("*.md"))
    }


def document(text: str) -> Document:
    """Return the document of a text."""
    return parse(text.encode())


def task(title: str, completed: str | None = None, body: str = "") -> str:
    """Return the source of a task with a blank line behind it."""
    return f"### [NORMAL] {title}\n" + (f"- completed: {completed}\n" if completed is not None else "") + body + "\n"


def day(date: str, *titles: str) -> str:
    """Return a journal section with one line in each entry."""
    return f"## {date}\n\n" + "".join(f"### {title}\n- it happened\n\n" for title in titles)


def titles(text: bytes) -> list[str]:
    """Return the level-3 headings of a file in order."""
    return [line[4:].decode() for line in text.split(b"\n") if line.startswith(b"### ")]


def entries_of(text: str) -> list[str]:
    """Return the entries of a file whose code blocks begin in the first column, without what is blank at their ends.

    Reads line by line and knows nothing of documents.
    """
    found: list[list[str]] = []
    inside = fenced = False
    for line in text.split("\n"):
        if line.startswith("```"):
            fenced = not fenced
        if not fenced and line.startswith("### "):
            found.append([])
            inside = True
        elif not fenced and line.startswith(("# ", "## ")):
            inside = False
        if inside:
            found[-1].append(line)
    return ["\n".join(lines).rstrip() for lines in found]
