"""memdeck's own folders: made late, kept private, never trusted."""

from __future__ import annotations

import os
from datetime import datetime
from pathlib import Path

import pytest

from memory.errors import RefusedError
from memory.storage import PrivateState, Store

FAULTS = ("link", "file", "owner", "writable")


def change(store: Store, now: datetime) -> None:
    """Make a small change."""
    with store.transaction("t", actor="human", now=now) as transaction:
        transaction.write("memory/a.md", os.urandom(8), base=transaction.read("memory/a.md").base)
        transaction.commit()


def test_the_first_change_makes_the_folder(store: Store, workspace: Path, now: datetime) -> None:
    """It is private, git ignores it, and it holds the lock and an empty stage."""
    folder = workspace / ".aiter/.memdeck"
    assert not folder.exists()
    change(store, now)
    assert folder.stat().st_mode & 0o777 == 0o700
    assert (folder / ".gitignore").read_text() == "*\n"
    assert sorted(path.name for path in folder.iterdir()) == [".gitignore", "lock", "stage"]


@pytest.mark.parametrize("name", [".memdeck", ".memdeck/stage"])
@pytest.mark.parametrize("kind", ["link", "file"])
def test_refuses_a_folder_that_is_none(store: Store, workspace: Path, now: datetime, name, kind) -> None:
    """A link or a file in the place of memdeck's folders is refused, and nothing is written through it."""
    elsewhere = workspace / "elsewhere"
    elsewhere.mkdir()
    path = workspace / ".aiter" / name
    path.parent.mkdir(exist_ok=True)
    if kind == "link":
        path.symlink_to(elsewhere)
    else:
        path.touch()
    with pytest.raises(RefusedError) as caught:
        change(store, now)
    assert caught.value.code == {"link": "file.link", "file": "file.not_folder"}[kind]
    assert list(elsewhere.iterdir()) == []


def test_state_is_kept_apart_and_private(store: Store, workspace: Path, tmp_path: Path, now: datetime) -> None:
    """A change notes its time outside the workspace, in a folder that only its owner enters."""
    change(store, now)
    folder = store.state.folder.path
    assert folder.parent == tmp_path / "state" / "memdeck"
    assert folder.stat().st_mode & 0o777 == 0o700
    modes = {path.name: path.stat().st_mode & 0o777 for path in folder.iterdir()}
    assert "changes.sqlite" in modes
    assert set(modes.values()) == {0o600}


@pytest.mark.parametrize("person", [".", "home/me"])
@pytest.mark.parametrize("where", [".local/state", "home/me/.local/state", "elsewhere"])
def test_a_workspace_around_the_home_folder_may_hold_the_state(
    workspace: Path, now: datetime, person: str, where: str
) -> None:
    """What the person's environment names counts there: it is the person's as much as the home folder is."""
    (workspace / person).mkdir(parents=True, exist_ok=True)
    state = PrivateState(workspace / where, workspace, workspace / person)
    change(Store(workspace / ".aiter", state=state), now)
    assert state.folder.path.is_relative_to(workspace / where)


PRIVATE = [("own", "open"), *((level, kind) for level in ("memdeck", "own") for kind in FAULTS)]


@pytest.mark.parametrize(("level", "kind"), PRIVATE)
def test_a_state_in_the_home_folder_is_private(workspace: Path, now: datetime, level: str, kind: str) -> None:
    """Where the workspace holds it, only a folder as memdeck makes it counts: git makes others."""
    state = PrivateState(workspace / "s", workspace, workspace)
    store = Store(workspace / ".aiter", state=state)
    change(store, now)
    folder = state.folder.path if level == "own" else state.folder.path.parent
    match kind:
        case "open":
            folder.chmod(0o750)
        case "writable":
            folder.chmod(0o770)
        case "owner":
            if os.geteuid() != 0:
                pytest.skip("needs root to give a folder to another user")
            os.chown(folder, 4242, 4242)
        case _:
            folder.rename(workspace / "moved")
            folder.symlink_to(workspace / "moved") if kind == "link" else folder.touch(0o600)
    for act in (state.last_maintenance, lambda: change(store, now)):
        with pytest.raises(RefusedError) as caught:
            act()
        codes = {"owner": "state.foreign_owner", "writable": "state.writable_by_others"}
        assert caught.value.code == (codes if level == "memdeck" else codes | {"writable": "state.not_private"}).get(
            kind, "state.not_private"
        )


def test_a_clone_is_no_home_folder(workspace: Path, tmp_path: Path, now: datetime) -> None:
    """Records inside of a workspace that does not hold the person's home folder are refused as ever."""
    change(Store(workspace / ".aiter", state=PrivateState(workspace / "s", workspace, workspace)), now)
    for person in (tmp_path / "me", tmp_path, workspace.with_name(workspace.name + "-too"), None):
        with pytest.raises(RefusedError, match=r"state\.inside_workspace"):
            PrivateState(workspace / "s", workspace, person).last_maintenance()
