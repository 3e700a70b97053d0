"""Many workspaces: the list, and what goes over all of them, also where one is broken."""

from __future__ import annotations

import os
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from memory.errors import MemdeckError, UsageError
from memory.fleet import EmbeddedFleet
from memory.storage.private.workspaces import WorkspaceList
from memory.workspace import Workspace

NOW = datetime(2024, 1, 15, 10, 30, tzinfo=UTC)
TASKS = """---
type: task-list
updated: 2024-01-15T10:30:00Z
---

## Pending

### [HIGH] Renew {name}
- due: 2024-01-10
- created: 2024-01-01 09:00

## In Progress

## Completed (last 7 days)

### [NORMAL] Old of {name}
- created: 2023-12-01 09:00
- completed: 2023-12-02 09:00
"""


@pytest.fixture
def top(tmp_path: Path) -> Path:
    """Return a folder with four workspaces in it, one of them deep, and folders that are none."""
    for name in ("alpha", "beta", "deep/er/gamma", "delta"):
        Workspace.init(
            tmp_path / "src" / name,
            NOW,
            actor="test",
            state_home=tmp_path / "state",
            machine_zone=UTC,
            files={"tasks.md": TASKS.format(name=name.rpartition("/")[2])},
        )[0].close()
    (tmp_path / "src/node_modules/x/.aiter/memory").mkdir(parents=True)
    (tmp_path / "src/.hidden/.aiter/memory").mkdir(parents=True)
    (tmp_path / "src/plain").mkdir()
    (tmp_path / "src/link").symlink_to(tmp_path / "src/alpha")
    return tmp_path / "src"


@pytest.fixture
def fleet(tmp_path: Path) -> EmbeddedFleet:
    """Return the fleet of the person of the test."""
    return EmbeddedFleet(tmp_path / "state", host="here", config_home=tmp_path / "config")


def test_a_scan_lists_what_is_beneath(top: Path, fleet: EmbeddedFleet) -> None:
    """Each workspace once, whatever leads to it; folders of tools, hidden ones and links are left out."""
    expected = tuple(sorted([top / "alpha", top / "beta", top / "deep/er/gamma", top / "delta"]))
    assert fleet.scan(top, NOW) == expected
    assert fleet.paths() == expected
    assert fleet.scan(top, NOW) == ()


def test_what_was_taken_off_stays_off(top: Path, fleet: EmbeddedFleet, tmp_path: Path) -> None:
    """Opening a workspace that the person took off does not list it again; adding it does."""
    assert fleet.add(top / "alpha/.aiter", NOW) == top / "alpha"
    assert fleet.add(top / "alpha", NOW) is None
    assert fleet.remove(top / "alpha/.aiter/memory") == top / "alpha"
    assert fleet.remove(top / "alpha") is None
    known = WorkspaceList(tmp_path / "state")
    assert not known.add(top / "alpha", NOW, asked=False)
    assert fleet.paths() == ()
    assert known.add(top / "beta", NOW, asked=False)
    assert fleet.add(top / "alpha", NOW) == top / "alpha"
    assert fleet.paths() == (top / "alpha", top / "beta")
    with pytest.raises(UsageError):
        fleet.add(top / "plain", NOW)


def test_how_all_stand(top: Path, fleet: EmbeddedFleet) -> None:
    """One row a workspace, by their paths, with what a person has to look at."""
    fleet.scan(top, NOW)
    told: list[tuple[int, int]] = []
    rows = fleet.overview(NOW, lambda done, total: told.append((done, total)))
    assert [row.path.name for row in rows] == ["alpha", "beta", "gamma", "delta"]
    assert {(row.overdue, row.systems, row.host, row.error) for row in rows} == {(1, ("files",), "here", None)}
    assert all(row.size > 200 for row in rows)
    assert told == [(1, 4), (2, 4), (3, 4), (4, 4)]


