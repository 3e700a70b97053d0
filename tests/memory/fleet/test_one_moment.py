"""What is published of a workspace stood in its files at one moment, whoever writes to them meanwhile."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest

from memory.fleet.catalogue import publish
from memory.fleet.catalogue.connect import connect
from memory.fleet.catalogue.migrate import initialise
from memory.fleet.catalogue.publish import UNSETTLED, Published, Publisher
from memory.fleet.local import LocalWorkspaces
from memory.search.index import file_inventory
from memory.storage.transaction.file_step import FileStep
from memory.systems import maintain_all
from memory.workspace import Workspace
from tests.memory.fleet.fleets import make_workspace
from tests.patience import PATIENCE, join

START = datetime(2024, 3, 1, 3, 0, tzinfo=UTC)
DUES = 8


class Host:
    """A workspace of which one task becomes old enough for the archive on each day, and what publishes it."""

    def __init__(self, database: psycopg.Connection[tuple[Any, ...]], folder: Path) -> None:
        """The first task is in the archive and everything published."""
        self._database = database
        self._state = folder / "state"
        lines = ["## Pending", "", "## Completed", ""]
        for number in range(DUES):
            done = START + timedelta(days=number - 8)
            lines += [f"### [LOW] Go {number}", f"- completed: {done:%Y-%m-%d %H:%M}", ""]
        self.path = make_workspace(folder / "one", self._state, "\n".join(lines))
        self._days = iter(range(DUES))
        self.maintain()
        row = database.execute("INSERT INTO host (name) VALUES ('here') RETURNING id").fetchone()
        assert row is not None
        local = LocalWorkspaces(self._state, host="here", config_home=folder / "config")
        self._publisher = Publisher(database, local, row[0])
        self.publish()
        assert self.held() == self.all

    all = Counter(f"Go {number}" for number in range(DUES))

    def maintain(self) -> None:
        """Move the next task to the archive."""
        with Workspace.open(self.path, state_home=self._state) as workspace:
            maintain_all(workspace, START + timedelta(days=next(self._days)), actor="maintain")

    def publish(self) -> Published:
        """Do one round."""
        return self._publisher.round({self.path: "full"}, START)

    def publish_and_look(self, monkeypatch: pytest.MonkeyPatch) -> list[Counter[str]]:
        """Do two rounds, and return what the catalogue held whenever something was sent."""
        seen: list[Counter[str]] = []
        send = Publisher._send

        def look(publisher: Publisher) -> None:
            send(publisher)
            seen.append(self.held())

        with monkeypatch.context() as patched:
            patched.setattr(Publisher, "_send", look)
            self.publish()
            self.publish()
        return seen

    def held(self) -> Counter[str]:
        """Return how often the catalogue holds each task."""
        rows = self._database.execute("SELECT title FROM entry WHERE title LIKE 'Go %'").fetchall()
        return Counter(title for (title,) in rows)

    def archived(self) -> int:
        """Return how many tasks the catalogue holds in the archive."""
        row = self._database.execute(
            "SELECT count(*) FROM entry e JOIN file f ON f.id = e.file WHERE f.name LIKE 'archive/tasks%'"
        ).fetchone()
        assert row is not None
        return int(row[0])


@pytest.fixture
def host(database: str, tmp_path: Path) -> Iterator[Host]:
    """Yield it."""
    initialise(database)
    with connect(database) as connection:
        yield Host(connection, tmp_path)


def _behind_tasks(monkeypatch: pytest.MonkeyPatch, do: Callable[[], object]) -> None:
    """Let something happen whenever tasks.md is read and the archive is not yet."""
    groups = file_inventory._groups

    def read(snapshot: Any, name: str, kind: str) -> Any:
        found = groups(snapshot, name, kind)
        if name == "tasks.md":
            do()
        return found

    monkeypatch.setattr(file_inventory, "_groups", read)


def test_a_task_that_moves_while_it_is_read(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is neither twice nor nowhere in the catalogue after any round, and soon where it belongs."""
    host.maintain()
    left = [host.maintain]
    _behind_tasks(monkeypatch, lambda: left and left.pop()())
    seen = host.publish_and_look(monkeypatch)
    assert not left
    assert len(seen) > 1
    assert seen == [host.all] * len(seen)
    assert host.archived() == 3


def test_a_move_that_is_half_made(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    """While a change of several files has moved some of them only, nothing of them is published."""
    half, go_on = threading.Event(), threading.Event()
    writer = threading.Thread(target=host.maintain)
    apply, watched = FileStep.apply, publish.watched_of

    def apply_one(step: FileStep, made: list[str]) -> None:
        apply(step, made)
        if not half.is_set():
            half.set()
            assert go_on.wait(PATIENCE)

    def begin(workspace: Workspace) -> tuple[str, ...]:
        if not half.is_set():
            writer.start()
            assert half.wait(PATIENCE)
        return watched(workspace)

    host.maintain()
    monkeypatch.setattr(FileStep, "apply", apply_one)
    monkeypatch.setattr(publish, "watched_of", begin)
    try:
        seen = host.publish_and_look(monkeypatch)
        assert half.is_set()
    finally:
        go_on.set()
        join(writer)
    seen += host.publish_and_look(monkeypatch)
    assert seen == [host.all] * len(seen)
    assert host.archived() == 3


def test_files_that_never_stand_still(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where something is written during every reading it is left for a later look, but not for ever."""
    journal = host.path / ".aiter/memory/journal.md"
    numbers = iter(range(1_000))

    def write() -> None:
        journal.write_text(f"## 2024-03-01\n\n### 09:00 - Note {next(numbers)}\n- x\n", encoding="utf-8")

    host.maintain()
    _behind_tasks(monkeypatch, write)
    write()
    added = [host.publish().added for _ in range(UNSETTLED)]
    assert added[0] == 0
    assert sum(added) > 0
    assert host.archived() == 2
    assert host.held() == host.all
