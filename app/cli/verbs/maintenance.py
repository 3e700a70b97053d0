"""`memdeck --maintain`, and the two verbs that apply a part of its rules."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator

from app.cli.printing import tell
from app.cli.session import PROBLEMS, Session
from memory.base.clock import format_utc
from memory.errors import MemdeckError, UsageError
from memory.maintenance import JOURNAL_RULES, TASK_RULES, Report, render
from memory.maintenance import maintain as run
from memory.maintenance.report import summary
from memory.monitoring.alerts.channels import Addresses
from memory.monitoring.alerts.notify import Sent, call
from memory.monitoring.run.report import Watch
from memory.monitoring.run.run import ACTOR, WatchServices, keep_watch
from memory.operations import argument, option, verb
from memory.storage.own_folders import config_home
from memory.systems import entrust, maintain_all

WAIT = 10.0
"""Seconds that a check asked for by name waits while another process runs the monitors."""
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
@option("--quiet", is_flag=True, help="Print one dated line, and nothing if nothing happened; for cron and systemd.")
def maintain(session: Session, folder: str | None, dry_run: bool, no_exec: bool, force: bool, quiet: bool) -> int:
    """Apply all maintenance rules once to the workspace that contains DIR, then run what is due of its monitors.

    Completed tasks and old journal entries move to archive/, finished plans too; nothing is deleted. It needs no
    terminal, asks nothing and does nothing the second time; `memdeck doctor --schedule` puts it into cron or systemd.

    Monitors that are due and that a person approved are checked, and the heartbeat looks at tasks; what waits for an
    approval is listed, and the exit code is 3.

    A clock that is more than a day behind the last run or change holds it back: nothing is written, and the exit code
    is 4. If the clock is right, run it once with --force.

    The first line of the output has the time, the workspace and what was done. `MEMDECK_PING`, or `[pings]` in
    channels.toml, names an address that each run calls at its end.
    """
    return keep_small(session, folder, dry_run=dry_run, no_exec=no_exec, force=force, quiet=quiet)


@verb("archive", serves="change", examples=("memdeck archive --dry-run", "memdeck archive"))
@_dry_run
@_force
def archive(session: Session, dry_run: bool, force: bool) -> int:
    """Move tasks completed more than archiveCompletedAfterDays (7) days ago to archive/tasks-YYYY-MM.md."""
    return apply(session, TASK_RULES, dry_run=dry_run, force=force)


@verb("prune", serves="change", examples=("memdeck prune --dry-run", "memdeck prune"))
@_dry_run
@_force
def prune(session: Session, dry_run: bool, force: bool) -> int:
    """Move old journal entries to archive/journal-YYYY-MM.md.

    Those more than pruneJournalAfterDays (30) days old, and the oldest beyond maxJournalEntries (500).
    """
    return apply(session, JOURNAL_RULES, dry_run=dry_run, force=force)


def apply(session: Session, rules: Collection[str], *, dry_run: bool, force: bool) -> int:
    """Apply some of the rules to the memory files and print what moved; 4 if the clock held it back."""
    report = run(session.workspace, session.now, actor=session.actor, dry_run=dry_run, force=force, rules=rules)
    session.made = "moved entries" if report.change else None
    session.answer_change(lambda: _document(session, report), lambda: _lines(session, report))
    return PROBLEMS if report.held else 0


def _document(session: Session, report: Report) -> dict[str, object]:
    return {"workspace": str(session.workspace.root), **report.json()}


def _lines(session: Session, report: Report) -> Iterator[str]:

    for line in render(report):
        yield session.paint.notice(line) if line.startswith("warning:") else line


def keep_small(
    session: Session, folder: str | None, *, dry_run: bool, no_exec: bool, force: bool, quiet: bool = False
) -> int:
    """Apply all rules, run due monitors unless `no_exec`, print the results; return the exit code."""
    if folder is not None and session.folder is not None and os.path.abspath(folder) != os.path.abspath(session.folder):
        raise UsageError("usage.arguments", "DIR and --workspace name two folders", "give one of them")
    session.folder = folder or session.folder
    # The actor is maintenance, however it was started, unless a name is given.
    actor = session.named_actor or "maintain"
    watches = not (dry_run or no_exec or session.safe)
    if watches:
        # The systems run what the user approved.
        entrust(session.workspace, session.trust, os.environ)
    try:
        report = maintain_all(session.workspace, session.now, actor=actor, dry_run=dry_run, force=force)
    except MemdeckError:
        # A wrong number in config.md must not stop the monitors.
        if watches:
            watch(session)
        raise
    done = "moved entries" if report.change else None
    watched = Watch() if not watches or report.dry_run else watch(session)
    blocked = [*report.blocked, *watched.blocked]
    session.made = None if blocked else done
    report = report._replace(monitors=tuple(watched.json()), warnings=(*report.warnings, *watched.warnings))
    more: dict[str, object] = {"blocked": blocked}
    if watches and not report.dry_run:
        more |= {"heartbeat": list(watched.beat), "busy": watched.busy}

    def lines() -> Iterator[str]:
        happened = bool(report.moved or report.acted or report.warnings or report.blocked or watched.news)
        if happened or not quiet:
            total = f"; {watched.total}" if "busy" in more else ""
            words = f"{'would do: ' if report.dry_run else ''}{summary(report.rules)}{total}"
            yield session.paint.line(f"{format_utc(session.now)} {session.workspace.root}: {words}")
        if not quiet:
            yield from _lines(session, report)
            if "busy" in more:
                yield from (session.paint.line(line) for line in watched.lines())

    session.answer_change(lambda: {**_document(session, report), **more}, lines)
    if watches and not report.dry_run:
        ping(session)
    return PROBLEMS if report.held else 3 if blocked else 0


def ping(session: Session) -> None:
    """Call the address that expects a sign of life of each run, if the user named one."""
    try:
        url = _addresses(session).ping()
        sent = call(url) if url else Sent(True)
    except MemdeckError as error:
        sent = Sent(False, error.message)
    if not sent.ok:
        tell(f"memdeck: warning: the ping at the end was not sent: {sent.detail}")


def _addresses(session: Session) -> Addresses:
    return Addresses(config_home(os.environ), os.environ, workspace=session.workspace.root)


def watch(
    session: Session, *, names: list[str] | None = None, everything: bool = False, heartbeat: bool = True
) -> Watch:
    """Run one watch over the monitors, with the actor of this run or of the monitors themselves."""
    return keep_watch(
        session.workspace,
        session.trust,
        session.now,
        WatchServices(os.environ, _addresses(session)),
        names=names,
        everything=everything,
        heartbeat=heartbeat,
        wait=WAIT if names or everything else 0.0,
        actor=session.named_actor or ACTOR,
    )


def refuse_safe(session: Session) -> None:
    """Raise UsageError if `--safe` was given: nothing may run then."""
    if session.safe:
        raise UsageError("usage.safe", "nothing runs with --safe", "leave it out")
