"""Project state among the other systems: its store beside theirs, its records, and one look at it."""

from __future__ import annotations

from pathlib import Path

import pytest

from memory.state.files.model import EVENTS, STATE
from memory.systems import check_all, records_of_all

from .states import ACTOR, Repository


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """Return a small repository with a fresh state."""
    return Repository(tmp_path)


def test_what_search_finds(repository: Repository) -> None:
    """The parts of the bundle and the events, those of the archive too, each with ref and line."""
    from memory.state.retention import prune

    repository.imported("one", "GOTCHA: Lock: two writers")
    repository.recall()
    repository.later(days=100)
    prune(repository.store, actor=ACTOR, now=repository.at)
    repository.update()
    found = {record.ref: record for record in records_of_all(repository.workspace, ("state",))}
    assert {"state#project", "state#gotcha-1", "state#evt-000002", "state#evt-000004"} <= found.keys()
    assert found["state#evt-000002"].file.startswith(".agent-memory/archive/")
    lines = repository.path(EVENTS).read_text().splitlines()
    assert "evt-000004" in lines[found["state#evt-000004"].line]


def test_check_knows_its_files(repository: Repository) -> None:
    """Files of the format, projections and the entry file are its own; what only waits is a note."""
    system = repository.system
    assert all(map(system.owns, (STATE, "docs/agent-memory/gotchas.md", "README.md")))
    assert not system.owns("AGENTS.md")
    assert not system.owns("shop/cache.py")
    assert {problem.level for problem in check_all(repository.workspace)} <= {"note"}
    repository.path(STATE).write_text("{")
    assert "state.state.json" in {problem.code for problem in system.check([STATE])}
