"""memdeck's own folders: made late, kept private, never trusted."""

from __future__ import annotations

import json
import os
import zlib
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


@pytest.mark.parametrize("text", [b'{"lastMaintenance": 3}', b'{"lastMaintenance": "2024-01-15"}'])
def test_a_damaged_state_counts_as_none(store: Store, now: datetime, text: bytes) -> None:
    """A record that cannot be read is no reason to fail, and the next maintenance writes a good one."""
    store.state.record_maintenance(now, store.system)
    assert store.state.last_maintenance() == now
    (store.state.folder.path / "state.json").write_bytes(text)
    assert store.state.last_maintenance() is None


@pytest.mark.parametrize("via_link", [False, True])
def test_refuses_a_state_inside_the_workspace(workspace: Path, tmp_path: Path, now: datetime, via_link: bool) -> None:
    """A repository must not bring a state along, not even behind a link; nothing is written then."""
    home = workspace / "state"
    if via_link:
        home.mkdir()
        home = tmp_path / "linked"
        home.symlink_to(workspace / "state")
    store = Store(workspace / ".aiter", state=PrivateState(home, workspace))
    with pytest.raises(RefusedError) as caught:
        change(store, now)
    assert caught.value.code == "state.inside_workspace"
    assert not (workspace / ".aiter/memory/a.md").exists()


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


@pytest.mark.parametrize("level", ["memdeck", "own"])
@pytest.mark.parametrize("fault", ["mode", "owner"])
def test_refuses_a_state_that_others_control(store: Store, now: datetime, level: str, fault: str) -> None:
    """A state folder that another user owns or may write to is refused for reading and for writing."""
    change(store, now)
    folder = store.state.folder.path if level == "own" else store.state.folder.path.parent
    if fault == "mode":
        folder.chmod(0o770)
    elif os.geteuid() == 0:
        os.chown(folder, 4242, 4242)
    else:
        pytest.skip("needs root to give a folder to another user")
    code = {"mode": "state.writable_by_others", "owner": "state.foreign_owner"}[fault]
    with pytest.raises(RefusedError) as caught:
        store.state.last_maintenance()
    assert caught.value.code == code
    with pytest.raises(RefusedError) as caught:
        change(store, now)
    assert caught.value.code == code


@pytest.mark.parametrize("kind", ["file", "dangling link"])
def test_refuses_a_state_home_that_is_no_folder(workspace: Path, tmp_path: Path, now: datetime, kind: str) -> None:
    """What stands in the place of the folder for state is named, and nothing is changed."""
    home = tmp_path / "home"
    if kind == "file":
        home.touch()
    else:
        home.symlink_to("nosuch")
    with pytest.raises(RefusedError, match=str(home)) as caught:
        change(Store(workspace / ".aiter", state=PrivateState(home, workspace)), now)
    assert caught.value.code == "file.not_folder"


@pytest.mark.parametrize("values", [{"files": 7}, {"files": [1, {"name": "../x", "mark": None}]}, {"roles": 5}])
def test_nonsense_with_a_good_checksum_counts_as_nothing(store: Store, now: datetime, values) -> None:
    """Records of another shape neither stop a change nor are carried out."""
    change(store, now)
    body = json.dumps(values).encode()
    record = b"memdeck 3 " + f"{len(body)} {zlib.crc32(body):08x}\n".encode() + body
    (store.state.folder.path / "journal-.aiter").write_bytes(record)
    change(store, now)


@pytest.mark.parametrize(
    ("kind", "code"), [("link", "file.link"), ("FIFO", "file.not_regular"), ("folder", "file.not_regular")]
)
def test_a_planted_lock_is_refused_with_what_helps(store: Store, workspace: Path, now: datetime, kind, code) -> None:
    """A lock that is none is not opened, not written to, and may be removed."""
    lock = workspace / ".aiter/.memdeck/lock"
    lock.parent.mkdir(0o700)
    {"link": lambda: lock.symlink_to(workspace.parent / "new"), "FIFO": lambda: os.mkfifo(lock), "folder": lock.mkdir}[
        kind
    ]()
    with pytest.raises(RefusedError) as caught:
        change(store, now)
    assert caught.value.code == code
    assert "memdeck makes it anew" in caught.value.hint
    assert not (workspace.parent / "new").exists()
