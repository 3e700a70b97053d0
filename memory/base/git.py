"""What git knows about the work, what it ignores, and which folders belong to one repository.

No setting of a repository makes git run another program.

Such settings can name hooks, pagers, filters, helpers, a program that watches files, and one that fetches
missing objects. Each is switched off, and only commands that write nothing are used.
"""

from __future__ import annotations

import os
import re
import stat
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from .programs import find_program
from .safe_text import one_line

if TYPE_CHECKING:
    import subprocess

    from pathspec import GitIgnoreSpec

_SECONDS = 10
_OFF = (
    "core.fsmonitor=false", "core.hooksPath=/dev/null", "core.pager=cat", "core.sshCommand=false", "diff.external=",
    "core.attributesFile=/dev/null", "log.showSignature=false", "gpg.program=false", "protocol.allow=never",
    "log.mailmap=false", "credential.helper=", "submodule.recurse=false",
)  # fmt: skip
_OPTIONS = ("--no-pager", "--no-optional-locks", *(word for one in _OFF for word in ("-c", one)))
_LOG = ("log", "--no-show-signature", "--no-ext-diff", "--no-textconv", "--no-color")
_MOST_COMMITS, _MOST_TAGS = 2000, 12
_MOST_PATTERNS = 500


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


class Commit(NamedTuple):
    """A commit: its subject, the files it changes, and whether a bot made it."""

    subject: str
    files: list[str]
    of_bot: bool


class Since(NamedTuple):
    """The last tag, and the commits after it without merges, the newest first."""

    tag: str
    commits: list[Commit]


def since_tag(root: str | os.PathLike[str]) -> Since | None:
    """Return the tag with fewest commits since, of the newest ones with a number, and these commits; None without one.

    It may be on another branch, such as one for a release. A tag of the whole repository counts before one with a
    folder in its name, which is that of a part.
    """
    said = _git(root, "for-each-ref", "--sort=-creatordate", "--format=%(refname:strip=2)", "refs/tags") or ""
    tags = [one for one in said.splitlines() if re.search(r"\d", one)]
    counts: dict[str, int] = {}
    for tag in ([one for one in tags if "/" not in one] or tags)[:_MOST_TAGS]:
        ahead, since = (_git(root, "rev-list", "--left-right", "--count", f"refs/tags/{tag}...HEAD") or "1 0").split()
        if since != "0" or ahead == "0":
            counts[tag] = int(since)
    if not counts:
        return None
    tag = min(counts, key=lambda one: counts[one])
    within = ("--no-merges", f"--max-count={_MOST_COMMITS}", "--format=%x01%an%x00%s%x00", "--name-only", "-z")
    said = _git(root, *_LOG, *within, f"refs/tags/{tag}..HEAD") or ""
    commits = []
    for author, subject, *rest in (one.split("\0") for one in said.split("\x01")[1:]):
        of_bot = re.search(r"\[bot\]|\bbot\Z|renovate|dependabot", author, re.IGNORECASE) is not None
        commits.append(Commit(one_line(subject)[:200], [path.strip() for path in rest if path.strip()], of_bot))
    return Since(one_line(tag), commits)


def is_ignored(root: str | os.PathLike[str], path: str) -> bool:
    """Return whether git leaves out a file, by any of its rules; False without git."""
    done = _run(root, "check-ignore", "--quiet", path, seconds=_SECONDS)
    return done is not None and done.returncode == 0


def most_changed(root: str | os.PathLike[str]) -> Counter[str]:
    """Return how many of the last commits, without merges, changed each file."""
    within = (f"--max-count={_MOST_COMMITS}", "--no-merges", "--format=", "--name-only", "-z")
    return Counter(filter(None, (_git(root, *_LOG, *within) or "").replace("\n", "\0").split("\0")))


