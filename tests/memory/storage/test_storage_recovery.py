"""Starting again after a crash, and what a change does when another program comes in between."""

from __future__ import annotations

from datetime import UTC
from functools import partial
from pathlib import Path

import pytest

from memory.errors import RefusedError
from memory.files.tasks import operations as task_operations
from memory.storage.journal import Intent
from memory.workspace import Workspace
from tests.crash.calls import Calls, in_force
from tests.crash.kill import KILLED, killed_at
from tests.crash.operations import NOW, OPERATIONS, Operation, Place, sample

INTENT = Intent("01HM8VDA8042RVZ0WXA3DA4TGM", NOW, (("a", None, "5" * 64),))
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


def test_a_change_is_planned_again_on_what_another_program_wrote(place: Place) -> None:
    """What is written between two looks of one change is built upon, not overwritten."""
    tasks = place.shop / ".aiter/memory/tasks.md"
    looks = []

    def build(snapshot):
        edit = task_operations.add_task(snapshot, "Ours", now=NOW)
        if not looks:
            tasks.write_bytes(tasks.read_bytes() + b"\n## Theirs\n")
        looks.append(edit)
        return edit

    place.workspace().change("add", build, actor="cli", now=NOW)
    assert len(looks) == 2
    assert b"## Theirs" in tasks.read_bytes()
    assert b"Ours" in tasks.read_bytes()


@pytest.mark.parametrize("path", ["../../etc/passwd", "README.md", ".aiter/.memdeck/lock", "/etc/passwd"])
def test_no_path_of_a_record_is_believed(place: Place, path: str) -> None:
    """A record that names a file which no change could have named is refused, and nothing is touched."""
    half_way(place)
    store = place.store()
    before = place.memory()
    record = store.state.folder.path / "journal-.aiter"
    record.write_bytes(INTENT._replace(files=((path, None, "0" * 64),)).encode())
    with pytest.raises(RefusedError) as caught:
        place.recover()
    assert caught.value.code == "file.outside"
    assert place.memory() == before


@pytest.mark.parametrize("name", ["../x", "01HM8VDA8042RVZ0WXA3DA4TGM/../../x", "lock", ""])
def test_no_staged_name_of_a_record_is_believed(name: str) -> None:
    """A record whose staged names are not of the form that changes give them counts as none."""
    assert Intent.decode(INTENT._replace(id=name).encode()) is None


@pytest.mark.parametrize("cut", [0, 5, 20, -1])
def test_a_torn_record_counts_as_none(cut: int) -> None:
    """A record that is not whole promised nothing yet."""
    data = INTENT.encode()
    assert Intent.decode(data) == INTENT
    assert Intent.decode(data[:cut]) is None
