"""The two implementations of a fleet, over the same workspaces, for tests that hold for both."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from memory.fleet.agent import HostAgent
from memory.fleet.central import CentralFleet
from memory.fleet.embedded import EmbeddedFleet
from memory.fleet.local import LocalWorkspaces
from memory.workspace import Workspace
from tests.patience import join, until

NOW = datetime(2024, 1, 15, 10, 30, tzinfo=UTC)
TASKS = """---
type: task-list
updated: 2024-01-15T10:30:00Z
---

## Pending

### [HIGH] Renew {name}
- due: 2024-01-10
- created: 2024-01-01 09:00
- tags: certificates, {name}

## In Progress

## Completed (last 7 days)

### [NORMAL] Old of {name}
- created: 2023-12-01 09:00
- completed: 2023-12-02 09:00
"""


def make_workspace(path: Path, state_home: Path, text: str | None = None) -> Path:
    """Make a workspace with two tasks."""
    tasks = TASKS.format(name=path.name) if text is None else text
    Workspace.init(path, NOW, actor="test", state_home=state_home, machine_zone=UTC, files={"tasks.md": tasks})[
        0
    ].close()
    return path


class RunningAgent:
    """An agent of one host in a thread of its own; `end` stops it."""

    def __init__(
        self,
        url: str,
        host: str,
        state_home: Path,
        wanted: Callable[[], dict[Path, str]],
        *,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        """Start it."""
        self.told: list[str] = []
        self.failed: list[BaseException] = []
        self.agent = HostAgent(
            LocalWorkspaces(state_home, host, None, state_home / "config"),
            url,
            wanted,
            clock,
            self.told.append,
            each_seconds=0.05,
        )
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        try:
            self.agent.run()
        except BaseException as error:
            self.failed.append(error)

    def settle(self) -> None:
        """Wait until everything that is in the files now is published."""
        # A round that runs already may have passed the file.
        seen = self.agent.rounds
        until(lambda: self.agent.rounds >= seen + 2 or self.failed, lambda: (self.told, self.failed))
        assert not self.failed

    def end(self) -> None:
        """Stop it and wait for its end."""
        self.agent.stop()
        join(self._thread)


class Fleets:
    """A fleet of one implementation, and what a test does to its workspaces."""

    def __init__(
        self,
        fleet: EmbeddedFleet | CentralFleet,
        wanted: dict[Path, str],
        listing: EmbeddedFleet,
        agent: RunningAgent | None,
    ) -> None:
        """`wanted` are the workspaces that the agent publishes."""
        self.fleet = fleet
        self._wanted = wanted
        self._listing = listing
        self._agent = agent

    def scan(self, top: Path) -> None:
        """List the workspaces below a folder."""
        self._listing.scan(top, NOW)
        self.settle()

    def remove(self, path: Path) -> None:
        """Take one off the list."""
        self._listing.remove(path)
        self.settle()

    def settle(self) -> None:
        """Wait until the fleet knows what is in the files."""
        self._wanted.clear()
        self._wanted.update(dict.fromkeys(self._listing.paths(), "full"))
        if self._agent is not None:
            self._agent.settle()


def catalogue_of(
    url: str, state_home: Path, wanted: dict[Path, str], host: str = "here"
) -> tuple[CentralFleet, RunningAgent]:
    """Return the fleet of a catalogue with one running agent."""
    return CentralFleet(url), RunningAgent(url, host, state_home, lambda: dict(wanted))
