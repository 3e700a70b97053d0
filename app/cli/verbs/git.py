"""The verbs of git: merge memory files by entry, and configure git to do so."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from app.cli.printing import tell
from app.cli.session import Session
from app.connect.git import GitSetup, install, uninstall
from memory.errors import UsageError
from memory.files.merge_driver import merge_versions
from memory.operations import Group, Whole, argument, option, under, verb
from memory.operations.result import PROBLEMS
from memory.storage.replace import read_file, replace_file

git = Group("git", "Set git up to merge and to show memory files by their entries, or take that away.")
_everywhere = option("--global", "everywhere", is_flag=True, help="For all repositories of this person.")


@under(git, "install", serves="machine", examples=("memdeck git install", "memdeck git install --global"))
@_everywhere
def install_git(session: Session, everywhere: bool) -> None:
    """Have git merge memory files by their entries, and name the entry in `git diff`.

    Only git's own files change: .git/config and .git/info/attributes of the repository, or with --global the person's.
    """
    done = install(Path(session.folder or "."), everywhere=everywhere)
    session.answer(done.json, lambda: _told(session, done, "git merges memory files by their entries"))


@under(git, "uninstall", serves="machine", examples=("memdeck git uninstall",))
@_everywhere
def uninstall_git(session: Session, everywhere: bool) -> None:
    """Take away what `git install` set; git's files are as they were before."""
    done = uninstall(Path(session.folder or "."), everywhere=everywhere)
    session.answer(done.json, lambda: _told(session, done, "git merges memory files by lines again"))


def _told(session: Session, done: GitSetup, words: str) -> Iterator[str]:
    where = "in all repositories" if done.scope == "global" else "in this repository"
    yield f"{words} {where}" if done.changed else f"nothing to do {where}"
    yield session.paint.line(f"  attributes: {done.attributes}")


@verb("merge", serves="machine", examples=("memdeck merge base.md ours.md theirs.md --path .aiter/memory/tasks.md",))
@argument("base")
@argument("ours")
@argument("theirs")
@option("--path", metavar="PATH", help="Where the file lives, which says what is in it (default: that of OURS).")
@option("--marker", type=Whole(1, 100), default=7, metavar="N", help="Length of conflict markers (7).")
def merge(session: Session, base: str, ours: str, theirs: str, path: str | None, marker: int) -> int:
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
    document = {"path": shown, "conflicts": list(merged.conflicts), "kept": list(merged.kept)}
    for one in merged.kept:
        tell(f"memdeck: {shown}: {one['entry'] or one['section'] or 'text'!r} was removed on one side; it stays")
    if session.output != "human":
        session.writer.document(document)
    for one in merged.conflicts:
        what = f" of {one['entry']!r}" if one["entry"] else ""
        tell(f"memdeck: conflict in {shown}: {one['why']}{what}: ours {one['ours']!r}, theirs {one['theirs']!r}")
    return PROBLEMS if merged.conflicts else 0
