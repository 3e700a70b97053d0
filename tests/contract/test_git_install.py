"""Setting git up: only git's own files change, and only the person's git runs."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.contract.place import Place
from tests.patience import PATIENCE

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")


@pytest.fixture
def repository(workspace: Place) -> Place:
    """Return a workspace in a git repository."""
    git(workspace, "init", "-q")
    return workspace


def git(place: Place, *words: str) -> None:
    """Run git in the folder of a place."""
    subprocess.run(["git", *words], cwd=place.work, env=place.environment, check=True, timeout=PATIENCE)


@pytest.mark.parametrize("path", [".", "", "tools", "{work}/tools", "{work}/link"])
def test_a_git_of_the_workspace_never_runs(repository: Place, path: str) -> None:
    """A program that came with the workspace is not run, by a relative, an empty or an absolute entry of PATH."""
    for name in ("git", "tools/git"):
        repository.write(name, f"#!/bin/sh\ntouch {repository.work}/ran\n").chmod(0o755)
    (repository.work / "link").symlink_to("tools")
    (repository.work / "inner").mkdir()
    entry = path.format(work=repository.work)
    environ = {"PATH": f"{entry}{os.pathsep}{os.environ['PATH']}"}
    for verb in ("install", "uninstall"):
        for folder in (repository.work, repository.work / "inner"):
            answer = repository("git", verb, environ=environ, folder=folder)
            assert answer.code == 0, answer
    assert not list(repository.work.rglob("ran"))


@pytest.mark.parametrize("there", [True, False])
@pytest.mark.parametrize("link", [".git/info", ".git/info/attributes", ".git/config", ".git"])
@pytest.mark.parametrize("verb", ["install", "uninstall"])
def test_git_install_writes_through_no_link_that_leads_out(
    repository: Place, tmp_path: Path, verb: str, link: str, there: bool
) -> None:
    """A repository that was unpacked chooses no file outside of itself: nothing is written there or here."""
    assert verb == "install" or repository("git", "install").code == 0
    outside, place = tmp_path / "outside", repository.work / link
    if place.exists():
        shutil.move(place, outside)
    if not there and link == ".git/info/attributes":
        outside.unlink(missing_ok=True)
    place.symlink_to(outside)
    before = _bytes(outside), _bytes(repository.work / ".git")
    answer = repository("git", verb, "-o", "json")
    assert (answer.code, answer.error) == (1, "connect.outside")
    assert (_bytes(outside), _bytes(repository.work / ".git")) == before


def _bytes(path: Path) -> dict[str, bytes]:
    paths = [path] if path.is_file() else path.rglob("*")
    return {str(one): one.read_bytes() for one in paths if one.is_file()}


def test_a_worktree_and_a_repository_kept_elsewhere_are_set_up(repository: Place, tmp_path: Path) -> None:
    """What git itself keeps apart by a file `.git` is no link that leads out."""
    git(repository, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "x")
    git(repository, "worktree", "add", "-q", str(tmp_path / "tree"))
    git(repository, "init", "-q", "--separate-git-dir", str(tmp_path / "apart"), str(tmp_path / "other"))
    for folder in ("tree", "other"):
        assert repository("git", "install", folder=tmp_path / folder).code == 0
    assert b"memdeck" in repository.read(".git/info/attributes")
    assert b"memdeck" in (tmp_path / "apart/info/attributes").read_bytes()
