"""The ref and the title of an entry that is known by its file, its section and its source alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memory.document import Entry


TASK_FILES, JOURNAL_FILES = ("tasks.md", "archive/tasks-"), ("journal.md", "archive/journal-")
"""How the names of the files begin whose headings hold more than a title."""


def plain_title(file: str, heading: str) -> str:
    """Return the title in a heading of a file: of a task without `[HIGH]`, of a journal entry without its time.

    A heading that would be empty without them stays whole.
    """
    if file.startswith(TASK_FILES):
        from memory.files.tasks.values import split_priority

        return split_priority(heading)[1] or heading
    if file.startswith(JOURNAL_FILES):
        from memory.files.journal.model import split_heading

        return split_heading(heading)[1] or heading
    return heading


ARCHIVED = "archive/"


def kind_of(file: str) -> str | None:
    """Return which kind of entries a file of the memory folder holds, archives included; None for others."""
    name = file.removesuffix(".md")
    if name.startswith(ARCHIVED):
        name = name.removeprefix(ARCHIVED).partition("-")[0]
    return {"tasks": "tasks", "journal": "journal", "orchestration": "plans", "monitors": "monitors"}.get(name)


def ref_of(file: str, section: str | None, entry: Entry) -> str | None:
    """Return the short ref of an entry, the same for all its twins; None for what has none of its own.

    `file` is relative to the memory folder, `section` the title of the section that the entry stands in.
    """
    kind = kind_of(file)
    if kind == "tasks":
        from memory.files.tasks.values import identity_of

        return f"tasks#{identity_of(entry)}"
    if kind is None:
        return None
    from .refs import identity_hex

    if kind == "journal":
        from memory.files.journal.model import read_date, split_heading

        time, title = split_heading(entry.title)
        return f"journal#{identity_hex(kind, read_date(section or '') or '', time or '', title)}"
    known = (entry.title,) if kind == "monitors" else (entry.title, entry.fields.get("created") or "")
    # Plans are called by the name of their file, as everywhere else.
    kind = "orchestration" if kind == "plans" else kind
    return f"{kind}#{identity_hex(kind, *known)}"
