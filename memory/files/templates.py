"""The files of a new workspace: front matter and empty sections, as in the format."""

from __future__ import annotations

from datetime import datetime

from memory.base.clock import format_utc

_TEMPLATES = {
    "tasks.md": """---
type: task-list
updated: {now}
---

## Pending

## In Progress

## Completed (last 7 days)
""",
    "knowledge.md": """---
type: knowledge-base
updated: {now}
---

## User Preferences

## Project Knowledge

## Technical Facts

## Decisions Made
""",
    "contacts.md": """---
type: contacts
updated: {now}
---

## Channels

| Name | ID  | Type | Status |
|------|-----|------|--------|

## Message Routes

| Channel | Project | Prefix | Terminal |
|---------|---------|--------|----------|

## People
""",
    "journal.md": """---
type: activity-journal
---
""",
    "orchestration.md": """---
type: orchestration-state
updated: {now}
---

## Active Plans

## Completed Plans
""",
    "monitors.md": """---
type: monitor-config
updated: {now}
---

## Monitors
""",
    "config.md": """---
type: agent-config
setupComplete: true
setupDate: {now}
---

## Workspace

- journalTaskChanges: true

## Heartbeat

## Default Notification

## IM Configuration

## Memory Maintenance

- archiveCompletedAfterDays: 7
- pruneJournalAfterDays: 30
- maxJournalEntries: 500
""",
}


def template_files(now: datetime) -> dict[str, str]:
    """Return file name → text of the seven files of a new workspace; stamps are `now` in UTC.

    Sections are empty, `timezone` is left to the machine, and the default settings are written out so that users find
    them.
    """
    stamp = format_utc(now)
    return {name: text.replace("{now}", stamp) for name, text in _TEMPLATES.items()}
