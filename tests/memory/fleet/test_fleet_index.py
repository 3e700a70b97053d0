"""The index over all workspaces of a machine: true after each edit, derived, private, and never in the way."""

from __future__ import annotations

import os
import sqlite3
import threading
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from memory.fleet import EmbeddedFleet
from memory.fleet.model import FleetHit
from memory.systems import asks_of_all, trust_of
from memory.workspace import Workspace
from tests.memory.fleet.fleets import NOW, make_workspace

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
    return {(hit.workspace.name, hit.entry.title) for hit in hits}


def test_only_what_changed_is_read(top: Path, fleet: EmbeddedFleet, opened: list[str]) -> None:
    """The first search opens each workspace, the next none, and one after an edit only the one that was edited."""
    fleet.scan(top, NOW)
    fleet.search("renew", NOW)
    assert sorted(opened) == ["alpha", "beta", "delta", "gamma"]
    opened.clear()
    assert len(fleet.search("renew", NOW)[0]) == 4
    assert opened == []
    path = top / "beta/.aiter/memory/tasks.md"
    path.write_text(path.read_text().replace("Renew beta", "Paint beta"))
    assert places(fleet.search("paint", NOW)[0]) == {("beta", "Paint beta")}
    assert opened == ["beta"]


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


def test_another_process_sees_what_this_one_indexed(top: Path, fleet: EmbeddedFleet, opened: list[str]) -> None:
    """Two fleets over one state folder share the index, each with the other's edits."""
    with EmbeddedFleet(fleet.local.state_home, host="here") as other:
        fleet.scan(top, NOW)
        fleet.search("renew", NOW)
        opened.clear()
        assert len(other.search("renew", NOW)[0]) == 4
        assert opened == []
        path = top / "alpha/.aiter/memory/tasks.md"
        path.write_text(path.read_text().replace("Renew alpha", "Paint alpha"))
        assert places(other.search("paint", NOW)[0]) == {("alpha", "Paint alpha")}
        assert places(fleet.search("paint", NOW)[0]) == {("alpha", "Paint alpha")}
        assert opened == ["alpha"]


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


def test_where_it_cannot_be_made_the_files_answer(top: Path, fleet: EmbeddedFleet, index_file: Path) -> None:
    """A folder in its place costs time and no answer."""
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


def test_the_limit_counts_what_is_wanted(top: Path, fleet: EmbeddedFleet) -> None:
    """Finds of workspaces that cannot be opened any more take no place of the others."""
    for number in range(12):
        make_workspace(top / f"more{number}", fleet.local.state_home)
    fleet.scan(top, NOW)
    fleet.search("renew", NOW)
    for number in range(11):
        (top / f"more{number}/.aiter/memory/config.md").unlink(missing_ok=True)
        (top / f"more{number}/.aiter").rename(top / f"more{number}/gone")
    hits, failed = fleet.search("renew", NOW, limit=5)
    assert len(hits) == 5
    assert {one.path.name for one in failed} == {f"more{number}" for number in range(11)}
    assert not {hit.workspace for hit in hits} & {one.path for one in failed}


def test_many_ask_while_files_change(top: Path, fleet: EmbeddedFleet) -> None:
    """Threads of two fleets that search while a file is written find everything that was there all the time."""
    other = EmbeddedFleet(fleet.local.state_home, host="here")
    fleet.scan(top, NOW)
    wrong: list[object] = []

    def ask(one: EmbeddedFleet) -> None:
        for _ in range(10):
            hits, failed = one.search("renew gamma", NOW)
            if failed or (hits[0].workspace.name, hits[0].fits_all) != ("gamma", True):
                wrong.append((hits, failed))

    with other:
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
    assert [hit.workspace.name for hit in hits if hit.fits_all] in (["beta"], [])
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


