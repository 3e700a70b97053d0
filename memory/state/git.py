"""What git knows about the work. No setting of a repository makes it run another program.

Such settings can name hooks, pagers, filters, helpers, a program that watches files, and one that fetches
missing objects. Each is switched off, and only commands that write nothing are used.
"""

from __future__ import annotations

import os
import subprocess
from typing import NamedTuple

from memory.base.programs import find_program
from memory.state.projections.markdown import one_line
from memory.state.repository import git_folder

_SECONDS = 10
_OFF = (
    "core.fsmonitor=false", "core.hooksPath=/dev/null", "core.pager=cat", "core.sshCommand=false", "diff.external=",
    "core.attributesFile=/dev/null", "log.showSignature=false", "gpg.program=false", "protocol.allow=never",
    "log.mailmap=false", "credential.helper=", "submodule.recurse=false",
)  # fmt: skip
_OPTIONS = ("--no-pager", "--no-optional-locks", "--literal-pathspecs", *(word for one in _OFF for word in ("-c", one)))
_LOG = ("log", "--no-show-signature", "--no-ext-diff", "--no-textconv", "--no-color")
_MOST_COMMITS = 2000


class GitWork(NamedTuple):
    """The branch ("" where there is none) and the subjects of the last commits, the newest first."""

    branch: str
    subjects: list[str]


def recent_work(root: str | os.PathLike[str], count: int = 5) -> GitWork | None:
    """Return the branch and the last commits of the work tree at `root`; None where it is none, or without git.

    They change with each commit, so they are shown and never written into a bundle.
    """
    said = _git(root, *_LOG, "--decorate=short", f"--max-count={count}", "--format=%D%x00%s")
    lines = [line.partition("\0") for line in (said or "").splitlines()]
    if not lines:
        return None
    branch = lines[0][0].partition("HEAD -> ")[2].partition(",")[0]
    return GitWork(one_line(branch), [one_line(subject)[:200] for _, _, subject in lines])


def most_changed(root: str | os.PathLike[str], days: int = 90) -> list[str]:
    """Return the files that most commits of the last days before the last commit changed, the most frequent first."""
    last = (_git(root, *_LOG, "--max-count=1", "--format=%ct") or "").strip()
    if not last.isdigit():
        return []
    since = int(last) - days * 86_400
    within = (f"--since=@{since}", f"--max-count={_MOST_COMMITS}", "--no-merges")
    said = _git(root, *_LOG, *within, "--format=", "--name-only", "-z")
    counts: dict[str, int] = {}
    for path in (said or "").replace("\n", "\0").split("\0"):
        if path:
            counts[path] = counts.get(path, 0) + 1
    return sorted(counts, key=lambda path: (-counts[path], path))


def moved_to(root: str | os.PathLike[str], until: float) -> str | None:
    """Return the commit that the last switch, reset, pull or rebase until a moment moved the work tree to.

    None where the newest step until then is none of those, or is a commit made there.
    """
    said = _git(root, *_LOG, "-g", "--date=unix", "--max-count=200", "--format=%H%x00%gd%x00%gs", "HEAD")
    for line in (said or "").splitlines():
        commit, when, words = line.split("\0", 2)
        moment = when.partition("@{")[2].rstrip("}")
        if moment.isdigit() and int(moment) <= until:
            return None if words.startswith("commit") else commit
    return None


def blob_at(root: str | os.PathLike[str], commit: str, path: str) -> str | None:
    """Return the id of a file's content in a commit; `path` is relative to `root`. None where it is not in it."""
    said = _git(root, "rev-parse", "--verify", "--end-of-options", f"{commit}:./{path}")
    return said.strip() if said else None


def _git(root: str | os.PathLike[str], *words: str) -> str | None:
    """Return what a command of git prints about the repository at `root`; None where it fails."""
    top = os.path.realpath(root)
    program = find_program("git", os.environ.get("PATH", os.defpath), outside=top)
    if program is None or git_folder(top) is None:
        return None
    environment = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    environment |= {
        "GIT_CEILING_DIRECTORIES": os.path.dirname(top), "GIT_NO_LAZY_FETCH": "1", "GIT_ALLOW_PROTOCOL": "none",
        "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", "GIT_NO_REPLACE_OBJECTS": "1", "LC_ALL": "C.UTF-8",
    }  # fmt: skip
    try:
        done = subprocess.run(
            [program, "-C", top, *_OPTIONS, *words],
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=_SECONDS,
            env=environment,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else None
