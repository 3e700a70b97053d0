"""The workspace memory: seven Markdown files and their archive."""

from __future__ import annotations

from datetime import datetime

from memory.base.clock import format_utc

MEMORY_FOLDER = ".aiter/memory"
"""The folder of the workspace memory, relative to the root of a workspace."""
MEMORY_FILES = ("tasks.md", "journal.md", "knowledge.md", "contacts.md", "orchestration.md", "monitors.md", "config.md")
"""The files of the workspace memory, relative to its folder."""
ARCHIVE_KINDS = ("tasks", "journal", "orchestration")
"""The kinds of archive files, which begin their names: `archive/tasks-2024-01.md`."""
TYPES = {
    "tasks.md": "task-list",
    "knowledge.md": "knowledge-base",
    "contacts.md": "contacts",
    "journal.md": "activity-journal",
    "orchestration.md": "orchestration-state",
    "monitors.md": "monitor-config",
    "config.md": "agent-config",
    "archive/tasks": "task-archive",
    "archive/journal": "journal-archive",
    "archive/orchestration": "orchestration-archive",
}
"""The `type` in the front matter, by file or by kind of archive."""
_FRONT = {"journal.md": "", "config.md": "setupComplete: true\nsetupDate: {now}\n"}
"""What follows the type; the time of the last change where nothing else does."""
_UPDATED = "updated: {now}\n"
_CHANNELS = "| Name | ID  | Type | Status |\n|------|-----|------|--------|"
_ROUTES = "| Channel | Project | Prefix | Terminal |\n|---------|---------|--------|----------|"
_UPKEEP = "- archiveCompletedAfterDays: 7\n- pruneJournalAfterDays: 30\n- maxJournalEntries: 500"
_PARTS = {
    "tasks.md": ("## Pending", "## In Progress", "## Completed (last 7 days)"),
    "knowledge.md": ("## User Preferences", "## Project Knowledge", "## Technical Facts", "## Decisions Made"),
    "contacts.md": ("## Channels", _CHANNELS, "## Message Routes", _ROUTES, "## People"),
    "journal.md": (),
    "orchestration.md": ("## Active Plans", "## Completed Plans"),
    "monitors.md": ("## Monitors",),
    "config.md": (
        *("## Workspace", "- journalTaskChanges: true", "## Heartbeat", "## Default Notification"),
        *("## IM Configuration", "## Memory Maintenance", _UPKEEP),
    ),
}


def template_files(now: datetime) -> dict[str, str]:
    """Return file name → text of the seven files of a new workspace; stamps are `now` in UTC.

    Sections are empty, `timezone` is left to the machine, and the default settings are written out so that users find
    them.
    """
    stamp = format_utc(now)
    return {
        name: f"---\ntype: {TYPES[name]}\n{_FRONT.get(name, _UPDATED).replace('{now}', stamp)}---\n"
        + "".join(f"\n{part}\n" for part in parts)
        for name, parts in _PARTS.items()
    }
