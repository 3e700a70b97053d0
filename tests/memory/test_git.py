"""What git says of a repository, and that no answer in time is no answer."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from memory.base.git import has_commit


def test_a_git_that_does_not_answer_in_time_knows_of_no_missing_commit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A commit is there, or missing, or unknown; slow git leaves both unknown."""
    root = tmp_path / "shop"
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull}
    for words in (["init", "-q", str(root)], ["-C", str(root), "commit", "-q", "--allow-empty", "-m", "First"]):
        who = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com"]
        subprocess.run(["git", *who, *words], check=True, env=environment)
    said = subprocess.run(["git", "-C", str(root), "rev-parse", "HEAD"], check=True, capture_output=True, text=True)
    commit = said.stdout.strip()
    assert [has_commit(root, commit), has_commit(root, "0123456789")] == [True, False]
    slow = tmp_path / "bin" / "git"
    slow.parent.mkdir()
    slow.write_text('#!/bin/sh\ncase "$*" in *cat-file*) exec sleep 100;; esac\necho false\n')
    slow.chmod(0o755)
    monkeypatch.setenv("PATH", f"{slow.parent}{os.pathsep}{os.environ['PATH']}")
    assert [has_commit(root, one, 0.1) for one in (commit, "0123456789")] == [None, None]
