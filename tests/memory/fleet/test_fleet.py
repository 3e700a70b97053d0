"""Many workspaces: the list, and what goes over all of them, also where one is broken."""

from __future__ import annotations

import os
import threading
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest

from memory.errors import MemdeckError, UsageError
from memory.fleet.embedded import EmbeddedFleet
from memory.fleet.local import LocalWorkspaces, WorkspaceFailure
from memory.storage.private.workspaces import WorkspaceList
from tests.memory.fleet.fleets import NOW, make_workspace


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


def test_many_writers_of_the_list(top: Path, tmp_path: Path) -> None:
    """Processes and threads that list at once lose none."""
    known = WorkspaceList(tmp_path / "state")
    paths = [Path(f"/srv/one-{number}") for number in range(40)]
    threads = [threading.Thread(target=known.add, args=(path, NOW)) for path in paths]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert known.names() == tuple(sorted(map(str, paths)))
    assert os.stat(known.folder.path / "workspaces.sqlite").st_mode & 0o777 == 0o600


def test_a_damaged_list_is_told(tmp_path: Path) -> None:
    """It is an error with a code and the file, which is moved aside; a new list begins."""
    known = WorkspaceList(tmp_path / "state")
    known.add(Path("/srv/a"), NOW)
    path = known.folder.path / "workspaces.sqlite"
    path.write_bytes(b"no database" * 100)
    with pytest.raises(MemdeckError) as error:
        WorkspaceList(tmp_path / "state").names()
    assert error.value.code == "fleet.list"
    assert path.with_suffix(".damaged.sqlite").read_bytes().startswith(b"no database")
    assert WorkspaceList(tmp_path / "state").names() == ()


def test_names_that_are_no_text_are_listed(tmp_path: Path, fleet: EmbeddedFleet) -> None:
    """A folder whose name is no UTF-8 comes back as it is."""
    folder = os.fsencode(tmp_path) + b"/caf\xe9"
    os.makedirs(folder + b"/.aiter/memory")
    path = Path(os.fsdecode(folder))
    assert fleet.add(path, NOW) == path
    assert fleet.paths() == (path,)
    assert fleet.overview(NOW)[0].error is None


def test_how_each_is_published(top: Path, fleet: EmbeddedFleet) -> None:
    """A workspace is published whole unless the person says otherwise; one that is excluded is not published."""
    fleet.scan(top, NOW)
    fleet.publish(top / "alpha/.aiter", "names")
    fleet.publish(top / "beta", "none")
    assert {path.name: mode for path, mode in fleet.published().items()} == {
        "alpha": "names",
        "gamma": "full",
        "delta": "full",
    }
    assert len(fleet.paths()) == 4
    fleet.publish(top / "alpha", "full")
    fleet.remove(top / "delta")
    assert {path.name: mode for path, mode in fleet.published().items()} == {"alpha": "full", "gamma": "full"}


def test_wrong_addresses_stop_no_due_work(tmp_path: Path) -> None:
    """The ping that they would name is a warning; the heartbeat beats, and the workspace is maintained."""
    path = make_workspace(tmp_path / "one", tmp_path / "state")
    (path / ".aiter/memory/config.md").write_text("## Heartbeat\n\n- expression: * * * * *\n")
    file = tmp_path / "config/memdeck/channels.toml"
    file.parent.mkdir(parents=True)
    file.write_text("[pings]\n")
    file.chmod(0o644)
    local = LocalWorkspaces(tmp_path / "state", "here", None, tmp_path / "config")
    for minutes, moved in ((0, 0), (2, 1)):
        now = NOW + timedelta(minutes=minutes)
        found = local.one(path, partial(local.keep, now=now, upkeep="* * * * *", watch=True))
        assert not isinstance(found, WorkspaceFailure)
        lines = " ".join(found[1])
        assert "the ping at the end was not sent" in lines
        assert ("maintenance moved 1" in lines) == bool(moved)
