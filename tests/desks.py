"""A workspace with entries of every kind, and a desk over it."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

from memory.state.bundles import init
from memory.state.system import ProjectState
from memory.systems import system_of
from memory.systems.entries import EntryAccess
from memory.workspace import Workspace

NOW = datetime(2024, 1, 15, 10, 30, tzinfo=UTC)
AGENT = "agent:tester"
FILES = {
    "tasks.md": """---
type: agent-tasks
---

## Pending

### [HIGH] Deploy v2.1
- due: 2024-01-14
- created: 2024-01-10
- tags: release, ops

### [NORMAL] Write the report
- created: 2024-01-11

## In Progress

## Completed

### [LOW] Old thing
- completed: 2024-01-12
""",
    "journal.md": """## 2024-01-15

### 09:00 — Standup
- said hello

## 2024-01-14

### 18:00 — Deploy
- redis is slow
""",
    "knowledge.md": """## Technical Facts

- CI takes 8 minutes

## Decisions Made

- 2024-01-10: Using Redis (already runs)
""",
    "contacts.md": "## People\n\n- **Alice** (Lead): Reach via Slack\n",
    "orchestration.md": "## Active Plans\n\n### Big plan\n- planId: orch-1\n- status: running\n- created: 2024-01-02\n",
    "monitors.md": "## Monitors\n\n### Disk\n- type: command\n- command: df -h\n- interval: */5 * * * *\n",
    "config.md": "---\ntype: agent-config\n---\n\n## Workspace\n\n- timezone: UTC\n- maxJournalEntries: 500\n",
}
ANALYSED = {
    "project": {
        "name": "shop",
        "summary": "a shop",
        "primaryEcosystem": "python",
        "packageManager": "pip",
        "workspaceManager": "none",
        "recommendedEntryFile": "README.md",
        "keyPaths": ["app"],
    },
    "projectMap": {
        "modules": [],
        "entrypoints": [],
        "denseSourceAreas": [],
        "architectureNotes": [],
        "firstFilesToRead": [],
    },
    "currentFocus": {
        "summary": "ship it",
        "currentState": [],
        "knownRisks": [],
        "validationSnapshot": {"status": "not-run", "validatedAt": None, "summary": "not run", "results": []},
        "suggestedNextActions": [],
    },
    "gotchas": [],
    "nextSteps": [],
    "validationCommands": [],
}


def make_workspace(folder: Path, *, everything: bool = True) -> Path:
    """Write the files of a workspace with all systems (or the memory files alone), and return its folder."""
    root = folder / "shop"
    memory = root / ".aiter" / "memory"
    (memory / "archive").mkdir(parents=True)
    for name, text in FILES.items():
        (memory / name).write_text(text)
    (memory / "archive" / "tasks-2023-12.md").write_text(
        "## Completed\n\n### [LOW] Long gone\n- completed: 2023-12-01\n"
    )
    if everything:
        (root / ".aegis" / "memory").mkdir(parents=True)
        fact = {
            "id": "m-1",
            "text": "User prefers tabs",
            "tags": ["style"],
            "scope": "user",
            "ts": "2024-01-01T00:00:00Z",
        }
        (root / ".aegis" / "memory" / "memories.jsonl").write_text(json.dumps(fact) + "\n")
        (root / "Aidefile").write_text('[persona]\nname = "shop"\n')
        (root / "memory" / "procedural").mkdir(parents=True)
        (root / "memory" / "procedural" / "lessons.md").write_text(
            "# Lessons\n\nTop.\n\n## Deploys\n\nNever on Friday.\n"
        )
    return root


def open_desk(root: Path, state: Path) -> EntryAccess:
    """Return a desk over a workspace, whose records lie in `state`."""
    return EntryAccess(Workspace.open(root, state_home=state), lambda: NOW)


def with_state(desk: EntryAccess) -> None:
    """Make the project state of the workspace."""
    init(system_of(desk.workspace, "state", ProjectState).store, ANALYSED, actor="human", now=NOW)
