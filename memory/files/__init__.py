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
"""What archive files are named after: `archive/tasks-2024-01.md`."""
