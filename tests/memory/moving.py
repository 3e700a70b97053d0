"""A workspace whose entries move from one file to another while it is read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from memory.search import records
from memory.systems import maintain_all
from memory.workspace import Workspace

START = datetime(2024, 3, 1, 3, 0, tzinfo=UTC)
DUES = 8


class Moving:
    """A workspace of which one task becomes old enough for the archive on each day; the first one is there."""

    all = Counter(f"Go {number}" for number in range(DUES))

    def __init__(self, path: Path, state_home: Path) -> None:
        """Make it."""
        self.path, self.state_home = path, state_home
        lines = ["## Pending", "", "## Completed", ""]
        for number in range(DUES):
            done = START + timedelta(days=number - 8)
            lines += [f"### [LOW] Go {number}", f"- completed: {done:%Y-%m-%d %H:%M}", ""]
        files = {"tasks.md": "\n".join(lines)}
        Workspace.init(path, START, actor="test", state_home=state_home, machine_zone=UTC, files=files)[0].close()
        self._days = iter(range(DUES))
        self.maintain()

    def maintain(self) -> None:
        """Move the next task to the archive."""
        with Workspace.open(self.path, state_home=self.state_home) as workspace:
            maintain_all(workspace, START + timedelta(days=next(self._days)), actor="maintain")


def behind_tasks(monkeypatch: pytest.MonkeyPatch, do: Callable[[], object]) -> None:
    """Let something happen whenever tasks.md is read and the archive is not yet."""
    of_file = records._of_file

    def read(snapshot: Any, name: str) -> Any:
        found = of_file(snapshot, name)
        if name == "tasks.md":
            do()
        return found

    monkeypatch.setattr(records, "_of_file", read)
