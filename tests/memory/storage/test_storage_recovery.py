"""Starting again after a crash, and what a change does when another program comes in between."""

from __future__ import annotations

from datetime import UTC
from functools import partial
from pathlib import Path

import pytest

from memory.workspace import Workspace
from tests.crash.calls import Calls, in_force
from tests.crash.kill import KILLED, killed_at
from tests.crash.operations import OPERATIONS, Operation, Place, sample

TWO_FILES = next(one for one in OPERATIONS if one.name == "start with a journal entry")


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """Make a sample workspace with a state home beside it."""
    origin = Place(tmp_path / "origin")
    sample(origin)
    return origin.copy(tmp_path / "place")  # At a path without records, as the trial below: both make the same calls.


def half_way(place: Place, operation: Operation = TWO_FILES) -> None:
    """Kill a change of two files when one of them is in its place."""
    trial = place.copy(place.top.with_name("trial"))
    with in_force(Calls()) as calls:
        operation.run(trial)
    moves = [number for number, name in enumerate(calls.names) if name == "renameat2"]
    assert killed_at(moves[1], partial(operation.run, place)) == KILLED


def test_opening_a_workspace_recovers(place: Place) -> None:
    """A program that only reads sees the change that was interrupted whole."""
    before = place.memory()
    half_way(place)
    assert sum(place.memory()[name] != data for name, data in before.items()) == 1
    Workspace.open(place.shop, state_home=place.state, machine_zone=UTC)
    assert sum(place.memory()[name] != data for name, data in before.items()) == 2
