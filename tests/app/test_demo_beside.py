"""The facts and the agent of the sample workspace: what each verb and pane has something to show of."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from app.demo.beside import add_beside, demo_agent, demo_facts
from app.demo.workspace import demo_files
from memory.errors import NotFoundError
from memory.systems import check_all
from memory.typed.failures import read_failures
from memory.workspace import Workspace

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
    """Facts of three scopes, files of three types of which some are due, failures; two pairs of facts are alike."""
    facts = shop.system("facts").status(NOW)["counts"]
    assert facts["facts"] == 13
    assert {"user", "workspace", "session"} <= set(facts)
    (agent,) = shop.system("typed").look().at(NOW)
    assert {file.type for file in agent.found.files} == {"core", "procedural", "episodic"}
    assert [file.path for file in agent.prune.deleted] == [
        "scratch/old-flags.md",
        "scratch/spring-campaign.md",
    ]
    codes = [problem.code for problem in check_all(shop)]
    assert codes.count("fact.alike") == 2
    assert not any(problem.level == "error" for problem in check_all(shop))
    failures = read_failures(demo_agent(NOW)["lessons/failures.md"][0].encode())
    assert (len(failures), max(failure.time for failure in failures if failure.time) < NOW) == (6, True)


def test_it_is_no_change_that_could_be_undone(shop: Workspace) -> None:
    """An undo in the sample takes back what somebody did in it, and not its beginning."""
    with pytest.raises(NotFoundError):
        shop.undo(actor="cli", now=NOW)


def test_what_is_there_stays(shop: Workspace) -> None:
    """Made a second time it touches nothing."""
    path = shop.root / "persona.md"
    path.write_text("mine\n")
    before = path.stat().st_mtime_ns
    add_beside(shop, NOW + timedelta(days=1), actor="cli")
    assert (path.read_text(), path.stat().st_mtime_ns) == ("mine\n", before)


def test_the_same_time_gives_the_same_text() -> None:
    """Nothing depends on the machine's clock or on chance."""
    assert demo_facts(NOW) == demo_facts(NOW)
    assert demo_agent(NOW) == demo_agent(NOW)
