"""The maintenance of curated memory: remove old decisions, and dream where the gates are open."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime

from memory.errors import MemdeckError
from memory.maintenance.report import Gone, Report, RuleReport

from .control.decision import prune
from .curated import Curated
from .daily import is_due
from .daily import sweep as daily_sweep
from .dreaming.run import dream, failed_lately, is_looked_at
from .extract.consume import consume, count
from .extract.extraction import extract
from .extract.inbox import waiting
from .extract.turns import queued
from .identity import FOLDER
from .index.records import time_of
from .sessions.upkeep import sweep
from .sides import Side

PRUNE, DREAM, DRAIN = "prune-curated-decisions", "dream-curated-memory", "drain-curated-inbox"
INBOX, SESSIONS, DAILY = "_inbox", "archive-session-ledgers", "sweep-daily-logs"
_CANDIDATE = ("candidate", "decided")
_PERSON = "$AGH_HOME"


def maintain(curated: Curated, now: datetime, *, actor: str, dry_run: bool) -> Report:
    """Run the rules (plan them with `dry_run`), and return a report; a failed rule is a warning and stops no other."""
    begun = time.perf_counter()
    rules: list[RuleReport] = []
    warnings: list[str] = []

    def attempt(work: Callable[[], RuleReport | None]) -> None:
        try:
            made = work()
        except MemdeckError as error:
            text = f"curated memory: {error}"
            if text not in warnings:
                warnings.append(text)
        else:
            if made is not None:
                rules.append(made)

    if not dry_run:
        attempt(lambda: curated.finish_interrupted(now))
    attempt(lambda: _drained(curated, now, actor, dry_run))
    attempt(lambda: _pruned(curated, now, dry_run))
    attempt(lambda: _swept(curated, now, actor, dry_run))
    for side in reversed(curated.sides.values()):
        attempt(lambda side=side: _logged(curated, side, now, actor, dry_run))  # type: ignore[misc]
        attempt(lambda side=side: _dreamed(curated, side, now, actor, dry_run, warnings))  # type: ignore[misc]
    return Report(dry_run, now, tuple(rules), tuple(warnings), round((time.perf_counter() - begun) * 1000, 1))


def _drained(curated: Curated, now: datetime, actor: str, dry_run: bool) -> RuleReport | None:
    """Process the waiting turns and decide on the inbox; None if nothing waits, or the extractor is off."""
    if not curated.settings["enabled"] or not curated.settings["extractor.enabled"]:
        return None
    sessions = list(queued(curated))
    if not sessions and not waiting(curated):
        return None
    if not dry_run:
        # With a model each session is slow.
        most = curated.settings["extractor.queue.capacity"] if "extractor" in curated.models else len(sessions)
        for session in sessions[:most]:
            extract(curated, session, actor=actor, now=now)
    before = count(curated)
    if dry_run:
        said = f"would decide on {before} candidates, and look at the turns of {len(sessions)} sessions"
        return RuleReport(DRAIN, INBOX, before, before, 0, 0, what=_CANDIDATE, said=said, acts=True)
    done = consume(curated, actor=actor, now=now)
    ops = ", ".join(f"{number} {op}" for op, number in sorted(done.decisions.items()))
    said = f"decided: {ops or 'nothing'}; {done.failed} failed" + (f"; {done.reason}" if done.reason else "")
    kept = max(before - done.consumed, 0)
    return RuleReport(DRAIN, INBOX, before, kept, 0, before - kept, what=_CANDIDATE, said=said, acts=done.consumed > 0)


def _pruned(curated: Curated, now: datetime, dry_run: bool) -> RuleReport:
    days = curated.settings["decisions.prune_after_applied_days"]
    before, gone = prune(curated.sides["workspace"], curated.settings, now, dry_run=dry_run)
    moves = tuple(
        Gone(None, f"{one.op} {one.target_filename}".strip(), "nowhere", _day(one.applied_at)) for one in gone
    )
    return RuleReport(
        PRUNE, FOLDER, before, before - len(gone), 0, len(gone), moves, (), ("decision", "cleared"),
        f"carried out more than {days} days ago" if gone else "",
    )  # fmt: skip


def _swept(curated: Curated, now: datetime, actor: str, dry_run: bool) -> RuleReport | None:
    """Archive old session ledgers; None if there are none."""
    if "global" not in curated.sides:
        return None
    tally = sweep(curated, actor=actor, now=now, dry_run=dry_run)
    if not tally["sessions"]:
        return None
    moved, gone = tally["archived"], tally["cleared"]
    said = f"{moved} archived, {gone} left the archive" if moved or gone else ""
    kept = tally["sessions"] - moved - gone
    what = ("session", "archived")
    return RuleReport(SESSIONS, _PERSON, tally["sessions"], kept, moved, gone, what=what, said=said, acts=bool(said))


def _logged(curated: Curated, side: Side, now: datetime, actor: str, dry_run: bool) -> RuleReport | None:
    """Write and archive the daily logs of a side, once a day; None if there was nothing to do, or it is not due."""
    if not curated.settings["enabled"] or not is_due(curated, side, now):
        return None
    done = daily_sweep(curated, side, actor=actor, now=now, dry_run=dry_run)
    if not any(done.values()):
        return None
    said = ", ".join(f"{done[key]} {key}" for key in ("written", "archived", "purged") if done[key])
    file = FOLDER if side.name == "workspace" else _PERSON
    before = done["logs"] + done["purged"]
    return RuleReport(
        DAILY, file, before, before - done["archived"] - done["purged"], done["archived"], done["purged"],
        what=("daily log", "put away"), said=said, acts=bool(said),
    )  # fmt: skip


def _dreamed(
    curated: Curated, side: Side, now: datetime, actor: str, dry_run: bool, warnings: list[str]
) -> RuleReport | None:
    """Dream on one side; None if dreaming is off or no memory was ever recalled there."""
    if not curated.settings["dream.enabled"] or not curated.settings["enabled"]:
        return None
    if failed_lately(curated, side, now) or not is_looked_at(curated, side, now, dry_run=dry_run):
        return None
    done = dream(curated, side, actor=actor, now=now, dry_run=dry_run)
    count = len(done.gates.waiting)
    if not count and not done.triggered:
        return None
    said = f"{side.name}: {done.reason}"
    if done.run is not None:
        if done.run.status == "failed":
            warnings.append(f"curated memory: the dream failed: {done.run.error}")
        target = done.run.facts.get("target_filename")
        said = f"{side.name}: {done.run.state}, {done.run.promoted_count} memories in {target}"
    acts = done.triggered or (dry_run and not done.gates.closed())
    file = FOLDER if side.name == "workspace" else _PERSON
    return RuleReport(DREAM, file, count, count, 0, 0, what=("memory", "promoted"), said=said, acts=acts)


def _day(stamp: int | None) -> str:
    return "" if stamp is None else time_of(stamp)[:10]
