"""A workspace whose entries move from one file to another while it is read."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from memory.search import records
from memory.storage.step import FileStep
from memory.systems import maintain_all
from memory.workspace import Workspace
from tests.patience import PATIENCE, join

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

    @contextmanager
    def half_moved(self, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
        """Move the next task to the archive, and stop while some of the files are changed and not all."""
        half, go_on = threading.Event(), threading.Event()
        writer = threading.Thread(target=self.maintain)
        apply = FileStep.apply

        def apply_one(step: FileStep, made: list[str]) -> None:
            apply(step, made)
            if not half.is_set():
                half.set()
                assert go_on.wait(PATIENCE)

        monkeypatch.setattr(FileStep, "apply", apply_one)
        writer.start()
        try:
            assert half.wait(PATIENCE)
            yield
        finally:
            go_on.set()
            join(writer)


def behind_tasks(monkeypatch: pytest.MonkeyPatch, do: Callable[[], object]) -> None:
    """Let something happen whenever tasks.md is read and the archive is not yet."""
    of_file = records._of_file

    def read(snapshot: Any, name: str) -> Any:
        found = of_file(snapshot, name)
        if name == "tasks.md":
            do()
        return found

    monkeypatch.setattr(records, "_of_file", read)


def write_behind_tasks(monkeypatch: pytest.MonkeyPatch, root: Path) -> None:
    """Write another journal into a workspace now, and whenever tasks.md is read and the archive is not yet."""
    journal = root / ".aiter/memory/journal.md"
    numbers = count()

    def write() -> None:
        journal.write_text(f"## 2024-03-01\n\n### 09:00 - Note {next(numbers)}\n- x\n", encoding="utf-8")

    behind_tasks(monkeypatch, write)
    write()