def test_one_search_over_all(top: Path, fleet: EmbeddedFleet) -> None:
    """What contains all words comes first, wherever it is."""
    fleet.scan(top, NOW)
    hits, failed = fleet.search("renew gamma", NOW)
    assert failed == ()
    assert (hits[0].workspace.name, hits[0].entry.title, hits[0].fits_all) == ("gamma", "Renew gamma", True)
    assert {hit.workspace.name for hit in hits[1:]} >= {"alpha", "beta", "delta"}
    assert not any(hit.fits_all for hit in hits[1:])
    assert len(fleet.search("renew", NOW, limit=2)[0]) == 2


def test_a_broken_one_stops_none(top: Path, fleet: EmbeddedFleet) -> None:
    """One that is gone, one whose file is unreadable and one with a wrong setting are told; the others are done."""
    fleet.scan(top, NOW)
    (top / "alpha/.aiter").rename(top / "alpha/elsewhere")
    (top / "beta/.aiter/memory/tasks.md").unlink()
    (top / "beta/.aiter/memory/tasks.md").mkdir()
    (top / "delta/.aiter/memory/config.md").write_text("## Maintenance\n\n- archiveCompletedAfterDays: many\n")
    later = NOW + timedelta(days=1)
    kept = {one.path.name: one for one in fleet.maintain(later, actor="maintain")}
    assert kept["alpha"].error is not None
    assert kept["alpha"].error["code"] == "fleet.gone"
    assert kept["beta"].error is not None
    assert kept["delta"].error is not None
    assert kept["gamma"].error is None
    assert kept["gamma"].result is not None
    (rule,) = [one for one in kept["gamma"].result["rules"] if one["archived"]]
    assert (rule["rule"], rule["before"], rule["kept"], rule["archived"]) == ("archive-completed-tasks", 2, 1, 1)
    rows = {row.path.name: row for row in fleet.overview(later)}
    assert rows["alpha"].error is not None
    assert rows["gamma"].last_maintenance is not None
    found = {one.path.name: one for one in fleet.check()}
    assert found["beta"].result is not None
    assert any(problem["level"] == "error" for problem in found["beta"].result["problems"])
    assert "Renew gamma" in {hit.entry.title for hit in fleet.search("renew", later)[0]}


def test_a_dry_run_writes_nothing(top: Path, fleet: EmbeddedFleet) -> None:
    """What would move is told, and every file is as it was."""
    fleet.scan(top, NOW)
    before = {path: path.read_bytes() for path in top.rglob("*.md")}
    kept = tuple(fleet.maintain(NOW, actor="maintain", dry_run=True))
    assert all(one.result is not None and one.result["rules"][0]["archived"] == 1 for one in kept)
    assert {path: path.read_bytes() for path in top.rglob("*.md")} == before


def test_many_writers_of_the_list(top: Path, tmp_path: Path) -> None:
    """Processes and threads that list at once lose none."""
    known = WorkspaceList(tmp_path / "state")
    paths = [Path(f"/srv/one-{number}") for number in range(40)]
    threads = [threading.Thread(target=known.add, args=(path, NOW)) for path in paths]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {one.path for one in known.all()} == set(paths)
    assert os.stat(known.path).st_mode & 0o777 == 0o600


def test_a_damaged_list_is_told(tmp_path: Path) -> None:
    """It is an error with a code and the file, and the file stays."""
    known = WorkspaceList(tmp_path / "state")
    known.add(Path("/srv/a"), NOW)
    known.path.write_bytes(b"no database" * 100)
    with pytest.raises(MemdeckError) as error:
        known.all()
    assert error.value.code == "fleet.list"
    assert known.path.read_bytes().startswith(b"no database")


def test_names_that_are_no_text_are_listed(tmp_path: Path, fleet: EmbeddedFleet) -> None:
    """A folder whose name is no UTF-8 comes back as it is."""
    folder = os.fsencode(tmp_path) + b"/caf\xe9"
    os.makedirs(folder + b"/.aiter/memory")
    path = Path(os.fsdecode(folder))
    assert fleet.add(path, NOW) == path
    assert fleet.paths() == (path,)
    assert fleet.overview(NOW)[0].error is None
