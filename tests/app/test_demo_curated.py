"""The curated memory of the sample workspace: something of each kind, made by the controller, the same each time."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import pytest

from app.demo.curated import add_curated
from memory.curated.operations.records import CuratedOverview
from memory.curated.operations.registry import BY_NAME, OperationCall
from memory.curated.system import CuratedMemory
from memory.errors import NotFoundError
from memory.history.undo import undo_in
from memory.systems import check_all, system_of
from memory.workspace import Workspace

NOW = datetime(2024, 1, 15, 9, 30, tzinfo=UTC)


@pytest.fixture
def shop(tmp_path: Path) -> Workspace:
    """A workspace with the sample's curated memory."""
    return made(tmp_path)


def made(top: Path) -> Workspace:
    """Make it below a folder, with a person who has a home."""
    (top / "home").mkdir(parents=True)
    workspace, _ = Workspace.init(
        top / "shop", NOW, actor="cli", state_home=top / "state", machine_zone=UTC, home=top / "home"
    )
    add_curated(workspace, NOW)
    return workspace


def overview(workspace: Workspace) -> CuratedOverview:
    """Everything that the pane shows of it."""
    return system_of(workspace, "curated", CuratedMemory).look().overview(NOW)


def test_there_is_something_of_each_kind(shop: Workspace) -> None:
    """All types, agents that hide what the workspace says, every outcome, an inbox with a failure, a dream."""
    found = overview(shop)
    assert {memory.header.type for memory in found.memories} == {"user", "feedback", "project", "reference"}
    assert {memory.root.label for memory in found.memories} == {"workspace", "agent/workspace"}
    assert {one.reader for one in found.shadows} == {"builder", "reviewer"}
    assert {made["op"] for made in found.decisions} == {"add", "update", "delete", "noop", "reject"}
    assert Counter(made["origin"] for made in found.decisions).keys() == {"cli", "tool", "extractor", "dreaming"}
    curated, call = system_of(shop, "curated", CuratedMemory).look().curated, OperationCall(NOW)
    waiting = BY_NAME["extractor status"].call(curated, {}, call)["extractor"]
    assert [waiting[key] for key in ("inbox_files", "inbox_candidates", "failure_count")] == [1, 1, 1]
    assert [run["state"] for run in BY_NAME["dream list"].call(curated, {}, call)["dreams"]] == ["promoted"]
    gates = found.health["dream_gates"]["workspace"]
    assert "2 of 3 sessions" in gates
    assert "4 of 5 memories" in gates
    assert found.health["status"] == "ok"
    assert not any(problem.level == "error" for problem in check_all(shop))


def test_it_is_no_change_that_could_be_undone(shop: Workspace) -> None:
    """An undo in the sample takes back what a person did in it, and not its beginning."""
    for actor in ("cli", "human"):
        with pytest.raises(NotFoundError):
            undo_in(shop.together, actor=actor, now=NOW)


def test_the_memory_of_the_person_stays_untouched(shop: Workspace) -> None:
    """The home folder is as empty as before."""
    assert list((shop.root.parent / "home").iterdir()) == []
