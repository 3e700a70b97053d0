"""`memdeck check`: problems in memory files."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from app.cli.declared import OneOf, argument, option, verb
from app.cli.session import PROBLEMS, Session
from memory.errors import UsageError
from memory.systems import check_all

if TYPE_CHECKING:
    from memory.base.problems import Problem


@verb("check", serves="look", examples=("memdeck check", "memdeck check tasks.md", "memdeck check -o json"))
@argument("files", metavar="[FILE]...", nargs=-1)
@option(
    "--level",
    type=OneOf(("error", "warning", "note")),
    default="note",
    help="Print nothing below this level (default: note).",
)
def check(session: Session, files: tuple[str, ...], level: str) -> int:
    """Parse memory files, compare them with their own bytes, and report problems as file:line.

    All files of the workspace, or those named: tasks.md, archive/tasks-2024-01.md, or a path. Exit code 4 when there
    is an error; warnings and notes alone are none.
    """
    names = [_name(session, file) for file in files] or None
    problems = check_all(session.workspace, names, now=session.now)
    levels = ("error", "warning", "note")
    wanted = levels[: levels.index(level) + 1]
    shown = [problem for problem in problems if problem.level in wanted]
    session.listing("problems", lambda: map(as_json, shown), lambda: lines_of(session, shown))
    return PROBLEMS if any(problem.level == "error" for problem in problems) else 0


def as_json(problem: Problem) -> dict[str, object]:
    """Return a problem as JSON for programs; `line` counts from 1, None is the file as a whole."""
    return {
        "level": problem.level,
        "file": problem.file,
        "line": problem.line or None,
        "code": problem.code,
        "message": problem.message,
    }


def lines_of(session: Session, problems: Sequence[Problem]) -> Iterator[str]:
    """Yield problems as lines for people."""
    paint = session.paint
    for problem in problems:
        line = paint.line(f"{problem.place}: {problem.level} {problem.code} {problem.message}")
        if problem.level == "error":
            line = paint.alert(line)
        elif problem.level == "warning":
            line = paint.notice(line)
        yield line
    if not problems:
        yield "no problems"


def _name(session: Session, file: str) -> str:
    """Return the name of a file inside the memory folder; a path is relative to the current folder."""
    memory = session.workspace.memory
    name = os.path.relpath(os.path.abspath(file), memory) if os.path.lexists(file) else os.path.normpath(file)
    outside = name == "." or name.startswith("..") or os.path.isabs(name)
    root = session.workspace.root
    shown = os.path.relpath(os.path.abspath(file), root) if os.path.lexists(file) else os.path.normpath(file)
    if outside or not os.path.lexists(memory / name):
        if not shown.startswith("..") and not os.path.isabs(shown) and os.path.lexists(root / shown):
            found = shown.replace(os.sep, "/")
            if any(system.owns(found) for system in session.workspace.systems()):
                return found
        raise UsageError(
            "file.not_found", f"there is no memory file {file!r}", f"name one in {memory}, such as tasks.md", file=file
        )
    return name.replace(os.sep, "/")
