"""What is published of a workspace stood in its files at one moment, whoever writes to them meanwhile."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import psycopg
import pytest

from memory.fleet.catalogue import publish
from memory.fleet.catalogue.connect import connect, initialise
from memory.fleet.catalogue.publish import Published, Publisher
from memory.fleet.local import LocalWorkspaces
from memory.systems.at_rest import UNSETTLED
from memory.workspace import Workspace
from tests.memory.moving import START, Moving, behind_tasks, write_behind_tasks


class Host(Moving):
    """A workspace in which tasks move, and what publishes it."""

    def __init__(self, database: psycopg.Connection[tuple[Any, ...]], folder: Path) -> None:
        """The first task is in the archive and everything published."""
        super().__init__(folder / "one", folder / "state")
        self._database = database
        row = database.execute("INSERT INTO host (name) VALUES ('here') RETURNING id").fetchone()
        assert row is not None
        local = LocalWorkspaces(self.state_home, host="here", config_home=folder / "config")
        self._publisher = Publisher(database, local, row[0])
        self.publish()
        assert self.held() == self.all

    def publish(self) -> Published:
        """Do one round."""
        return self._publisher.round({self.path: "full"}, START)

    def publish_and_look(self, monkeypatch: pytest.MonkeyPatch) -> list[Counter[str]]:
        """Do two rounds, and return what the catalogue held whenever something was sent."""
        seen: list[Counter[str]] = []
        send = Publisher._send

        def look(publisher: Publisher, *given: Any) -> tuple[int, int]:
            counts = send(publisher, *given)
            seen.append(self.held())
            return counts

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


def test_a_task_that_moves_while_it_is_read(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is neither twice nor nowhere in the catalogue after any round, and soon where it belongs."""
    host.maintain()
    left = [host.maintain]
    behind_tasks(monkeypatch, lambda: left and left.pop()())
    seen = host.publish_and_look(monkeypatch)
    assert not left
    assert seen
    assert seen == [host.all] * len(seen)
    assert host.archived() == 3


def test_a_move_that_is_half_made(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    """While a change of several files has moved some of them only, nothing of them is published."""
    half = ExitStack()
    watched = publish.watched_of

    def begin(workspace: Workspace) -> tuple[str, ...]:
        if begun:
            half.enter_context(begun.pop())
        return watched(workspace)

    host.maintain()
    begun = [host.half_moved(monkeypatch)]
    monkeypatch.setattr(publish, "watched_of", begin)
    with half:
        seen = host.publish_and_look(monkeypatch)
        assert not begun
    seen += host.publish_and_look(monkeypatch)
    assert seen == [host.all] * len(seen)
    assert host.archived() == 3


def test_files_that_never_stand_still(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where something is written during every reading it is left for a later look, but not for ever."""
    host.maintain()
    write_behind_tasks(monkeypatch, host.path)
    added = [host.publish().added for _ in range(UNSETTLED)]
    assert added[0] == 0
    assert sum(added) > 0
    assert host.archived() == 2
    assert host.held() == host.all
