"""One file of a transaction, when somebody else comes in between."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from memory.errors import ConflictError
from memory.storage import FileChange, fsio
from memory.storage.step import FileStep, sweep

NAME = "memory/tasks.md"
TASKS = b"## Pending\n\n### [HIGH] Deploy\n- due: 2024-01-15\n"


def replaced(path: Path) -> None:
    """Change a file as sed does."""
    other = path.with_name("other")
    other.write_bytes(b"foreign")
    other.replace(path)


def rewritten(path: Path) -> None:
    """Change a file in place, without changing its size."""
    with path.open("r+b") as file:
        file.write(b"foreign")


def no_such_call(*_: object) -> None:
    """Fail as a file system does that cannot exchange two files."""
    raise OSError(errno.EINVAL, "no such call")


@pytest.mark.parametrize("foreign", [replaced, rewritten, Path.unlink])
@pytest.mark.parametrize("after", [b"ours", None])
@pytest.mark.parametrize("exchange", [True, False])
def test_a_foreign_change_after_the_check(
    workspace: Path, tasks: Path, tmp_path: Path, foreign: Callable[[Path], None], after, exchange, monkeypatch
) -> None:
    """What falls between comparing and replacing is noticed, and stays."""
    if not exchange:
        monkeypatch.setattr(fsio, "_renameat2", no_such_call)
    stage = os.open(tmp_path, os.O_RDONLY)
    step = FileStep(FileChange(NAME, tasks.read_bytes(), after), workspace, f".aiter/{NAME}", stage, "x")
    assert step.check()
    step.prepare()
    foreign(tasks)
    left = tasks.read_bytes() if tasks.exists() else None
    with pytest.raises(ConflictError):
        step.apply([])
    assert step.put_back()
    sweep(tuple(step.tidy()), stage)
    os.close(stage)
    assert (tasks.read_bytes() if tasks.exists() else None) == left
    assert sorted(path.name for path in tmp_path.iterdir()) == ["shop"]


def test_what_cannot_be_put_back_stays(workspace: Path, tasks: Path, tmp_path: Path) -> None:
    """A newer file of another program stays, and the one before the change is still in the stage."""
    stage = os.open(tmp_path, os.O_RDONLY)
    before = tasks.read_bytes()
    step = FileStep(FileChange(NAME, before, b"ours"), workspace, f".aiter/{NAME}", stage, "x")
    assert step.check()
    step.prepare()
    step.apply([])
    replaced(tasks)
    assert not step.put_back()
    step.close()
    os.close(stage)
    assert (tasks.read_bytes(), (tmp_path / "x").read_bytes()) == (b"foreign", before)
