"""The workspace memory: seven Markdown files and their archive."""

from __future__ import annotations

MEMORY_FILES = (
    "tasks.md",
    "journal.md",
    "knowledge.md",
    "contacts.md",
    "orchestration.md",
    "monitors.md",
    "config.md",
)
"""The files of the workspace memory, relative to its folder."""
ARCHIVE_KINDS = ("tasks", "journal", "orchestration")
"""The kinds of archive files, which begin their names: `archive/tasks-2024-01.md`."""
