"""The operations that apply the maintenance rules: all of them, or those of tasks or of the journal."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from typing import Any

from memory.base.clock import format_utc
from memory.errors import MemdeckError, UsageError
from memory.monitoring.messages import ping_at_end
from memory.monitoring.operations import addresses_of, watch
from memory.monitoring.watch import Watch
from memory.operations import Context, argument, option, verb
from memory.operations.result import PROBLEMS, Paint, Result
from memory.systems import entrust, maintain_all

from .report import Report, render, summary
from .rules import JOURNAL_RULES, TASK_RULES
from .run import maintain as run

BLOCKED = 3
_dry_run = option("--dry-run", is_flag=True, help="Show what would move, and move nothing.")
_force = option("--force", is_flag=True, help="Write even if the clock seems to have jumped back.")


@verb(
    "maintain",
    options_metavar="[OPTIONS]",
    examples=(
        "memdeck --maintain",
        "memdeck --maintain ~/src/shop --dry-run",
        "memdeck --maintain ~/src/shop -o json",
    ),
)
@argument("folder", metavar="[DIR]", required=False)
@_dry_run
@option("--no-exec", is_flag=True, help="Move entries only; run no monitors and no heartbeat.")
@_force
@option("--quiet", is_flag=True, help="Print one dated line, and nothing if nothing happened; for cron and systemd.")
def maintain(
    context: Context, folder: str | None, dry_run: bool, no_exec: bool, force: bool, quiet: bool = False
) -> Result:
    """Apply all maintenance rules once to the workspace that contains DIR, then run its due monitors.

    Completed tasks, old journal entries and finished plans move to archive/; nothing is deleted. It needs no terminal
    and asks nothing; `memdeck doctor --schedule` puts it into cron or systemd. What needs approval is listed, and the
    exit code is 3.

    A clock that is more than a day behind the last run or change holds it back: nothing is written, and the exit code
    is 4. If the clock is right, run it once with --force.

    `MEMDECK_PING`, or `[pings]` in channels.toml, names an address that each run calls at its end.
    """
    if folder is not None and context.folder is not None and os.path.abspath(folder) != os.path.abspath(context.folder):
        raise UsageError("usage.arguments", "DIR and --workspace name different folders", "give only one of them")
    context.folder = folder or context.folder
    # The actor is maintenance, however it was started, unless a name is given.
    actor = context.named_actor or "maintain"
    watches = not (dry_run or no_exec or context.safe)
    if watches:
        # The systems run what the user approved.
        entrust(context.workspace, context.trust, context.environ)
    try:
        report = maintain_all(context.workspace, context.now, actor=actor, dry_run=dry_run, force=force)
    except MemdeckError:
        # A wrong number in config.md must not stop the monitors.
        if watches:
            watch(context)
        raise
    ran = watches and not report.dry_run
    watched = watch(context) if ran else Watch()
    blocked = [*report.blocked, *watched.blocked]
    report = report._replace(monitors=tuple(watched.json()), warnings=(*report.warnings, *watched.warnings))
    more: dict[str, Any] = {"heartbeat": list(watched.beat), "busy": watched.busy} if ran else {}

    def lines(paint: Paint) -> Iterator[str]:
        happened = bool(report.moved or report.acted or report.warnings or report.blocked or watched.news)
        if happened or not quiet:
            words = summary(report.rules, dry_run=report.dry_run)
            total = f"; {watched.total}" if ran else ""
            yield paint.line(f"{format_utc(context.now)} {context.workspace.root}: {words}{total}")
        if not quiet:
            yield from _lines(paint, report)
            if ran:
                yield from map(paint.line, watched.lines())

    context.made = "moved entries" if report.change and not blocked else None
    context.warn()
    return Result(
        lambda: {**_document(context, report), "blocked": blocked, **more},
        lines,
        notes=ping_at_end(addresses_of(context)) if ran else [],
        code=PROBLEMS if report.held else BLOCKED if blocked else 0,
    )


@verb("archive", serves="change", examples=("memdeck archive --dry-run", "memdeck archive"))
@_dry_run
@_force
def archive(context: Context, dry_run: bool, force: bool) -> Result:
    """Move tasks completed more than archiveCompletedAfterDays (7) days ago to archive/tasks-YYYY-MM.md."""
    return _applied(context, TASK_RULES, dry_run=dry_run, force=force)


@verb("prune", serves="change", examples=("memdeck prune --dry-run", "memdeck prune"))
@_dry_run
@_force
def prune(context: Context, dry_run: bool, force: bool) -> Result:
    """Move old journal entries to archive/journal-YYYY-MM.md.

    Those more than pruneJournalAfterDays (30) days old, and the oldest beyond maxJournalEntries (500).
    """
    return _applied(context, JOURNAL_RULES, dry_run=dry_run, force=force)


def _applied(context: Context, rules: Collection[str], *, dry_run: bool, force: bool) -> Result:
    """Apply some of the rules to the memory files and return what moved; 4 if the clock held it back."""
    report = run(context.workspace, context.now, actor=context.actor, dry_run=dry_run, force=force, rules=rules)
    context.made = "moved entries" if report.change else None
    context.warn()
    return Result(
        lambda: _document(context, report), lambda paint: _lines(paint, report), code=PROBLEMS if report.held else 0
    )


def _document(context: Context, report: Report) -> dict[str, Any]:
    return {"workspace": str(context.workspace.root), **report.json()}


def _lines(paint: Paint, report: Report) -> Iterator[str]:
    for line in render(report):
        yield paint.notice(line) if line.startswith("warning:") else line
