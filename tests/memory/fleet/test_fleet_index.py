"""The index over all workspaces of a machine: true after each edit, derived, private, and never in the way."""

from __future__ import annotations

import os
import sqlite3
import threading
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from memory.fleet.embedded import EmbeddedFleet
from memory.fleet.model import FleetHit
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


def places(hits: tuple[FleetHit, ...]) -> set[tuple[str, str]]:
    """Return the workspaces and titles of finds."""
    return {(one.workspace.name, one.hit.entry.title) for one in hits}


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


def test_a_folder_in_its_place_costs_no_answer(top: Path, fleet: EmbeddedFleet, index_file: Path) -> None:
    """What was found without it is found all the same."""
    fleet.scan(top, NOW)
    index_file.mkdir(parents=True)
    (index_file / "x").touch()
    hits, failed = fleet.search("renew gamma", NOW)
    assert (hits[0].workspace.name, failed) == ("gamma", ())
    assert {hit.workspace.name for hit in hits} == {"alpha", "beta", "gamma", "delta"}


def test_it_is_private(top: Path, fleet: EmbeddedFleet, index_file: Path) -> None:
    """Nobody else may read it, nor what SQLite keeps beside it; a link in its place is not followed."""
    before = os.umask(0)
    try:
        fleet.scan(top, NOW)
        fleet.search("renew", NOW)
    finally:
        os.umask(before)
    assert {path.stat().st_mode & 0o777 for path in index_file.parent.iterdir()} == {0o600}
    assert index_file.parent.stat().st_mode & 0o777 == 0o700
    fleet.close()
    index_file.unlink()
    aim = top / "alpha/aim"
    aim.touch()
    index_file.symlink_to(aim)
    assert len(fleet.search("renew", NOW)[0]) == 4
    assert aim.read_bytes() == b""


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


def test_many_ask_while_files_change(top: Path, fleet: EmbeddedFleet) -> None:
    """Threads of two fleets that search while a file is written find everything that was there all the time."""
    other = EmbeddedFleet(fleet.local)
    fleet.scan(top, NOW)
    wrong: list[object] = []

    def ask(one: EmbeddedFleet) -> None:
        for _ in range(10):
            hits, failed = one.search("renew gamma", NOW)
            if failed or (hits[0].workspace.name, hits[0].hit.fits_all) != ("gamma", True):
                wrong.append((hits, failed))

    with closing(other):
        threads = [threading.Thread(target=ask, args=(one,)) for one in (fleet, other, fleet, other)]
        for thread in threads:
            thread.start()
        path = top / "beta/.aiter/memory/tasks.md"
        text = path.read_text()
        for number in range(10):
            path.write_text(text.replace("Renew", f"Paint{number}"))
        for thread in threads:
            thread.join()
    assert wrong == []
    assert places(fleet.search("paint9", NOW)[0]) == {("beta", "Paint9 beta")}
    other.close()


def test_hostile_content_is_text(top: Path, fleet: EmbeddedFleet) -> None:
    """Bytes that are no UTF-8, NUL and the language of the index in titles harm nothing, and the rest is found."""
    path = top / "beta/.aiter/memory/tasks.md"
    path.write_bytes(
        b'## Pending\n\n### [LOW] \xff\xfe zebra \x00 " OR marks : p1 NEAR( \' -- ; DROP TABLE room\n- tags: x:y*, "\n'
    )
    fleet.scan(top, NOW)
    hits, failed = fleet.search("zebra", NOW)
    assert failed == ()
    assert [one.workspace.name for one in hits if one.hit.fits_all] in (["beta"], [])
    assert {hit.workspace.name for hit in fleet.search("renew", NOW)[0]} == {"alpha", "gamma", "delta"}


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
    assert [row.overdue for row in fleet.overview(NOW - timedelta(days=30))] == [0, 0, 0, 0]
    assert checked == []
    path = top / "beta/.aiter/memory/tasks.md"
    again = "## Pending\n\n### [HIGH] Again\n- due: 2024-01-02\n"
    path.write_text(path.read_text().replace("## Pending\n", again))
    assert [row.overdue for row in fleet.overview(NOW)] == [1, 2, 1, 1]
    assert checked == ["beta"]


TWINS = """## Pending

### [LOW] Water the plants
- created: 2024-01-01 09:00

### [LOW] Water the plants
- created: 2024-01-01 09:00
- notes: twice

## Completed
"""
