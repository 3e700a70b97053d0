"""A workspace with monitors that ask for things, and the decisions about it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memory.trust.asks import Ask, asks_of
from memory.trust.consent import Trust
from memory.workspace import Workspace

NOW = datetime(2024, 1, 15, 10, 30, tzinfo=UTC)
MONITORS = """\
---
type: monitor-config
updated: 2024-01-15T10:00:00Z
---
## Monitors

### API
- type: http
- url: https://api.example.com/health
- interval: */5 * * * * (every 5 min)
- threshold: status != 200
- folder: .
- autoRemediate: sh scripts/restart.sh api
- lastCheck: 2024-01-15T10:30:00Z
- lastStatus: healthy

### Database
- type: command
- command: cd scripts && ./check.sh --port 5432
- folder: .
- interval: */10 * * * *
- threshold: exit code != 0
- timeout: 20s
- environment: PGHOST, PGUSER
- lastCheck: 2024-01-15T10:30:00Z
- lastStatus: healthy (12 ms)

### Disk
- type: command
- command: df -h / | awk 'NR==2 {print $5}' | tr -d '%'
- interval: 0 * * * *
- threshold: value > 90
- autoRemediate: null (notify only)
"""
TASKS = """\
## Pending
### [HIGH] Deploy
- created: 2024-01-14
- action: npm test && npm run deploy:staging
### [LOW] Read
- created: 2024-01-14
"""


class Place:
    """A workspace on disk and what decides about it."""

    def __init__(self, folder: Path) -> None:
        """Write the files."""
        self.home = folder / "state"
        self.root = folder / "shop"
        self.memory = self.root / ".aiter" / "memory"
        (self.root / "scripts").mkdir(parents=True)
        self.memory.mkdir(parents=True)
        self.put("monitors.md", MONITORS)
        self.put("tasks.md", TASKS)
        (self.root / "scripts" / "restart.sh").write_text("echo restarted\n")
        (self.root / "scripts" / "check.sh").write_text("echo fine\n")
        self.trust = Trust(self.home, self.root)

    def put(self, name: str, text: str | bytes) -> None:
        """Write a memory file as another program does."""
        (self.memory / name).write_bytes(text.encode("utf-8", "surrogateescape") if isinstance(text, str) else text)

    def asks(self) -> tuple[Ask, ...]:
        """Return what the files ask for now."""
        return asks_of(Workspace(self.root, state_home=None).snapshot())

    def ask(self, name: str, role: str | None = None) -> Ask:
        """Return what one entry asks for."""
        return next(ask for ask in self.asks() if ask.name == name and role in (None, ask.role))

    def approve_all(self, *, workspace: bool = True) -> None:
        """Approve everything one by one, and the workspace."""
        for ask in self.asks():
            self.trust.approve(ask, who="human", now=NOW)
        if workspace:
            self.trust.approve_workspace("human", NOW)

    def states(self) -> list[str]:
        """Return the states of everything that is asked for, in its order."""
        return [self.trust.decide(ask).state for ask in self.asks()]


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """Return such a workspace."""
    return Place(tmp_path)


@pytest.fixture
def command(place: Place) -> Callable[[str], Ask]:
    """Return a function that makes the disk monitor's command another one and returns what it asks for."""

    def change(text: str) -> Ask:
        place.put("monitors.md", MONITORS.replace("df -h / | awk 'NR==2 {print $5}' | tr -d '%'", text))
        return place.ask("Disk", "check")

    return change
