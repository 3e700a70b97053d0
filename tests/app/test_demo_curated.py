"""The curated memory of the sample workspace: something of each kind, made by the controller, the same each time."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from app.demo.curated import add_curated
from memory.curated.overview import CuratedOverview
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
    assert [(len(found.inbox), found.inbox[0]["candidates"]), len(found.failures)] == [(1, 1), 1]
    assert [run["state"] for run in found.dreams] == ["promoted"]
    assert [gates["words"] for gates in found.gates if gates["scope"] == "workspace"] == [
        "2 of 3 sessions, 4 of 5 candidates"
    ]
    assert found.health["status"] == "ok"
    assert not any(problem.level == "error" for problem in check_all(shop))


def test_changes_and_decisions_name_memories_by_their_titles(shop: Workspace) -> None:
    """Also those that were forgotten; no file names and no paths."""
    said = [change.summary for change in shop.store.history.list()]
    assert {
        "remembered 'Refunds' (workspace)",
        "renewed 'Deploy window' (workspace)",
        "forgot 'Worker restart' (workspace)",
        "took 2 candidates of support-4411 from the inbox; 1 failed",
    } <= set(said)
    titles = [made["title"] for made in overview(shop).decisions]
    assert {"Worker restart", "Deploy window"} <= set(titles)
    assert "Release days" not in titles
    assert not [text for text in (*said, *titles) if ".md" in text or "_system" in text]


def test_it_is_no_change_that_could_be_undone(shop: Workspace) -> None:
    """An undo in the sample takes back what a person did in it, and not its beginning."""
    for actor in ("cli", "human"):
        with pytest.raises(NotFoundError):
            undo_in(shop.together, actor=actor, now=NOW)


def test_the_memory_of_the_person_stays_untouched(shop: Workspace) -> None:
    """The home folder is as empty as before."""
    assert list((shop.root.parent / "home").iterdir()) == []


def test_the_same_time_gives_the_same_files(tmp_path: Path) -> None:
    """Nothing but the names of runs depends on chance, and what is there is not made again."""
    one, other = made(tmp_path / "one"), made(tmp_path / "other")
    texts = []
    for workspace in (one, other):
        folder = workspace.root / ".agh"
        names = sorted(path for path in folder.rglob("*_*.md") if "_system" not in path.parts)
        texts.append({path.relative_to(folder): path.read_text() for path in names if "dreaming" not in path.name})
    assert texts[0] == texts[1]
    assert len(texts[0]) == 11
    before = overview(one).decisions
    add_curated(one, NOW + timedelta(days=1))
    assert overview(one).decisions == before
