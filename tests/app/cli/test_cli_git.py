"""git with memdeck's merge and diff drivers: real repositories, real merges, and git's own files afterwards."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from app.connect.blocks import HASH, has_block, with_block, without_block
from memory.errors import UsageError
from tests.examples import in_turn
from tests.patience import PATIENCE

HOUSE = Path(__file__).parents[3]
TASKS = ".aiter/memory/tasks.md"
BASE = (
    "---\ntype: task-list\nupdated: 2024-01-15T10:30:00Z\n---\n\n## Pending\n\n### [NORMAL] first\n- due: 2024-01-15\n"
)


class Repository:
    """A git repository with two branches, and memdeck as a process in it."""

    def __init__(self, top: Path) -> None:
        """Make it; the person's own git settings are left out."""
        self.top = top / "shop"
        self.home = top / "home"
        self.home.mkdir()
        bin_folder = top / "bin"
        bin_folder.mkdir()
        command = bin_folder / "memdeck"
        command.write_text(f'#!/bin/sh\nPYTHONPATH={HOUSE} exec {sys.executable} -m app.main "$@"\n')
        command.chmod(0o755)
        self.environ = {
            "PATH": f"{bin_folder}:{os.environ['PATH']}",
            "HOME": str(self.home),
            "XDG_STATE_HOME": str(self.home / "state"),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_AUTHOR_NAME": "a",
            "GIT_AUTHOR_EMAIL": "a@example.org",
            "GIT_COMMITTER_NAME": "a",
            "GIT_COMMITTER_EMAIL": "a@example.org",
        }
        self.top.mkdir()
        self.git("init", "-q", "-b", "main")

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run a command in the repository."""
        return subprocess.run(
            words, cwd=self.top, env=self.environ, capture_output=True, text=True, timeout=PATIENCE, check=False
        )

    def git(self, *words: str) -> str:
        """Run git, which has to succeed."""
        done = self.run("git", *words)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def memdeck(self, *words: str) -> str:
        """Run memdeck, which has to succeed."""
        done = self.run("memdeck", *words)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def commit(self, branch: str, texts: dict[str, str]) -> None:
        """Commit files on a branch of their own that begins at main."""
        if branch != "main":
            self.git("checkout", "-q", "-b", branch)
        self.write(texts)
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", branch)
        if branch != "main":
            self.git("checkout", "-q", "main")

    def write(self, texts: dict[str, str]) -> None:
        """Write files."""
        for name, text in texts.items():
            path = self.top / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    def own_files(self) -> dict[str, bytes]:
        """Return the files that git's settings live in."""
        names = [*self.top.glob(".git/config"), *self.top.glob(".git/info/*"), *self.home.rglob("*git*")]
        return {str(path): path.read_bytes() for path in names if path.is_file()}


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """Return an empty repository."""
    if shutil.which("git") is None:
        pytest.skip("there is no git")
    return Repository(tmp_path)


@pytest.mark.thorough
def test_two_agents_on_two_branches(repository: Repository) -> None:
    """They add and finish tasks, write the journal and note facts by memdeck itself; the merge is clean and whole."""
    repository.memdeck("init", ".")
    repository.memdeck("tasks", "add", "Base")
    repository.memdeck("facts", "store", "the base fact")
    repository.memdeck("git", "install")
    repository.git("add", "-A")
    repository.git("commit", "-q", "-m", "base")
    for side in ("a", "b"):
        repository.git("checkout", "-q", "-b", side, "main")
        repository.memdeck("tasks", "add", f"Of {side}", "--priority", "HIGH")
        repository.memdeck("journal", "add", f"Day of {side}", "--line", f"{side} worked")
        repository.memdeck("facts", "store", f"a fact of {side}")
        if side == "a":
            repository.memdeck("tasks", "done", "Base", "--outcome", "fine")
        else:
            repository.memdeck("tasks", "edit", "Base", "--set", "notes=seen")
        repository.git("add", "-A")
        repository.git("commit", "-q", "-m", side)
    repository.git("merge", "-q", "a", "-m", "merge")
    tasks = json.loads(repository.memdeck("tasks", "list", "--section", "all", "-o", "json"))["tasks"]
    assert sorted(task["title"] for task in tasks) == ["Base", "Of a", "Of b"]
    (base,) = [task for task in tasks if task["title"] == "Base"]
    assert (base["section"], base["outcome"], base["notes"]) == ("completed", "fine", "seen")
    entries = json.loads(repository.memdeck("journal", "list", "-o", "json"))["entries"]
    assert {"Day of a", "Day of b"} <= {entry["title"] for entry in entries}
    facts = json.loads(repository.memdeck("facts", "search", "fact", "-o", "json"))["memories"]
    assert sorted(fact["text"] for fact in facts) == ["a fact of a", "a fact of b", "the base fact"]
    assert len({fact["id"] for fact in facts}) == 3
    assert json.loads(repository.memdeck("check", "--level", "error", "-o", "json")) == {"problems": []}


