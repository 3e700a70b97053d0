"""Titles: what an entry's heading says to a person, without the signs that its file keeps in it."""

from __future__ import annotations

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
