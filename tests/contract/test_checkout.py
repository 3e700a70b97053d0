"""Branches of git that are switched: entries that a commit does not have are no removal by another program."""

from __future__ import annotations

import subprocess

import pytest

from tests.contract.place import NOW, Place

TASKS = ".aiter/memory/tasks.md"
ONE = "## Pending\n\n### [LOW] Kept\n- created: 2026-01-01\n- notes: " + "because it is long " * 9 + "\n"


def git(place: Place, *words: str) -> None:
    """Run git in the workspace, as its own person, without settings of this machine."""
    who = ("-c", "user.name=n", "-c", "user.email=n@example.com", "-c", "commit.gpgSign=false")
    times = {"GIT_AUTHOR_DATE": NOW, "GIT_COMMITTER_DATE": NOW}
    subprocess.run(["git", *who, *words], cwd=place.work, env={**place.environment, **times}, check=True)


@pytest.fixture
def branches(workspace: Place) -> Place:
    """Return a workspace in git whose branch `more` has one task more than `main`, with `more` checked out and seen."""
    git(workspace, "init", "-q", "-b", "main")
    workspace.write(TASKS, ONE)
    git(workspace, "add", "-A")
    git(workspace, "commit", "-qm", "one")
    git(workspace, "checkout", "-qb", "more")
    workspace("tasks", "add", "Of the branch")
    git(workspace, "commit", "-qam", "two")
    return workspace


def taken_back(place: Place) -> list[str]:
    """Return the titles of the entries that status says another program removed, once that was noticed."""
    place("changes", "list")
    return [one["title"] for removal in place.json("status")["taken_back"] for one in removal["entries"]]


@pytest.mark.parametrize("words", [("checkout", "-q", "main"), ("reset", "-q", "--hard", "HEAD~1")])
def test_a_switched_branch_took_nothing_away(branches: Place, words: tuple[str, ...]) -> None:
    """What the other branch does not have is in git: nothing is told as removed, and it comes back with the branch."""
    git(branches, *words)
    assert [task["title"] for task in branches.json("tasks", "list")["tasks"]] == ["Kept"]
    assert taken_back(branches) == []
    git(branches, "checkout", "-q", "more")
    assert taken_back(branches) == []


def test_an_edit_beside_a_switch_is_told(branches: Place) -> None:
    """A task that another program took out is told, committed or not, and after a switch that left other bytes."""
    branches.write(TASKS, ONE)
    assert taken_back(branches) == ["Of the branch"]
    git(branches, "commit", "-qam", "taken out")
    assert taken_back(branches) == ["Of the branch"]