def test_a_conflict_leaves_markers_and_git_asks(repository: Repository) -> None:
    """Both set one field: git says that the file is unmerged, the other changes are merged, both values are there."""
    repository.commit("main", {TASKS: BASE})
    repository.memdeck("git", "install")
    repository.commit("other", {TASKS: BASE.replace("2024-01-15\n", "2024-02-02\n") + "- notes: theirs\n"})
    repository.commit("main", {TASKS: BASE.replace("- due: 2024-01-15\n", "- due: 2024-03-03\n- tags: ours\n")})
    done = repository.run("git", "merge", "other")
    assert done.returncode == 1
    assert "both changed due of '[NORMAL] first': ours '2024-03-03', theirs '2024-02-02'" in done.stderr
    text = (repository.top / TASKS).read_text()
    assert "<<<<<<< ours\n- due: 2024-03-03\n=======\n- due: 2024-02-02\n>>>>>>> theirs\n" in text
    assert "- tags: ours\n" in text
    assert "- notes: theirs\n" in text
    assert f"UU {TASKS}" in repository.git("status", "--short")


ATTRIBUTES = {
    "none": None,
    "empty": b"",
    "line": b"*.png binary\n",
    "half": b"*.png binary",
    "crlf": b"# crlf\r\n*.png binary\r\n",
}


@pytest.mark.parametrize("words", [(), ("--global",)], ids=["here", "everywhere"])
@pytest.mark.parametrize("attributes", ATTRIBUTES.values(), ids=ATTRIBUTES)
@pytest.mark.thorough(but=in_turn([*ATTRIBUTES], ["here", "everywhere"]))
def test_uninstall_gives_every_byte_back(
    repository: Repository, words: tuple[str, ...], attributes: bytes | None
) -> None:
    """Installing twice changes nothing the second time; uninstalling leaves git's files as they were."""
    place = repository.home / ".config/git/attributes" if words else repository.top / ".git/info/attributes"
    if attributes is not None:
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(attributes)
    repository.git("config", *(words or ("--local",)), "user.name", "Somebody")
    before = repository.own_files()
    repository.memdeck("git", "install", *words)
    installed = repository.own_files()
    assert installed != before
    assert "nothing to do" in repository.memdeck("git", "install", *words)
    assert repository.own_files() == installed
    assert "merge: memdeck" in repository.git("check-attr", "merge", TASKS)
    repository.memdeck("git", "uninstall", *words)
    assert repository.own_files() == before
    assert "nothing to do" in repository.memdeck("git", "uninstall", *words)


def test_a_diff_names_the_entry(repository: Repository) -> None:
    """The line of each hunk says which task was changed."""
    text = BASE + "".join(f"- line: {number}\n" for number in range(20))
    repository.commit("main", {TASKS: text})
    repository.memdeck("git", "install")
    repository.write({TASKS: text.replace("- line: 15", "- line: x")})
    assert "@@ ### [NORMAL] first" in repository.git("diff")


def test_bad_calls_say_what_is_wrong(repository: Repository, tmp_path: Path) -> None:
    """No repository, a missing file, a file that is no memory file, a broken block: a code each, nothing written."""
    outside = tmp_path / "outside"
    outside.mkdir()
    done = repository.run("memdeck", "git", "install", "-w", str(outside))
    assert (done.returncode, "git.no_repository" in done.stderr) == (2, True)
    repository.write({"a": "1\n", "b": "2\n", "c": "3\n"})
    assert "merge.unknown_file" in repository.run("memdeck", "merge", "a", "b", "c").stderr
    assert "file.not_found" in repository.run("memdeck", "merge", "a", "b", "gone", "--path", TASKS).stderr
    assert (repository.top / "b").read_text() == "2\n"
    (repository.top / ".git/info/attributes").write_text("# memdeck begin\n*.md merge=memdeck\n")
    done = repository.run("memdeck", "git", "install")
    assert (done.returncode, "connect.block" in done.stderr) == (2, True)


@pytest.mark.parametrize("data", [None, b"", b"a", b"a\n", b"a\r\n", b"\n\n", b"a\n\nb"])
def test_a_block_goes_as_it_came(data: bytes | None) -> None:
    """What is added around the block meanwhile stays."""
    once = with_block(data, HASH, ["x"])
    assert has_block(once, HASH)
    assert with_block(once, HASH, ["x"]) == once
    assert without_block(with_block(once, HASH, ["y", "z"]), HASH) == data
    added = without_block(once + b"more\n", HASH)
    assert added is not None
    assert added.splitlines() == [*(data or b"").splitlines(), b"more"]
    with pytest.raises(UsageError):
        without_block(b"# memdeck end\n", HASH)
