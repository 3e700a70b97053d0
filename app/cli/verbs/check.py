"""`memdeck check`: problems in memory files."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from app.cli.session import PROBLEMS, Session
from memory.base.problems import Problem
from memory.errors import UsageError
from memory.files.dress import READ
from memory.files.plain import line_findings, write_plainly
from memory.operations import Choice, argument, option, verb
from memory.systems import check_all


@verb(
    "check",
    serves="look",
    changed_by=("fix", "dry_run"),
    examples=("memdeck check", "memdeck check tasks.md", "memdeck check -o json", "memdeck check --fix --dry-run"),
)
@argument("files", metavar="[FILE]...", nargs=-1)
@option(
    "--level",
    type=Choice(("error", "warning", "note")),
    default="note",
    help="Print nothing below this level (default: note).",
)
@option("--fix", is_flag=True, help="Write what is read in another form in its plain form; one undo takes it back.")
@option("--dry-run", is_flag=True, help="With --fix: only say what would be written.")
def check(session: Session, files: tuple[str, ...], level: str, fix: bool, dry_run: bool) -> int:
    """Parse memory files, compare them with their own bytes, and report problems as file:line.

    All files of the workspace, or those named: tasks.md, archive/tasks-2024-01.md, or a path. Exit code 4 when there
    is an error; warnings and notes alone are none.

    A field, heading or checklist in another form than the plain one is read where it is clearly meant, and noted. --fix
    writes the plain form; a line that nothing reads, or that could mean two things, is left to you.
    """
    names = [_name(session, file) for file in files] or None
    if dry_run and not fix:
        raise UsageError("usage", "--dry-run belongs to --fix", "add --fix, or leave it out")
    if fix:
        return _fix(session, names, dry_run=dry_run)
    problems = check_all(session.workspace, names, now=session.now)
    levels = ("error", "warning", "note")
    wanted = levels[: levels.index(level) + 1]
    shown = [problem for problem in problems if problem.level in wanted]
    session.listing("problems", lambda: map(as_json, shown), lambda: lines_of(session, shown))
    return PROBLEMS if any(problem.level == "error" for problem in problems) else 0


def _fix(session: Session, names: Sequence[str] | None, *, dry_run: bool) -> int:
    """Write the plain form of what is read in another one, and list those lines as they were."""
    snapshot = session.snapshot
    edit = write_plainly(snapshot, names)
    fixed = [
        Problem(one.level, name, one.line + 1, one.code, one.message)
        for name in edit.documents
        for one in line_findings(name, snapshot.document(name))
        if one.code == READ
    ]
    if edit.documents and not dry_run:
        session.change("check.fix", lambda seen: write_plainly(seen, names))
    session.listing("fixed", lambda: map(as_json, fixed), lambda: _fixed_lines(session, fixed, dry_run=dry_run))
    return 0


def _fixed_lines(session: Session, fixed: Sequence[Problem], *, dry_run: bool) -> Iterator[str]:
    yield from (session.paint.line(f"{one.place}: {one.message}") for one in fixed)
    if not fixed:
        yield "nothing to fix"
    else:
        yield "nothing was changed" if dry_run else "written; `memdeck undo` takes it back"


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
