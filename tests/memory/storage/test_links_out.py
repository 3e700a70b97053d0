"""Links in the place of memdeck's own folders: what they lead to is neither listed, nor read, nor tried out."""

from __future__ import annotations

from pathlib import Path
from queue import Queue

import pytest

from memory.storage import PrivateState
from memory.storage.store import Store
from memory.storage.watch import Watcher
from memory.workspace import Workspace
from tests.patience import PATIENCE


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """Return a workspace beside a folder that is none of its business."""
    (tmp_path / "shop" / ".aiter" / "memory").mkdir(parents=True)
    (tmp_path / "outside").mkdir()
    return tmp_path / "shop"


def test_a_file_system_outside_is_not_tried_out(shop: Path) -> None:
    """Finding out what protects changes makes no files where a link in the place of the system's folder leads."""
    system, outside = shop / ".aiter", shop.parent / "outside"
    Workspace.open(shop, state_home=shop.parent / "state")
    system.rename(shop / "away")
    system.symlink_to(outside)
    before = outside.stat().st_mtime_ns
    store = Store(system, state=PrivateState(None, shop))
    found = store.protection()
    assert any("cannot be written to" in reason for reason in found)
    assert outside.stat().st_mtime_ns == before
    system.unlink()
    (shop / "away").rename(system)
    assert not any("cannot be written to" in reason for reason in store.protection())


def test_a_folder_outside_is_not_watched(shop: Path) -> None:
    """Files that appear where a link of the workspace leads are no news, those of the workspace are."""
    memory = shop / ".aiter" / "memory"
    (memory / "archive").symlink_to(shop.parent / "outside")
    names: Queue[frozenset[str]] = Queue()
    watcher = Watcher(memory, names.put, interval=0.02, within=shop)
    watcher.start()
    try:
        (shop.parent / "outside" / "tasks-2024-01.md").write_text("x")
        (memory / "tasks.md").write_text("x")
        seen = names.get(timeout=PATIENCE)
        while "tasks.md" not in seen:
            seen |= names.get(timeout=PATIENCE)
    finally:
        watcher.stop()
    assert seen == {"tasks.md"}
