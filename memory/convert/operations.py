"""Conversion between memory systems and from the files of other tools: it accounts for every entry and field."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, tzinfo
from pathlib import Path
from typing import Any, NamedTuple

from memory.base.items import Committed, Item, Loss, Skipped
from memory.errors import UsageError
from memory.operations import Context, argument, option, verb
from memory.operations.result import Paint, Result
from memory.registry import registered
from memory.system import System
from memory.workspace import Workspace

from . import projects, todos


class Format(NamedTuple):
    """A format of another tool: its description, and its reader.

    A reader accepts a path and the zone of the workspace, and yields items, what it skips, and what an item loses. It
    reads nothing outside that path, follows no links and changes nothing.
    """

    words: str
    read: Callable[[Path, tzinfo], Iterator[Item | Skipped | Loss]]


FORMATS = {
    "claude-code": Format(
        "a memory folder of Claude Code, or a CLAUDE.md or AGENTS.md with lists", projects.read_claude_code
    ),
    "taskwarrior": Format("what `task export` writes", todos.read_taskwarrior),
    "todotxt": Format("a todo.txt file", todos.read_todo_txt),
    "beads": Format("what `bd export` writes, or the folder .beads", projects.read_beads),
    "task-master": Format("a tasks.json of task-master, or its project", projects.read_task_master),
    "kiro": Format("a folder of Kiro's specs, or a tasks.md", projects.read_specs),
    "spec-kit": Format("a folder of spec-kit's specs, or a tasks.md", projects.read_specs),
    "cursor-rules": Format("a project with .cursor/rules, that folder, or one rule", projects.read_cursor_rules),
    "memory-bank": Format("a folder memory-bank of Cline, Roo and others", projects.read_memory_bank),
}
"""The one list to which a new format is added."""


class ConversionReport(NamedTuple):
    """What became of the entries: `read` is `converted` plus those skipped; `losses` are fields without equivalent."""

    read: int
    converted: int
    skipped: Sequence[Skipped]
    losses: Sequence[Loss]
    changes: Sequence[str] = ()

    def json(self) -> dict[str, Any]:
        """Return it for programs."""
        skipped, losses = ([one._asdict() for one in some] for some in (self.skipped, self.losses))
        return {**self._asdict(), "skipped": skipped, "losses": losses, "changes": list(self.changes)}


def convert_entries(
    workspace: Workspace,
    source: str,
    target: str,
    *,
    open_workspace: Callable[[Path], Workspace],
    actor: str,
    now: datetime,
    into: str = "",
    dry_run: bool = False,
) -> ConversionReport:
    """Convert the entries of a source into a memory system of the workspace; the source is not changed.

    `source` is the name of a system, `SYSTEM:DIR` for that of another workspace (`open_workspace` opens it), or
    `FORMAT:PATH` for files of another tool. `target` is the name of a system, `into` a place in it. UsageError
    `convert.source`, `convert.target`, `convert.same`, `convert.absent`, `convert.unreadable`.
    """
    name, _, path = source.partition(":")
    if path.startswith("~/") and workspace.home is not None:
        path = f"{workspace.home}{path[1:]}"  # No shell expands it behind a colon.
    to = _target(workspace, target)
    if name in FORMATS:
        if not path:
            raise UsageError("convert.source", f"{name} needs a path", f"write {name}:PATH, {FORMATS[name].words}")
        found: Iterator[Item | Skipped | Loss] = FORMATS[name].read(Path(path), workspace.zone)
    else:
        found = _entries(workspace, name, path, target, open_workspace)
    read = list(found)
    entries = [one for one in read if not isinstance(one, Loss)]
    items = [one for one in entries if isinstance(one, Item)]
    taken = to.take(items, place=into, actor=actor, now=now)
    done = Committed(()) if dry_run or not taken.converted else taken.commit()
    skipped = [one for one in entries if isinstance(one, Skipped)] + list(taken.skipped)
    skipped += [Skipped(item.what, reason) for item, reason in done.refused]
    accepted = {item.what for item in taken.converted} - {item.what for item, _ in done.refused}
    losses = [one for one in (*read, *taken.losses) if isinstance(one, Loss) and one.what in accepted]
    count = len(taken.converted) - len(done.refused)
    return ConversionReport(len(entries), count, skipped, losses, done.changes)


def _target(workspace: Workspace, name: str) -> System:
    known = [one.name for one in registered()]
    if name not in known:
        raise UsageError("convert.target", f"{name[:60]!r} is not a memory system", f"use one of {', '.join(known)}")
    return workspace.guarded(name)


def _entries(
    workspace: Workspace, name: str, path: str, target: str, open_workspace: Callable[[Path], Workspace]
) -> Iterator[Item | Skipped]:
    if name not in [one.name for one in registered()]:
        formats = ", ".join(f"{one}:PATH" for one in FORMATS)
        systems = ", ".join(one.name for one in registered())
        raise UsageError(
            "convert.source", f"{name[:60]!r} is not a source to convert from", f"use {systems}, or {formats}"
        )
    where = open_workspace(Path(path)) if path else workspace
    if name == target and where.root.resolve() == workspace.root.resolve():
        raise UsageError("convert.same", f"{name} cannot be converted into itself", "name another source or target")
    if name not in where.present():
        raise UsageError("convert.absent", f"{where.root} has no {name}", "name another source")
    return where.guarded(name).items()


_SHOWN = 5
"""How many skipped things with the same reason are named."""


@verb(
    "convert",
    serves="machine",
    examples=(
        "memdeck convert facts files --dry-run",
        "memdeck convert taskwarrior:export.json files",
        "memdeck convert claude-code:CLAUDE.md facts",
        "memdeck convert files:../shop typed --into planner",
    ),
)
@argument("source", metavar="FROM")
@argument("target", metavar="TO")
@option("--dry-run", is_flag=True, help="Show what would be converted, and write nothing.")
@option(
    "--into", default="", metavar="PLACE", help="The agent of typed memory, the scope of curated memory, or a client."
)
def convert(context: Context, source: str, target: str, dry_run: bool, into: str) -> Result:
    """Copy the entries of one memory into another, and report those that do not fit there.

    FROM is a system (files, facts, typed, state, curated, clients), one of another workspace as SYSTEM:DIR, or files of
    another tool: claude-code, taskwarrior, todotxt, beads, task-master, kiro, spec-kit, cursor-rules or memory-bank, as
    FORMAT:PATH. TO is a system of this workspace. Nothing in FROM changes, and entries that TO has already are left
    out.
    """
    report = convert_entries(
        context.workspace,
        source,
        target,
        open_workspace=context.open,
        actor=context.actor,
        now=context.now,
        into=into,
        dry_run=dry_run,
    )
    document = {"from": source, "to": target, "dry_run": dry_run, **report.json()}
    return Result(lambda: document, lambda paint: _lines(paint, report, dry_run))


def _lines(paint: Paint, report: ConversionReport, dry_run: bool) -> Iterator[str]:
    words = "would be converted" if dry_run else "converted"
    yield f"{report.read:,} read = {report.converted:,} {words} + {len(report.skipped):,} skipped"
    skipped: dict[str, list[str]] = {}
    for one in report.skipped:
        skipped.setdefault(one.reason, []).append(one.what)
    for reason, named in skipped.items():
        yield from (paint.line(f"  skipped {what}: {reason}") for what in named[:_SHOWN])
        if len(named) > _SHOWN:
            yield paint.line(f"  skipped {len(named) - _SHOWN:,} more: {reason}")
    counted = Counter((one.field, one.reason) for one in report.losses)
    for (field, reason), count in counted.most_common():
        yield paint.line(f"  without {field} ({count:,}): {reason}")
    if len(report.changes) == 1:
        yield f"change {report.changes[0]}: `memdeck undo` reverts it"
    elif report.changes:
        yield f"{len(report.changes):,} changes"
