"""A task's action: run only after consent, its output in the outcome."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from memory.errors import BlockedError, NotFoundError
from memory.monitoring.run import ActionRun, run_action
from memory.trust.asks import asks_of
from tests.memory.monitoring.keeping import NOW, Place


def place_with(folder: Path, action: str, more: str = "") -> Place:
    """Return a workspace with one task."""
    return Place(
        folder, "", tasks=f"## Pending\n\n### [HIGH] Deploy\n- created: 2026-01-14\n- action: {action}\n{more}"
    )


def act(place: Place, **options: bool) -> ActionRun:
    """Run the action of the task."""
    environ = {"PATH": os.environ["PATH"]}
    return run_action(place.workspace, place.trust, "Deploy", NOW, actor="human", environ=environ, **options)  # type: ignore[arg-type]


def test_without_consent_nothing_runs(tmp_path: Path) -> None:
    """The error has code 3 and names what waits; no watch ever runs an action, approved or not."""
    place = place_with(tmp_path, f"touch {tmp_path}/ran")
    with pytest.raises(BlockedError) as raised:
        act(place)
    assert raised.value.details["blocked"][0]["role"] == "action"
    place.approve()
    place.watch()
    place.watch(everything=True)
    assert not (tmp_path / "ran").exists()
    act(place)
    assert (tmp_path / "ran").exists()


def test_the_output_becomes_the_outcome(tmp_path: Path) -> None:
    """It runs in the workspace's folder; what it printed is kept, safe, below its exit code."""
    place = place_with(tmp_path, r"pwd; printf '\033[31m### x\n- due: never\n'; exit 3")
    place.approve()
    done = act(place)
    assert (done.good, done.finished.exit_code) == (False, 3)
    [task] = place.workspace.snapshot().tasks.items
    assert (task.section, task.due) == ("pending", None)
    assert task.outcome is not None
    assert task.outcome.splitlines() == ["exit code 3:", f"| {place.root}", "| \\x1b[31m### x", "| - due: never"]


def test_it_finishes_the_task_where_it_is_told_to(tmp_path: Path) -> None:
    """With `finish` and exit code 0 the task is completed; another exit code leaves it open."""
    place = place_with(tmp_path, f"echo live; test -e {tmp_path}/ok")
    place.approve()
    act(place, finish=True)
    assert [task.section for task in place.workspace.snapshot().tasks.items] == ["pending"]
    (tmp_path / "ok").touch()
    act(place, finish=True)
    [task] = place.workspace.snapshot().tasks.items
    assert (task.section, task.outcome) == ("completed", "exit code 0: live")


def test_a_task_without_an_action(tmp_path: Path) -> None:
    """There is nothing to run, which is said."""
    place = Place(tmp_path, "", tasks="## Pending\n\n### [HIGH] Deploy\n- created: 2026-01-14\n")
    with pytest.raises(NotFoundError) as raised:
        act(place)
    assert raised.value.code == "task.no_action"


def test_a_sentence_is_no_command(tmp_path: Path) -> None:
    """An action that tells an agent what to do asks for no approval, and runs nothing."""
    place = place_with(tmp_path, "Gather the log, test results. Send them to Alice.")
    with pytest.raises(NotFoundError, match="has no action to run"):
        act(place)
    assert not asks_of(place.workspace.snapshot())