def test_a_refresh_looks_at_what_changed(top: Path, fleet: EmbeddedFleet, opened: list[str]) -> None:
    """What is known comes at once; a refresh opens what was never looked at, what changed, and what is long ago."""
    fleet.scan(top, NOW)
    assert {row.looked for row in fleet.known(NOW)} == {False}
    assert len(list(fleet.refresh(NOW))) == 4
    assert {row.looked for row in fleet.known(NOW)} == {True}
    opened.clear()
    assert list(fleet.refresh(NOW + timedelta(seconds=60))) == []
    path = top / "beta/.aiter/memory/tasks.md"
    path.write_text(path.read_text() + "\n### [HIGH] Again\n- due: 2024-01-02\n")
    assert [row.path.name for row in fleet.refresh(NOW + timedelta(seconds=60))] == ["beta"]
    assert opened == ["beta"]
    assert list(fleet.refresh(NOW + timedelta(hours=1))) == []
    assert len(list(fleet.refresh(NOW + timedelta(days=8)))) == 4
    (top / "alpha/.aiter").rename(top / "alpha/gone")
    assert [row.error is not None for row in fleet.refresh(NOW + timedelta(days=8))] == [True]


def test_status_opens_only_what_may_stand_otherwise(
    top: Path, fleet: EmbeddedFleet, opened: list[str], tmp_path: Path
) -> None:
    """A workspace is opened again when a file changed, a task became overdue, or the person decided about a command."""
    path = top / "beta/.aiter/memory/tasks.md"
    later = "## Pending\n\n### [LOW] Later\n- due: 2024-01-17 09:00\n- action: echo done\n"
    path.write_text(path.read_text().replace("## Pending\n", later))
    fleet.scan(top, NOW)

    def counts(now: datetime, asked: EmbeddedFleet = fleet) -> list[tuple[int, int]]:
        opened.clear()
        return [(row.overdue, row.waiting) for row in asked.overview(now)]

    first = [(1, 0), (1, 1), (1, 0), (1, 0)]
    assert counts(NOW) == first
    assert sorted(opened) == ["alpha", "beta", "delta", "gamma"]
    assert counts(NOW + timedelta(hours=40)) == first
    assert opened == []
    with EmbeddedFleet(tmp_path / "state", host="here", config_home=tmp_path / "config") as other:
        assert counts(NOW, other) == first
    assert opened == []
    assert counts(NOW + timedelta(hours=48)) == [(1, 0), (2, 1), (1, 0), (1, 0)]
    assert opened == ["beta"]
    workspace = Workspace.open(top / "beta", state_home=tmp_path / "state")
    trust = trust_of(workspace, tmp_path / "config")
    assert trust is not None
    for ask in asks_of_all(workspace):
        trust.approve(ask, who="human", now=NOW)
    workspace.close()
    assert counts(NOW + timedelta(hours=48)) == [(1, 0), (2, 0), (1, 0), (1, 0)]
    assert opened == ["beta"]
    # What an approved command names may change anywhere: it does not hold for long.
    assert counts(NOW + timedelta(hours=49))[1] == (2, 0)
    assert opened == ["beta"]


TWINS = """## Pending

### [LOW] Water the plants
- created: 2024-01-01 09:00

### [LOW] Water the plants
- created: 2024-01-01 09:00
- notes: twice

## Completed
"""


def test_together_is_as_one_by_one(tmp_path: Path) -> None:
    """An index that was written over several workspaces at once answers as one that took each after the other."""
    for name in ("one", "two", "three"):
        make_workspace(tmp_path / "src" / name, tmp_path / "state")
        make_workspace(tmp_path / "src" / f"{name}-twins", tmp_path / "state", TWINS)
    paths = sorted((tmp_path / "src").iterdir())
    with EmbeddedFleet(tmp_path / "a", host="here") as at_once, EmbeddedFleet(tmp_path / "b", host="here") as single:
        at_once.scan(tmp_path / "src", NOW)
        for path in paths:
            single.add(path, NOW)
            single.search("renew", NOW)
        # A file that is indexed already, and new ones behind it.
        text = (paths[0] / ".aiter/memory/tasks.md").read_text()
        at_once.search("renew", NOW)
        for path in paths:
            (path / ".aiter/memory/tasks.md").write_text(text.replace("## Pending", f"{TWINS[:-13]}## More", 1))
        for query in ("renew", "water plants", "twice", "old one", "tag:certificates", "watre plants"):
            found = at_once.search(query, NOW, limit=0)
            assert single.search(query, NOW, limit=0) == found
        assert at_once.search("water plants", NOW, limit=0)[0]
