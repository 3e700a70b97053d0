"""What the tests of fleets stand on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from memory.fleet.embedded import EmbeddedFleet
from memory.fleet.local import LocalWorkspaces
from tests.memory.fleet.fleets import Fleets, catalogue_of, make_workspace
from tests.postgres import cluster, database

__all__ = ["cluster", "database"]


@pytest.fixture
def top(tmp_path: Path) -> Path:
    """Return a folder with four workspaces in it, one of them deep, and folders that are none."""
    for name in ("alpha", "beta", "deep/er/gamma", "delta"):
        make_workspace(tmp_path / "src" / name, tmp_path / "state")
    (tmp_path / "src/node_modules/x/.aiter/memory").mkdir(parents=True)
    (tmp_path / "src/.hidden/.aiter/memory").mkdir(parents=True)
    (tmp_path / "src/plain").mkdir()
    (tmp_path / "src/link").symlink_to(tmp_path / "src/alpha")
    return tmp_path / "src"


@pytest.fixture
def fleet(tmp_path: Path) -> Iterator[EmbeddedFleet]:
    """Yield the fleet of the person of the test."""
    with closing(EmbeddedFleet(LocalWorkspaces(tmp_path / "state", "here", None, tmp_path / "config"))) as fleet:
        yield fleet


@pytest.fixture(params=["embedded", "catalogue"])
def fleets(request: pytest.FixtureRequest, tmp_path: Path, fleet: EmbeddedFleet) -> Iterator[Fleets]:
    """Yield each implementation; the catalogue with an agent that publishes and does jobs."""
    wanted: dict[Path, str] = {}
    if request.param == "embedded":
        yield Fleets(fleet, wanted, fleet, None)
        return
    from memory.fleet.catalogue import initialise

    url = request.getfixturevalue("database")
    initialise(url)
    central, agent = catalogue_of(url, tmp_path / "state", wanted)
    try:
        yield Fleets(central, wanted, fleet, agent)
    finally:
        central.close()
        agent.end()
