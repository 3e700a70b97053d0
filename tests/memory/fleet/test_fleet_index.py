"""The index over all workspaces of a machine: true after each edit, derived, private, and never in the way."""

from __future__ import annotations

import sqlite3
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from memory.fleet.embedded import EmbeddedFleet
from memory.workspace import Workspace
from tests.memory.fleet.fleets import NOW

if TYPE_CHECKING:
    from memory.base.problems import Problem


@pytest.fixture
def index_file(tmp_path: Path) -> Path:
    """Return where the index is."""
    return tmp_path / "state/memdeck/fleet/search.sqlite"


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the names of the workspaces that are opened from now on."""
    names: list[str] = []
    real = Workspace.open.__func__  # type: ignore[attr-defined]

    def count(cls: type[Workspace], path: Path, **given: object) -> Workspace:
        names.append(Path(path).name)
        return real(cls, path, **given)  # type: ignore[no-any-return]

    monkeypatch.setattr(Workspace, "open", classmethod(count))
    return names


FACT = '{"id":"m-1","scope":"user","text":"zebra finch","tags":[],"ts":"2024-01-02T12:00:00Z"}\n'


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (".aiter/memory/archive/tasks-2023-12.md", "## Completed\n\n### [LOW] Zebra finch\n- priority: low\n"),
        (".aiter/memory/knowledge.md", "## Birds\n\n- The zebra finch sings\n"),
        (".aegis/memory/memories.jsonl", FACT),
    ],
)
def test_a_new_file_is_found(top: Path, fleet: EmbeddedFleet, name: str, text: str) -> None:
    """A file that was not there when the workspace was indexed is in the next answer, also one of a new system."""
    fleet.scan(top, NOW)
    assert fleet.search("zebra", NOW)[0] == ()
    path = top / "beta" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    assert {hit.workspace.name for hit in fleet.search("zebra", NOW)[0]} == {"beta"}


def test_it_is_derived(top: Path, fleet: EmbeddedFleet, index_file: Path) -> None:
    """Removed, damaged or made by another version it is made anew, and the answers are the same."""
    fleet.scan(top, NOW)
    before = fleet.search("renew gamma", NOW)
    index_file.unlink()
    assert fleet.search("renew gamma", NOW) == before
    fleet.close()
    index_file.write_bytes(b"no database at all" * 500)
    assert fleet.search("renew gamma", NOW) == before
    fleet.close()
    with sqlite3.connect(index_file) as connection:
        connection.execute("PRAGMA user_version = 7")
    connection.close()
    assert fleet.search("renew gamma", NOW) == before


def test_what_is_taken_off_leaves_the_index(top: Path, fleet: EmbeddedFleet, index_file: Path) -> None:
    """Nothing of a workspace that was taken off the list is left in it."""
    fleet.scan(top, NOW)
    fleet.search("renew", NOW)
    for name in ("alpha", "beta", "delta"):
        fleet.remove(top / name)
    fleet.close()
    with sqlite3.connect(index_file) as connection:
        assert connection.execute("SELECT count(*) FROM room").fetchone() == (1,)
        assert connection.execute("SELECT count(DISTINCT room) FROM file").fetchone() == (1,)
        assert connection.execute("SELECT count(DISTINCT file) FROM entry").fetchone() == (1,)
    connection.close()
    assert {hit.workspace.name for hit in fleet.glance("renew", NOW)} == {"gamma"}


def test_a_glance_answers_at_once(top: Path, fleet: EmbeddedFleet, opened: list[str]) -> None:
    """It is the answer of the index as it stands: no file is read, and what changed since comes with the search."""
    assert fleet.glance("renew", NOW) == ()
    fleet.scan(top, NOW)
    fleet.search("renew", NOW)
    opened.clear()
    path = top / "alpha/.aiter/memory/tasks.md"
    path.write_text(path.read_text().replace("Renew alpha", "Paint alpha"))
    assert fleet.glance("paint", NOW) == ()
    assert fleet.glance("renew gamma", NOW)[0].workspace.name == "gamma"
    assert opened == []


def test_how_all_stand_follows_the_files(top: Path, fleet: EmbeddedFleet, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files that did not change are not checked again; one that did is, and what depends on the time is always new."""
    from memory.fleet import local

    checked: list[str] = []
    real = local.check_all

    def check(workspace: Workspace) -> tuple[Problem, ...]:
        checked.append(workspace.root.name)
        return real(workspace)

    monkeypatch.setattr(local, "check_all", check)
    fleet.scan(top, NOW)
    before = fleet.overview(NOW)
    assert sorted(checked) == ["alpha", "beta", "delta", "gamma"]
    checked.clear()
    assert fleet.overview(NOW) == before == fleet.known(NOW)
    assert checked == []
    assert [row.overdue for row in fleet.overview(NOW - timedelta(days=30))] == [0, 0, 0, 0]
    assert fleet.overview(NOW) == before
    checked.clear()
    path = top / "beta/.aiter/memory/tasks.md"
    again = "## Pending\n\n### [HIGH] Again\n- due: 2024-01-02\n"
    path.write_text(path.read_text().replace("## Pending\n", again))
    assert [row.overdue for row in fleet.overview(NOW)] == [1, 2, 1, 1]
    assert checked == ["beta"]