def moves_of(root: str | os.PathLike[str]) -> list[tuple[int, str | None]]:
    """Return the last steps of the work tree, the newest first: the time and, of a switch, reset, pull or rebase, the
    commit that it moved to; None for a commit made there.
    """
    said = _git(root, *_LOG, "-g", "--date=unix", "--max-count=200", "--format=%H%x00%gd%x00%gs", "HEAD")
    found: list[tuple[int, str | None]] = []
    for line in (said or "").splitlines():
        commit, when, words = line.split("\0", 2)
        moment = when.partition("@{")[2].rstrip("}")
        if moment.isdigit():
            found.append((int(moment), None if words.startswith("commit") else commit))
    return found


def gone_paths(root: str | os.PathLike[str], seconds: float = _SECONDS) -> dict[str, str]:
    """Return the files that the last commits removed, each with the name that a rename gave it, "" where it was
    deleted; the newest counts. Files that exist again may be among them. Empty where git takes longer than `seconds`.
    """
    within = (f"--max-count={_MOST_COMMITS}", "--no-merges", "--find-renames", "--diff-filter=DR")
    said = _git(root, *_LOG, *within, "--format=", "--name-status", "-z", seconds=seconds)
    words = iter((said or "").split("\0"))
    found: dict[str, str] = {}
    for word in words:
        status = word.strip()
        if status:
            path = next(words, "")
            found.setdefault(path, next(words, "") if status.startswith("R") else "")
    return found


def has_commit(root: str | os.PathLike[str], said: str, seconds: float = _SECONDS) -> bool | None:
    """Return whether a commit is in the repository.

    None without git, where it does not answer in time, or in a clone without the whole history.
    """
    done = _run(root, "cat-file", "-e", f"{said}^{{commit}}", seconds=seconds)
    if done is None or done.returncode == 0:
        return None if done is None else True
    shallow = _git(root, "rev-parse", "--is-shallow-repository", seconds=seconds)
    return False if shallow is not None and shallow.strip() == "false" else None


def blob_at(root: str | os.PathLike[str], commit: str, path: str) -> str | None:
    """Return the id of a file's content in a commit; `path` is relative to `root`. None where it is not in it."""
    said = _git(root, "rev-parse", "--verify", "--end-of-options", f"{commit}:./{path}")
    return said.strip() if said else None


def _git(root: str | os.PathLike[str], *words: str, seconds: float = _SECONDS) -> str | None:
    """Return what a command of git prints about the repository at `root`; None where it fails."""
    done = _run(root, *words, seconds=seconds)
    return None if done is None or done.returncode else done.stdout.decode("utf-8", "replace")


def _run(root: str | os.PathLike[str], *words: str, seconds: float) -> subprocess.CompletedProcess[bytes] | None:
    """Run a command of git on the repository at `root`; None without either, and where it does not end in time."""
    import subprocess

    top = os.path.realpath(root)
    program = find_program("git", os.environ.get("PATH", os.defpath), outside=top)
    if program is None or git_folder(top) is None:
        return None
    environment = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    environment |= {
        "GIT_CEILING_DIRECTORIES": os.path.dirname(top), "GIT_NO_LAZY_FETCH": "1", "GIT_ALLOW_PROTOCOL": "none",
        "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", "GIT_NO_REPLACE_OBJECTS": "1", "LC_ALL": "C.UTF-8",
    }  # fmt: skip
    how: Any = {"capture_output": True, "stdin": subprocess.DEVNULL, "timeout": seconds, "env": environment}
    try:
        return subprocess.run([program, "-C", top, *_OPTIONS, *words], check=False, **how)
    except (OSError, subprocess.TimeoutExpired):
        return None


_MOST_BYTES = 1 << 20


def top_of(path: str) -> str | None:
    """Return the folder of the work tree that a path is in, None where it is in none."""
    folder = Path(os.path.realpath(path))
    return next((str(one) for one in (folder, *folder.parents) if os.path.lexists(one / ".git")), None)


