"""A state folder that takes nothing: changes are made with a warning, or refused with what helps, and doctor tells."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.memory.storage.conftest import mount_small

__all__ = ["mount_small"]

Process = Callable[..., "subprocess.CompletedProcess[bytes]"]


def _fill(folder: Path) -> Path:
    """Leave no block of the disk of a folder free; return the file that does."""
    filler = folder / "filler"
    with filler.open("ab", buffering=0) as file:
        for size in (65536, 4096, 1):
            try:
                while True:
                    file.write(b"x" * size)
            except OSError:
                continue
    return filler


@pytest.fixture
def state(shop: Path, tmp_path: Path, mount_small: Callable[[Path, str], None]) -> Path:
    """Return the state home, a small disk of its own."""
    folder = tmp_path / "state"
    folder.mkdir()
    mount_small(folder, "600k")
    return folder


def test_changes_are_made_on_a_full_state_disk(shop: Path, memory: Path, state: Path, process: Process) -> None:
    """One file or several, a fact or an archive: all of it is made, says that it is not recorded, and is whole."""
    assert process("tasks", "add", "First").returncode == 0
    assert process("facts", "store", "Nothing is as it was").returncode == 0
    filler = _fill(state)
    tasks = memory / "tasks.md"
    for words, path, text in (
        (("tasks", "add", "Second"), tasks, "] Second"),
        (("tasks", "start", "Second"), tasks, "started:"),
        (("facts", "store", "Disks fill up"), shop / ".aegis/memory/memories.jsonl", "Disks fill up"),
        (("--maintain", "--no-exec"), memory / "archive/tasks-2024-01.md", "completed"),
        (("tasks", "add", "Third"), tasks, "] Third"),
    ):
        done = process(*words)
        assert done.returncode == 0, done
        assert text in path.read_text(), words
        assert b"warning: the " in done.stderr, done
    found = process("doctor")
    assert b"nothing can be recorded" in found.stdout
    assert b"history      can be read and written" not in found.stdout
    refused = process("undo")
    assert refused.returncode != 0
    assert "Third" in tasks.read_text()
    filler.unlink()
    assert process("tasks", "add", "Fourth").stderr == b""
    assert b"nothing can be recorded" not in process("doctor").stdout
    listed = process("changes", "list", "--actor", "outside").stdout
    assert b"'[NORMAL] Third' and 2 more" in listed
    assert not list((shop / ".aiter/.memdeck/stage").glob("*.kept"))


def test_a_state_disk_that_was_full_from_the_start(shop: Path, memory: Path, state: Path, process: Process) -> None:
    """Where no room was ever set aside one file is changed, and several are refused, whole, with what helps."""
    _fill(state)
    done = process("tasks", "add", "First")
    assert (done.returncode, b"warning: the state folder takes no records" in done.stderr) == (0, True), done
    assert "] First" in (memory / "tasks.md").read_text()
    before = {path: path.read_bytes() for path in memory.rglob("*") if path.is_file()}
    refused = process("--maintain", "--no-exec")
    assert (refused.returncode, b"state.full" in refused.stderr, b"XDG_STATE_HOME" in refused.stderr) == (1, True, True)
    assert {path: path.read_bytes() for path in memory.rglob("*") if path.is_file()} == before
    assert not list((shop / ".aiter/.memdeck/stage").iterdir())


@pytest.mark.parametrize("begun", [False, True])
def test_a_state_disk_that_is_only_to_be_read(
    shop: Path, memory: Path, state: Path, process: Process, begun: bool
) -> None:
    """One file is changed with a warning, several are refused."""
    if begun:
        assert process("tasks", "add", "Before").returncode == 0
    subprocess.run(["mount", "-o", "remount,ro", state], check=True)
    done = process("tasks", "add", "First")
    assert (done.returncode, b"warning: the " in done.stderr) == (0, True), done
    assert "] First" in (memory / "tasks.md").read_text()
    refused = process("--maintain", "--no-exec")
    assert (refused.returncode, b"state.full" in refused.stderr) == (1, True), refused
    if begun:
        assert b"nothing can be recorded" in process("doctor").stdout or b"cannot be used" in process("doctor").stdout
