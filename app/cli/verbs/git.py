"""The verbs of git: merge memory files by entry, and configure git to do so."""

from __future__ import annotations

import os
from pathlib import Path

from app.connect.git import GitSetup, install, uninstall
from memory.errors import UsageError
from memory.files.versions.merging import merge_versions
from memory.operations import Context, Group, Whole, argument, option, under, verb
from memory.operations.result import PROBLEMS, Result, said
from memory.storage.replace import read_file, replace_file

git = Group("git", "Set up git to merge and diff memory files by entries, or remove that.")
_everywhere = option("--global", "everywhere", is_flag=True, help="For all your repositories.")


@under(git, "install", serves="machine", examples=("memdeck git install", "memdeck git install --global"))
@_everywhere
def install_git(context: Context, everywhere: bool) -> Result:
    """Have git merge memory files by their entries, and name the entry in `git diff`.

    Only git's own files change: .git/config and .git/info/attributes of the repository, or with --global yours.
    """
    done = install(Path(context.folder or "."), everywhere=everywhere)
    return _told(done, "git merges memory files by their entries")


@under(git, "uninstall", serves="machine", examples=("memdeck git uninstall",))
@_everywhere
def uninstall_git(context: Context, everywhere: bool) -> Result:
    """Remove what `git install` set up; git's files are as they were before."""
    done = uninstall(Path(context.folder or "."), everywhere=everywhere)
    return _told(done, "git merges memory files by lines again")


def _told(done: GitSetup, words: str) -> Result:
    where = "in all repositories" if done.scope == "global" else "in this repository"
    first = f"{words} {where}" if done.changed else f"nothing to do {where}"
    return said(done._asdict(), first, f"  attributes: {done.attributes}")


@verb("merge", serves="machine", examples=("memdeck merge base.md ours.md theirs.md --path .aiter/memory/tasks.md",))
@argument("base")
@argument("ours")
@argument("theirs")
@option(
    "--path",
    metavar="PATH",
    help="The file's path in the workspace: it tells which kind it is (default: that of OURS).",
)
@option("--marker", type=Whole(1, 100), default=7, metavar="N", help="Length of conflict markers (7).")
def merge(_context: Context, base: str, ours: str, theirs: str, path: str | None, marker: int) -> Result:
    """Merge three versions of a memory file by their entries, and write the result to OURS.

    It is what git calls after `memdeck git install`. Only where both sides changed the same field, line or row there
    is a conflict: OURS has git's markers around these lines then, and the exit code is 4.
    """

    def side(name: str) -> bytes:
        data = read_file(Path(os.path.abspath(name)))
        if data is None:
            raise UsageError("file.not_found", f"there is no file {name!r}", "name three files", file=name)
        return data

    shown, current = path or ours, side(ours)
    merged = merge_versions(shown, side(base), current, side(theirs), marker)
    if merged.data != current:
        replace_file(Path(os.path.abspath(ours)), merged.data, base=current)
    kept = [
        f"{shown}: {one['entry'] or one['section'] or 'text'!r} was removed on one side; it stays"
        for one in merged.kept
    ]
    conflicts = [
        f"conflict in {shown}: {one['why']}{' of ' + repr(one['entry']) if one['entry'] else ''}: "
        f"ours {one['ours']!r}, theirs {one['theirs']!r}"
        for one in merged.conflicts
    ]
    document = {"path": shown, "conflicts": list(merged.conflicts), "kept": list(merged.kept)}
    code = PROBLEMS if merged.conflicts else 0
    return Result(lambda: document, lambda _: (), notes=[*kept, *conflicts], code=code)
