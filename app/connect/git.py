"""Configures git to merge and show memory files by entry, in one repository or for a user."""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from memory.base.git import top_of
from memory.base.programs import find_program
from memory.errors import MemdeckError, UsageError
from memory.files.versions.merging import PATTERNS
from memory.registry import workspace_of
from memory.storage.own_folders import config_home
from memory.storage.replace import make_parents, read_file, remove_file, replace_file

from .blocks import HASH, has_block, with_block, without_block
from .command import this_command
from .parts import stay_inside

_SECONDS = 20.0
_NAME = "memdeck"
_ELSEWHERE = "set up git everywhere with --global"


class GitSetup(NamedTuple):
    """Where git was configured: the file of attributes, the scope of its settings, and whether anything changed."""

    attributes: str
    scope: str
    changed: bool


def install(folder: Path, *, everywhere: bool = False, command: Sequence[str] | None = None) -> GitSetup:
    """Set up the merge and the diff driver for memory files, in git's own files only.

    In one repository the settings go to its `.git/config` and the attributes to `.git/info/attributes`, so that nothing
    that is committed changes; with `everywhere` to the user's own. `command` runs memdeck, by default the running one.
    Raises UsageError `git.missing`, `git.no_repository`, `connect.block`, MemdeckError `git.failed`.
    """
    scope, path = _places(folder, everywhere)
    run = " ".join(map(shlex.quote, command or this_command()))
    settings = {
        f"merge.{_NAME}.name": "memory files by their entries (memdeck)",
        f"merge.{_NAME}.driver": f"{run} merge %O %A %B --path %P --marker %L",
        f"diff.{_NAME}.xfuncname": "^(#{1,3}[ \\t].*)$",
    }
    changed = False
    for key, value in settings.items():
        if _git(folder, "config", scope, "--get", key, fails=True) != value:
            _git(folder, "config", scope, key, value)
            changed = True
    before = read_file(path)
    after = with_block(before, HASH, [f"{pattern} merge={_NAME} diff={_NAME}" for pattern in PATTERNS])
    if after != before:
        make_parents(path)
        replace_file(path, after, base=before)
        changed = True
    return GitSetup(str(path), scope.removeprefix("--"), changed)


def uninstall(folder: Path, *, everywhere: bool = False) -> GitSetup:
    """Remove what `install` set; git's files are as they were before, byte for byte. Errors as `install`."""
    scope, path = _places(folder, everywhere)
    changed = False
    for section in (f"merge.{_NAME}", f"diff.{_NAME}"):
        if _git(folder, "config", scope, "--get-regexp", rf"^{section.replace('.', chr(92) + '.')}\.", fails=True):
            _git(folder, "config", scope, "--remove-section", section)
            changed = True
    before = read_file(path)
    if before is not None and has_block(before, HASH):
        after = without_block(before, HASH)
        if after is None:
            remove_file(path)
        else:
            replace_file(path, after, base=before)
        changed = True
    return GitSetup(str(path), scope.removeprefix("--"), changed)


def _places(folder: Path, everywhere: bool) -> tuple[str, Path]:
    """Return the scope of git's settings, and the file of attributes that is not committed.

    RefusedError `connect.outside` if a link leads one of the repository's files out of it.
    """
    if everywhere:
        chosen = _git(folder, "config", "--global", "--type=path", "--get", "core.attributesFile", fails=True)
        return "--global", Path(chosen) if chosen else config_home(os.environ) / "git/attributes"
    common = _git(folder, "rev-parse", "--git-common-dir", fails=True)
    if not common:
        raise UsageError(
            "git.no_repository",
            f"{folder} is in no git repository",
            "go to one, or set up git everywhere with --global",
        )
    own, link = folder / common, Path(top_of(str(folder)) or folder) / ".git"
    if link.is_symlink():
        stay_inside(link, link.parent, _ELSEWHERE)
    for name in ("info/attributes", "config"):
        stay_inside(own / name, own, _ELSEWHERE)
    return "--local", own / "info/attributes"


def _git(folder: Path, *words: str, fails: bool = False) -> str:
    """Return the output of a git command without the line end; with `fails`, empty if the command fails."""
    own = top_of(str(folder)) or os.path.realpath(folder)
    outside = min(own, workspace_of(own) or own, key=len)
    program = find_program("git", os.environ.get("PATH", os.defpath), outside=outside)
    if program is None:
        raise UsageError("git.missing", "there is no git on the PATH", "install git first")
    try:
        done = subprocess.run(
            [program, *words],
            cwd=folder,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise MemdeckError("git.failed", f"git {words[0]} did not answer: {error}", "try it by hand") from error
    if done.returncode and not fails:
        said = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
        raise MemdeckError("git.failed", f"git {words[0]}: {said}", "see what git says")
    return done.stdout.rstrip("\n") if done.returncode == 0 else ""
