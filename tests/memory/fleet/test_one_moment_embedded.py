"""What the index of all workspaces of a machine holds of one stood in its files at one moment."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from memory.fleet import EmbeddedFleet
from memory.fleet.model import FleetHit
from memory.systems.at_rest import UNSETTLED
from tests.memory.moving import START, Moving, behind_tasks, write_behind_tasks


class Held(Moving):
    """A workspace in which tasks move, and the fleet that holds it."""

    def __init__(self, folder: Path) -> None:
        """The first task is in the archive and everything indexed."""
        super().__init__(folder / "one", folder / "state")
        self.fleet = EmbeddedFleet(self.state_home, host="here", config_home=folder / "config")
        self.fleet.add(self.path, START)
        assert self.searched() == self.indexed() == self.all

    def searched(self) -> Counter[str]:
        """Return how often a search finds each task."""
        hits, failed = self.fleet.search("go", START, 0)
        assert failed == ()
        return _tasks(hits)

    def indexed(self) -> Counter[str]:
        """Return how often the index holds each task."""
        return _tasks(self.fleet.glance("go", START, 0))

    def archived(self) -> int:
        """Return how many tasks the index holds in the archive."""
        return sum(hit.entry.file.startswith("archive/") for hit in self.fleet.glance("go", START, 0))


def _tasks(hits: Sequence[FleetHit]) -> Counter[str]:
    return Counter(hit.entry.title for hit in hits if hit.entry.title.startswith("Go "))


@pytest.fixture
def held(tmp_path: Path) -> Iterator[Held]:
    """Yield it."""
    made = Held(tmp_path)
    with made.fleet:
        yield made


def test_a_task_that_moves_while_it_is_read(held: Held, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is found once, by the search that reads it and by the next one, and is where it belongs."""
    held.maintain()
    left = [held.maintain]
    behind_tasks(monkeypatch, lambda: left and left.pop()())
    assert held.searched() == held.all
    assert not left
    assert held.indexed() == held.all
    assert held.archived() == 3


def test_a_move_that_is_half_made(held: Held, monkeypatch: pytest.MonkeyPatch) -> None:
    """While a change of several files has moved some of them only, the answer is that of before."""
    held.maintain()
    with held.half_moved(monkeypatch):
        assert held.searched() == held.indexed() == held.all
        assert held.archived() == 1
    assert held.searched() == held.indexed() == held.all
    assert held.archived() == 3


def test_files_that_never_stand_still(held: Held, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where something is written during every reading it is left for a later look, but not for ever."""
    held.maintain()
    write_behind_tasks(monkeypatch, held.path)
    archived = []
    for _ in range(UNSETTLED):
        assert held.searched() == held.all
        archived.append(held.archived())
    assert archived[0] == 1
    assert archived[-1] == 2
