"""The facts and the agent of the sample workspace: what each verb and pane has something to show of."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from app.demo.siblings import BASE, ROOT, add_beside, demo_agent, demo_project
from app.demo.workspace import demo_files
from memory.state.check import validate
from memory.state.imports.sources import sync
from memory.state.recall.recall import preview, scope_of_recall
from memory.systems import check_all
from memory.typed.reading import read_failures
from memory.workspace import Workspace

from .sample_project import sample_project

NOW = datetime(2024, 1, 15, 9, 30, tzinfo=UTC)


@pytest.fixture
def shop(tmp_path: Path) -> Workspace:
    """The sample workspace with all that it has."""
    files = demo_files(NOW, UTC)
    workspace, _ = Workspace.init(
        tmp_path / "shop", NOW, actor="cli", state_home=tmp_path / "state", machine_zone=UTC, files=files
    )
    add_beside(workspace, NOW, actor="cli")
    return workspace


def test_there_is_something_of_each_kind(shop: Workspace) -> None:
    """Facts of three scopes, files of three types of which some are due, failures."""
    facts = shop.system("facts").status(NOW)["counts"]
    assert facts["facts"] == 13
    assert {"user", "workspace", "session"} <= set(facts)
    (agent,) = shop.system("typed").look().at(NOW)
    assert {file.type for file in agent.look.files} == {"core", "procedural", "episodic"}
    old = [file.path for file in agent.look.files if file.too_old(NOW)]
    assert old == ["scratch/old-flags.md", "scratch/spring-campaign.md"]
    assert agent.prune.error is not None
    assert agent.prune.error.code == "trust.blocked"
    assert not any(problem.level == "error" for problem in check_all(shop))
    failures = read_failures(demo_agent(NOW)["lessons/failures.md"][0].encode()).notes
    assert (len(failures), max(failure.time for failure in failures if failure.time) < NOW) == (6, True)


def test_the_project_is_sound_and_has_all_that_its_pane_shows(shop: Workspace) -> None:
    """Gotchas, next steps, three checkpoints, a backlog in groups and a source that is there; nothing fails."""
    system = shop.system("state")
    look = system.look()
    assert look.bundle is not None
    assert (len(look.bundle["gotchas"]), len(look.bundle["nextSteps"]), len(look.memory.checkpoint_ids)) == (2, 2, 3)
    assert (len(look.backlog), len(look.sources)) == (2, 1)
    found = validate(system.store.memory(), NOW)
    assert [one.code for one in found if one.level == "fail"] == []
    assert [one.code for one in found if one.level == "warn"] == []
    done = sync(system.store, ["claude"], home=None, actor="cli", now=NOW)
    assert (done.imported, done.results[0].skipped) == (0, 4)
    memory = system.store.memory()
    recalled = preview(memory, scope_of_recall(memory.config)).document["summary"]
    assert recalled["gotchas"]["edited"] == ["Pool runs dry without an error"]
    assert recalled["nextSteps"]["removed"] == ["Warn when the pool is nearly empty"]


def test_the_project_is_what_the_operations_make(tmp_path: Path) -> None:
    """`python -m tests.app.sample_project` would write the same sample."""
    (tmp_path / "made").mkdir()
    made = sample_project(tmp_path / "made")
    assert {path: text.replace(ROOT, "/srv/shop") for path, text in made.items()} == demo_project("/srv/shop", BASE)


def test_a_repository_keeps_its_own_files(tmp_path: Path) -> None:
    """Where a file of the sample's project is there, none of it is made."""
    root = tmp_path / "shop"
    root.mkdir()
    (root / "README.md").write_text("# Mine\n")
    workspace, _ = Workspace.init(root, NOW, actor="cli", state_home=tmp_path / "state", machine_zone=UTC)
    add_beside(workspace, NOW, actor="cli")
    assert (root / "README.md").read_text() == "# Mine\n"
    assert not workspace.system("state").present()