def git_folder(top: str) -> str | None:
    """Return the folder with the data of a work tree: `.git`, or where that file points; None without one.

    A file `.git` is followed out of the folder only if git itself lists this folder as a work tree there: the sender of
    the folder could otherwise have any repository of the machine read. The same holds for a folder that takes its
    objects from another one.
    """
    path = os.path.join(top, ".git")
    folder = path if os.path.isdir(path) and not os.path.islink(path) else ""
    named = _first_line(top, ".git") if not folder and not os.path.islink(path) else ""
    if named.startswith("gitdir:"):
        pointed = _resolved(top, named.removeprefix("gitdir:"))
        own = os.path.isfile(os.path.join(pointed, "HEAD")) and _is_listed(pointed, os.path.realpath(top))
        folder = pointed if own else ""
    shares = folder and _first_line(folder, "commondir") and common_of(folder) == folder
    return None if shares else folder or None


def is_foreign(top: str) -> bool:
    """Return whether `.git` of a folder names a repository that does not list the folder as its work tree."""
    named = os.path.islink(os.path.join(top, ".git")) or _first_line(top, ".git").startswith("gitdir:")
    return named and git_folder(top) is None


def _is_listed(folder: str, top: str) -> bool:
    """Return whether the git folder is in the work tree at `top`, or names it as a work tree or submodule."""
    if folder.startswith(f"{top}/"):
        return True
    if os.path.basename(os.path.dirname(folder)) == "worktrees":
        return _resolved(folder, _first_line(folder, "gitdir")) == os.path.join(top, ".git")
    worktree = _WORKTREE.search(_read(folder, "config"))
    return worktree is not None and _resolved(folder, worktree[1].strip('"')) == top


_WORKTREE = re.compile(r"^\[core\][^\[]*?^[ \t]*worktree[ \t]*=[ \t]*([^\r\n]+?)[ \t]*$", re.MULTILINE | re.IGNORECASE)


def _resolved(folder: str, name: str) -> str:
    """Return a path that a file of git names, relative to the folder; "" for none."""
    return os.path.realpath(os.path.join(folder, name.strip())) if name.strip() and "\0" not in name else ""


def common_of(folder: str) -> str:
    """Return the folder that all work trees of a repository share, given the git folder of one of them."""
    common = _resolved(folder, _first_line(folder, "commondir"))
    # Only the git folder of a further work tree has one elsewhere, above itself.
    return common if common and os.path.join(common, "worktrees", os.path.basename(folder)) == folder else folder


def is_elsewhere(folder: str, root: str | os.PathLike[str]) -> bool:
    """Return whether a folder belongs to another project on this machine.

    A folder that does not exist here does not count as one: the session may come from another machine, or the
    repository has moved. Other worktrees of the repository, and folders around it within the same repository, belong to
    it.
    """
    if not os.path.isabs(folder) or not os.path.isdir(folder):
        return False
    real, own = os.path.realpath(folder), os.path.realpath(root)
    if real == own or real.startswith(own.rstrip("/") + "/"):
        return False
    here, there = (git_folder(top) if (top := top_of(path)) else None for path in (own, real))
    return here is None or there is None or os.path.realpath(common_of(here)) != os.path.realpath(common_of(there))


def _first_line(folder: str, name: str) -> str:
    return _read(folder, name).strip().partition("\n")[0]


def _read(folder: str, name: str) -> str:
    """Return the beginning of a file of git as text; "" where it is missing, a link, or no regular file."""
    try:
        descriptor = os.open(os.path.join(folder, name), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError):
        return ""
    try:
        data = os.pread(descriptor, _MOST_BYTES, 0) if stat.S_ISREG(os.fstat(descriptor).st_mode) else b""
    finally:
        os.close(descriptor)
    return data.decode("utf-8", "replace")


def ignored_by(text: str, also: Sequence[str] = ()) -> GitIgnoreSpec:
    """Return what the text of a `.gitignore` and the patterns `also` leave out; what is no pattern does not count.

    Patterns that take too long to match are passed over.
    """
    from pathspec import GitIgnoreSpec
    from pathspec.patterns.gitignore import GitIgnorePatternError

    # Each run of stars multiplies the ways to match a name.
    lines = [
        line for line in text.split("\n") if len(line) < 300 and len(re.findall(r"\*+", line)) < 4 and "[[" not in line
    ]
    try:
        return GitIgnoreSpec.from_lines([*lines[:_MOST_PATTERNS], *also])
    except GitIgnorePatternError:
        return GitIgnoreSpec.from_lines(also)
