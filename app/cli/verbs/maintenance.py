"""`memdeck --maintain`, and the two verbs that apply a part of its rules."""

from __future__ import annotations

from app.cli.declared import argument, option, verb
from app.cli.maintenance_run import apply, keep_small
from app.cli.session import Session

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
