"""`memdeck --maintain`, and the two verbs that apply a part of its rules."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from memory.errors import MemdeckError, UsageError

from .session import Session
from .verbs import Verb, verb

if TYPE_CHECKING:
    from memory.maintenance import Report
    from memory.monitoring.watching import Watch

_dry_run = click.option("--dry-run", is_flag=True, help="Only say what would move.")
_force = click.option("--force", is_flag=True, help="Write even if the clock seems to have jumped back.")


def _apply(session: Session, rules: Collection[str], *, dry_run: bool, force: bool) -> None:
    from memory.maintenance import maintain as run

    report = run(session.workspace, session.now, actor=session.actor, dry_run=dry_run, force=force, rules=rules)
    session.answer(report.json, lambda: _lines(session, report))


def _lines(session: Session, report: Report) -> Iterator[str]:
    from memory.maintenance import render

    for line in render(report):
        yield session.paint.notice(line) if line.startswith("warning:") else line


@click.command(
    "maintain",
    cls=Verb,
    options_metavar="[OPTIONS]",
    examples=(
        "memdeck --maintain",
        "memdeck --maintain ~/src/shop --dry-run",
        "memdeck --maintain ~/src/shop -o json",
    ),
)
@click.argument("folder", metavar="[DIR]", required=False)
@_dry_run
@click.option("--no-exec", is_flag=True, help="Move entries only: no monitor runs, no heartbeat, which is no error.")
@_force
@click.pass_obj
def maintain(session: Session, folder: str | None, dry_run: bool, no_exec: bool, force: bool) -> int:
    """Apply all maintenance rules once to the workspace that contains DIR, then run what is due of its monitors.

    Completed tasks and old journal entries move to archive/, finished plans too; nothing is deleted. It needs no
    terminal, asks nothing and does nothing the second time; `memdeck doctor --schedule` puts it into cron or systemd.

    Monitors that are due and that a person approved are checked, and the heartbeat looks at tasks; what waits for an
    approval is listed, and the exit code is 3.
    """
    from memory.systems import maintain_all

    if folder is not None and session.folder is not None and os.path.abspath(folder) != os.path.abspath(session.folder):
        raise UsageError("usage.arguments", "DIR and --workspace name two folders", "give one of them")
    session.folder = folder or session.folder
    # Whoever starts it, the change is that of maintenance, unless a name is given.
    actor = session.actor if session.actor_option or os.environ.get("MEMDECK_ACTOR") else "maintain"
    watches = not (dry_run or no_exec or session.safe)
    try:
        report = maintain_all(session.workspace, session.now, actor=actor, dry_run=dry_run, force=force)
    except MemdeckError:
        # A wrong number in config.md must not leave the monitors unwatched.
        if watches:
            _watch(session)
        raise
    if not watches or report.dry_run:
        session.answer(report.json, lambda: _lines(session, report))
        return 0
    watch = _watch(session)
    report = replace(report, monitors=tuple(watch.json()), warnings=(*report.warnings, *watch.warnings))
    more = {"blocked": list(watch.blocked), "heartbeat": list(watch.beat), "busy": watch.busy}
    session.answer(
        lambda: {**report.json(), **more},
        lambda: [*_lines(session, report), *(session.paint.line(line) for line in watch.lines())],
    )
    return 3 if watch.needs_approval else 0


def _watch(session: Session) -> Watch:
    from .watch import watch

    return watch(session)


@verb("archive", examples=("memdeck archive --dry-run", "memdeck archive"))
@_dry_run
@_force
def archive(session: Session, dry_run: bool, force: bool) -> None:
    """Move tasks completed more than archiveCompletedAfterDays (7) days ago to archive/tasks-YYYY-MM.md."""
    from memory.maintenance import TASK_RULES

    _apply(session, TASK_RULES, dry_run=dry_run, force=force)


@verb("prune", examples=("memdeck prune --dry-run", "memdeck prune"))
@_dry_run
@_force
def prune(session: Session, dry_run: bool, force: bool) -> None:
    """Move old journal entries to archive/journal-YYYY-MM.md.

    Those more than pruneJournalAfterDays (30) days old, and the oldest beyond maxJournalEntries (500).
    """
    from memory.maintenance import JOURNAL_RULES

    _apply(session, JOURNAL_RULES, dry_run=dry_run, force=force)
