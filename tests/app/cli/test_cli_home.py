"""A workspace that is the person's home folder: its records lie inside of it, and count all the same."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.app.cli.conftest import HOUSE
from tests.app.cli.test_cli_trust import Person
from tests.commands import memdeck

Run = Callable[..., "subprocess.CompletedProcess[str]"]
STATE = ".local/state"
MERGE = "import sys; from memory.typed.ops import merge; merge(sys.argv[1], 'a note\\n')"


@pytest.fixture
def home(shop: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the sample workspace as the person's home folder, with the folders of the person in it."""
    monkeypatch.setenv("HOME", str(shop))
    monkeypatch.delenv("XDG_STATE_HOME")
    monkeypatch.delenv("XDG_CONFIG_HOME")
    return shop


@pytest.fixture
def started(home: Path) -> Run:
    """Return a function that runs memdeck, or Python with `python=`, as a process in the home folder."""

    def call(*words: str, python: str = "", stdin: str = "", **variables: str) -> subprocess.CompletedProcess[str]:
        environ = {**os.environ, "PYTHONPATH": str(HOUSE), **variables}
        if not python:
            done = memdeck(words, cwd=home, environ=environ, given=stdin.encode(), process=True)
            return subprocess.CompletedProcess(words, done.returncode, done.stdout.decode(), done.stderr.decode())
        return subprocess.run(
            [sys.executable, "-c", python, *words],
            cwd=home,
            env=environ,
            input=stdin,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    return call


def test_everything_changes_in_the_home_folder(home: Path, started: Run) -> None:
    """Tasks, undo, facts, maintenance, typed operations work, and the records are private."""
    for words in (
        ("init",),
        ("tasks", "add", "Water the plants"),
        ("facts", "store", "The plants like water"),
        ("undo",),
        ("--maintain", "--no-exec"),
    ):
        done = started(*words)
        assert (done.returncode, done.stderr) == (0, ""), (words, done.stderr)
    assert "Water the plants" in (home / ".aiter/memory/tasks.md").read_text()
    (folder,) = (home / STATE / "memdeck").iterdir()
    assert {path.stat().st_mode & 0o777 for path in (folder, folder.parent)} == {0o700}
    assert started("changes", "list", "-o", "json").stdout.count('"operation"') >= 2


@pytest.mark.parametrize("memory", [False, True], ids=["no memory", "a memory"])
def test_typed_operations_in_a_home_folder_that_is_an_agents(home: Path, started: Run, memory) -> None:
    """The memory of the home folder's agent is changed, in a workspace or not, and nothing beside it."""
    if not memory:
        shutil.rmtree(home / ".aiter")
    (home / "Aidefile").write_text("[memory]\n")
    done = started("memory/notes.md", python=MERGE)
    assert done.stderr == ""
    assert "a note" in (home / "memory/notes.md").read_text()
    for path in ("notes.md", f"{STATE}/memdeck/notes.md"):
        done = started(path, python=MERGE)
        assert "typed.not_memory" in done.stderr
        assert not (home / path).exists()


def test_a_person_approves_in_the_home_folder(home: Path, started: Run) -> None:
    """What a person approves counts in the next process."""
    rows = json.loads(started("trust", "list", "-o", "json").stdout)["trust"]
    one = next(row["id"] for row in rows if row["name"] == "Disk Space" and row["role"] == "check")
    person = Person(home, "trust", "approve", one[:7])
    person.wait_for("yes")
    person.type("yes\n")
    assert person.end() == 0
    rows = json.loads(started("trust", "list", "-o", "json").stdout)["trust"]
    assert {row["state"] for row in rows if row["id"] == one} == {"approved"}


def test_records_of_a_clone_count_for_nothing(home: Path, started: Run, tmp_path: Path) -> None:
    """What a repository has under the names of memdeck's folders is not read by whoever has a home of its own."""
    assert started("tasks", "add", "Mine").returncode == 0
    bundled = json.loads(started("changes", "list", "-o", "json").stdout)["changes"]
    assert bundled
    other = {"HOME": str(tmp_path / "other")}
    assert json.loads(started("changes", "list", "-o", "json", **other).stdout)["changes"] == []
    # A person who names a folder of the clone is told, as ever.
    refused = started("tasks", "add", "Not here", **other, XDG_STATE_HOME=str(home / STATE))
    assert (refused.returncode, "state.inside_workspace" in refused.stderr) == (1, True)


@pytest.mark.parametrize("setting", ["", ".", "home"])
def test_a_home_that_is_no_absolute_path_is_not_the_current_folder(home: Path, started: Run, setting: str) -> None:
    """An empty or relative HOME would make the records of any clone those of the person."""
    assert started("tasks", "add", "Mine").returncode == 0
    names = "home, state_home"
    script = (
        f"import os; from memory.storage.own_folders import {names}; print(home(os.environ), state_home(os.environ))"
    )
    done = started(python=script, HOME=setting)
    assert all(os.path.isabs(word) and str(home) not in word for word in done.stdout.split()), done
    assert len(done.stdout.split()) == 2


def test_records_that_git_brought_along_are_refused(home: Path, started: Run) -> None:
    """In the home folder as well, folders that are not private are none of memdeck's."""
    assert started("tasks", "add", "Mine").returncode == 0
    (folder,) = (home / STATE / "memdeck").iterdir()
    folder.chmod(0o755)
    before = (home / ".aiter/memory/tasks.md").read_bytes()
    refused = started("tasks", "add", "Second")
    assert (refused.returncode, "state.not_private" in refused.stderr) == (1, True)
    assert (home / ".aiter/memory/tasks.md").read_bytes() == before
    assert "a repository may have brought it along" in started("doctor").stdout


def test_approvals_that_others_may_read_are_none_of_memdecks(home: Path, started: Run) -> None:
    """A record that came later, as by `git pull` in the home folder, is open to others and does not count."""
    rows = json.loads(started("trust", "list", "-o", "json").stdout)["trust"]
    one = next(row["id"] for row in rows if row["name"] == "Disk Space" and row["role"] == "check")
    assert Person(home, "trust", "deny", one[:7]).end() == 0
    (record,) = (home / STATE / "memdeck").glob("*/trust/approvals.json")
    record.chmod(0o644)
    rows = json.loads(started("trust", "list", "-o", "json").stdout)["trust"]
    assert {row["state"] for row in rows if (row["name"], row["role"]) == ("Disk Space", "check")} == {"refused"}
