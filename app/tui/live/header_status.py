"""What the header says at its right: what is overdue, what is wrong, what runs next."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING

from memory.base.clock import Moment
from memory.base.safe_text import visible
from widgets.chrome.header import Alert
from widgets.text.glyphs import Glyphs
from widgets.text.styled_text import Piece, Tone, line
from widgets.text.words import short_moment

if TYPE_CHECKING:
    from memory.files.snapshot import Snapshot
    from memory.files.status import Brief
    from memory.history.taken_back import Undone
    from memory.monitoring.history.charts import Notice
    from memory.systems.protocol import System
    from memory.workspace import Workspace


CHECKED = 5_000
"""Workspaces of at most so many tasks and journal entries are checked for problems each time they change."""


def is_small(brief: Brief) -> bool:
    """Whether looking for problems takes so little that it is done after each change."""
    return sum(sum(brief.counts.get(name, {}).values()) for name in ("tasks", "journal")) <= CHECKED


def upkeep(workspace: Workspace, snapshot: Snapshot, now: datetime) -> tuple[tuple[str, str], ...]:
    """What the next maintenance would move: a file and a sentence each; nothing where a setting is wrong."""
    from memory.errors import MemdeckError
    from memory.maintenance.plan import plan_maintenance
    from memory.maintenance.returned import restored_in

    try:
        rules = plan_maintenance(snapshot, now, restored=restored_in(workspace)).rules
    except MemdeckError:
        return ()
    found = []
    for rule in rules:
        moved = rule.archived + rule.cleared
        if moved:
            one, many = _RULES.get(rule.rule, ("entry", "entries"))
            found.append(
                (rule.file, f"1 {one} moves to the archive" if moved == 1 else f"{moved} {many} move to the archive")
            )
    return tuple(found)


def upkeep_of(systems: Iterable[System], now: datetime) -> tuple[tuple[str, str, str], ...]:
    """What the next maintenance would do in systems beside the memory files: where, a sentence, and the system.

    Nothing of one that is in trouble.
    """
    from contextlib import suppress

    from memory.errors import MemdeckError

    found: list[tuple[str, str, str]] = []
    for system in systems:
        with suppress(MemdeckError):
            for rule in system.maintain(now, actor="human", dry_run=True).rules:
                if count := rule.archived + rule.cleared:
                    noun, verb = rule.what or ("entry", "cleared")
                    many = noun[:-1] + "ies" if noun.endswith("y") else noun + "s"
                    words = f"1 {noun} is {verb}" if count == 1 else f"{count:,} {many} are {verb}"
                    found.append((rule.file, words, system.name))
    return tuple(found)


_RULES = {
    "archive-completed-tasks": ("completed task", "completed tasks"),
    "prune-old-journal": ("old journal entry", "old journal entries"),
    "cap-journal": ("journal entry over the limit", "journal entries over the limit"),
    "clear-completed-orchestration": ("completed plan", "completed plans"),
}


def not_read(errors: Iterable[Exception]) -> tuple[Alert, ...]:
    """Say that what is shown is not what some file holds."""
    return tuple(Alert(line(Piece(f"not read: {visible(str(error))[:60]}", "alert"))) for error in errors)[:1]


def taken_back(undone: Sequence[Undone]) -> tuple[Alert, ...]:
    """Say that saves of other programs took back changes of memdeck's; it leads to the brief's rows on them."""
    return (Alert(line(Piece(f"{len(undone)} taken back", "alert")), "lost"),) if undone else ()


def alerts(
    brief: Brief, now: datetime, zone: tzinfo, glyphs: Glyphs, notice: Notice | None = None
) -> tuple[Alert, ...]:
    """The parts of the header, the most important first, each with where it leads; for a worker, since it may read
    every file.
    """
    parts: list[Alert] = []

    def say(leads: str, words: str, tone: Tone) -> None:
        parts.append(Alert(line(Piece(words, tone)), leads))

    if brief.overdue:
        say("overdue", f"{len(brief.overdue)} overdue", "alert")
    if brief.alerts:
        number = len(brief.alerts)
        say("alert", f"{glyphs.alert} {number} alert{'s' if number > 1 else ''}", "warn")
    if notice is not None and notice.waiting:
        number = len(notice.waiting)
        say("waiting", f"{number} wait{'' if number > 1 else 's'} for approval", "warn")
    if notice is not None and (notice.muted or notice.all_muted is not None):
        say("muted", "all muted" if notice.all_muted else f"{len(notice.muted)} muted", "muted")
    if is_small(brief):
        errors = [problem.level for problem in brief.problems].count("error")
        if errors:
            say("problem", f"{errors} problem{'s' if errors > 1 else ''}", "warn")
    resting = frozenset() if notice is None else notice.resting
    run = next((run for run in brief.next_runs if run.kind != "monitor" or run.ref not in resting), None)
    if run is not None:
        words = short_moment(Moment("", run.instant.astimezone(zone).date(), run.instant), now, zone)
        say("run", f"next: {run.label[:40]} {words}", "muted")
    return tuple(parts)
