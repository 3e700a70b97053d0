"""A state folder that takes nothing: changes are refused with what helps, and doctor tells."""

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


def test_a_full_state_disk_refuses_changes(shop: Path, memory: Path, state: Path, process: Process) -> None:
    """A change that cannot be recorded is refused, whole, with what helps; with room again all goes on."""
    assert process("tasks", "add", "First").returncode == 0
    filler = _fill(state)
    before = {path: path.read_bytes() for path in memory.rglob("*") if path.is_file()}
    for words in (("tasks", "add", "Second"), ("--maintain", "--no-exec")):
        refused = process(*words)
        assert (refused.returncode, b"state.full" in refused.stderr) == (1, True), refused
        assert b"XDG_STATE_HOME" in refused.stderr
    assert {path: path.read_bytes() for path in memory.rglob("*") if path.is_file()} == before
    assert process("undo").returncode != 0
    assert b"nothing can be recorded" in process("doctor").stdout
    filler.unlink()
    assert process("tasks", "add", "Fourth").stderr == b""
    assert b"nothing can be recorded" not in process("doctor").stdout


@pytest.mark.parametrize("begun", [False, True])
def test_a_state_disk_that_is_only_to_be_read(
    shop: Path, memory: Path, state: Path, process: Process, begun: bool
) -> None:
    """Every change is refused, and doctor says why."""
    if begun:
        assert process("tasks", "add", "Before").returncode == 0
    before = (memory / "tasks.md").read_bytes()
    subprocess.run(["mount", "-o", "remount,ro", state], check=True)
    refused = process("tasks", "add", "First")
    assert refused.returncode == 1, refused
    assert (memory / "tasks.md").read_bytes() == before
    if begun:
        assert b"nothing can be recorded" in process("doctor").stdout or b"cannot be used" in process("doctor").stdout
