"""Noticing changes from outside."""

from __future__ import annotations

import queue
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from memory.storage.watch import Watcher
from tests.patience import PATIENCE

Names = queue.Queue[frozenset[str]]


@pytest.fixture(params=[True, False], ids=["hints", "polling"])
def watch(request: pytest.FixtureRequest, tasks: Path) -> Iterator[tuple[Watcher, Names]]:
    """Watch the memory folder; with the system's notifications, and without."""
    names: Names = queue.Queue()
    watcher = Watcher(tasks.parent, names.put, interval=0.02, hints=request.param)
    watcher.start()
    yield watcher, names
    watcher.stop()


def until(names: Names, wanted: str) -> None:
    """Wait until a file is named."""
    while wanted not in names.get(timeout=PATIENCE):
        pass


def in_place(path: Path) -> None:
    """Rewrite in place."""
    path.write_bytes(b"new")


def replace(path: Path) -> None:
    """Replace by another file."""
    path.with_name("x.tmp").write_bytes(b"new")
    path.with_name("x.tmp").replace(path)


@pytest.mark.parametrize("change", [in_place, replace, Path.unlink])
def test_a_change_is_named(watch, tasks: Path, change: Callable[[Path], None]) -> None:
    """However another program changes a file, its name is called back."""
    change(tasks)
    until(watch[1], "tasks.md")


def test_the_archive_may_come_later(watch, tasks: Path) -> None:
    """Files of an archive that did not exist at the start are named with their folder."""
    (tasks.parent / "archive").mkdir()
    (tasks.parent / "archive" / "tasks-2024-01.md").write_bytes(b"x")
    until(watch[1], "archive/tasks-2024-01.md")


def test_the_folder_may_go_and_come_back(watch, tasks: Path) -> None:
    """A folder that is moved away takes its files along; the one that replaces it is watched as well."""
    tasks.parent.rename(tasks.parent.with_name("old"))
    until(watch[1], "tasks.md")
    tasks.parent.mkdir()
    tasks.write_bytes(b"back")
    until(watch[1], "tasks.md")
    tasks.write_bytes(b"and changed")
    until(watch[1], "tasks.md")


def test_other_files_and_reading_are_not_named(watch, tasks: Path) -> None:
    """Only Markdown files count, and reading them is no change."""
    tasks.read_bytes()
    tasks.with_name("x.tmp").write_bytes(b"x")
    tasks.with_name("last.md").write_bytes(b"x")
    named = {name for names in iter(lambda: watch[1].get(timeout=PATIENCE), frozenset({"last.md"})) for name in names}
    assert named <= {"last.md"}


def test_a_failing_callback_ends_nothing(tasks: Path) -> None:
    """Where the callback fails, the next change is named all the same."""
    names: Names = queue.Queue()

    def fail(changed: frozenset[str]) -> None:
        names.put(changed)
        raise ValueError("broken")

    watcher = Watcher(tasks.parent, fail, interval=0.02)
    watcher.start()
    tasks.write_bytes(b"one")
    until(names, "tasks.md")
    tasks.with_name("b.md").write_bytes(b"two")
    until(names, "b.md")
    watcher.stop()


def test_it_stops_for_good(tasks: Path) -> None:
    """After stop, which can be called twice and before start, nothing is called back; it starts only once."""
    names: Names = queue.Queue()
    watcher = Watcher(tasks.parent, names.put, interval=60)
    watcher.stop()
    watcher = Watcher(tasks.parent, names.put, interval=60)
    watcher.start()
    with pytest.raises(RuntimeError):
        watcher.start()
    watcher.stop()
    watcher.stop()
    tasks.write_bytes(b"late")
    assert names.empty()


def test_a_hint_is_faster_than_the_poll(tasks: Path) -> None:
    """With a poll only once a minute a change still arrives, for the notification wakes it."""
    pytest.importorskip("watchdog")
    names: Names = queue.Queue()
    watcher = Watcher(tasks.parent, names.put, interval=60)
    watcher.start()
    try:
        # The folder is listened to from some moment on: write until that has come.
        for number in range(2000):
            tasks.write_bytes(b"%d" % number)
            try:
                names.get(timeout=0.01)
            except queue.Empty:
                continue
            break
        else:
            pytest.fail("no change arrived")
    finally:
        watcher.stop()
