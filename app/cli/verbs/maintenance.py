"""`memdeck --maintain`, and the two verbs that apply a part of its rules."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from app.cli.declared import argument, option, verb
from app.cli.session import Session
from memory.errors import MemdeckError, UsageError

if TYPE_CHECKING:
    from memory.maintenance import Report
    from memory.monitoring.run.report import Watch

_dry_run = option("--dry-run", is_flag=True, help="Only say what would move.")
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
@option("--no-exec", is_flag=True, help="Move entries only: no monitor runs, no heartbeat, which is no error.")
@_force
def maintain(session: Session, folder: str | None, dry_run: bool, no_exec: bool, force: bool) -> int:
    """Apply all maintenance rules once to the workspace that contains DIR, then run what is due of its monitors.

    Completed tasks and old journal entries move to archive/, finished plans too; nothing is deleted. It needs no
    terminal, asks nothing and does nothing the second time; `memdeck doctor --schedule` puts it into cron or systemd.

    Monitors that are due and that a person approved are checked, and the heartbeat looks at tasks; what waits for an
    approval is listed, and the exit code is 3.
    """
    return keep_small(session, folder, dry_run=dry_run, no_exec=no_exec, force=force)


@verb("archive", serves="change", examples=("memdeck archive --dry-run", "memdeck archive"))
@_dry_run
@_force
def archive(session: Session, dry_run: bool, force: bool) -> None:
    """Move tasks completed more than archiveCompletedAfterDays (7) days ago to archive/tasks-YYYY-MM.md."""
    from memory.maintenance import TASK_RULES

    apply(session, TASK_RULES, dry_run=dry_run, force=force)


@verb("prune", serves="change", examples=("memdeck prune --dry-run", "memdeck prune"))
@_dry_run
@_force
def prune(session: Session, dry_run: bool, force: bool) -> None:
    """Move old journal entries to archive/journal-YYYY-MM.md.

    Those more than pruneJournalAfterDays (30) days old, and the oldest beyond maxJournalEntries (500).
    """
    from memory.maintenance import JOURNAL_RULES

    apply(session, JOURNAL_RULES, dry_run=dry_run, force=force)


def apply(session: Session, rules: Collection[str], *, dry_run: bool, force: bool) -> None:
    """Apply some of the rules to the memory files and say what moved."""
    from memory.maintenance import maintain as run

    report = run(session.workspace, session.now, actor=session.actor, dry_run=dry_run, force=force, rules=rules)
    session.made = "moved entries" if report.change else None
    session.warn()
    session.answer(report.json, lambda: _lines(session, report))


def _lines(session: Session, report: Report) -> Iterator[str]:
    from memory.maintenance import render

    for line in render(report):
        yield session.paint.notice(line) if line.startswith("warning:") else line


def keep_small(session: Session, folder: str | None, *, dry_run: bool, no_exec: bool, force: bool) -> int:
    """Apply all rules, run what is due of the monitors unless `no_exec`, say what came of it; return the exit code."""
    from memory.systems import maintain_all

    if folder is not None and session.folder is not None and os.path.abspath(folder) != os.path.abspath(session.folder):
        raise UsageError("usage.arguments", "DIR and --workspace name two folders", "give one of them")
    session.folder = folder or session.folder
    # Whoever starts it, the change is that of maintenance, unless a name is given.
    actor = session.actor if session.actor_option or os.environ.get("MEMDECK_ACTOR") else "maintain"
    watches = not (dry_run or no_exec or session.safe)
    if watches:
        _entrust(session)
    try:
        report = maintain_all(session.workspace, session.now, actor=actor, dry_run=dry_run, force=force)
    except MemdeckError:
        # A wrong number in config.md must not leave the monitors unwatched.
        if watches:
            _watch(session)
        raise
    done = "moved entries" if report.change else None
    if not watches or report.dry_run:
        session.made = None if report.blocked else done
        session.warn()
        session.answer(lambda: {**report.json(), "blocked": list(report.blocked)}, lambda: _lines(session, report))
        return 3 if report.blocked else 0
    watch = _watch(session)
    session.made = None if watch.needs_approval or report.blocked else done
    session.warn()
    report = report._replace(monitors=tuple(watch.json()), warnings=(*report.warnings, *watch.warnings))
    more = {"blocked": [*report.blocked, *watch.blocked], "heartbeat": list(watch.beat), "busy": watch.busy}
    session.answer(
        lambda: {**report.json(), **more},
        lambda: [*_lines(session, report), *(session.paint.line(line) for line in watch.lines())],
    )
    return 3 if report.blocked or watch.needs_approval else 0


def _entrust(session: Session) -> None:
    """Let the systems run what the person approved."""
    from memory.person import config_home
    from memory.systems import entrust
    from memory.trust.consent import trust_of

    entrust(session.workspace, trust_of(session.workspace, config_home(os.environ)), os.environ)


def _watch(session: Session) -> Watch:
    from .monitors.one_watch import watch

    return watch(session)
