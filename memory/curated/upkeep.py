"""The maintenance of curated memory: the inbox, old decisions, daily logs, and dreams."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime

from memory.curated.extract.inbox import consume, count
from memory.curated.sides import FOLDER
from memory.errors import MemdeckError
from memory.maintenance.report import Gone, Report, RuleReport

from . import daily
from .control.decision import prune
from .curated import Curated
from .dreaming import dream as dreaming
from .extract.inbox import waiting
from .extract.turns import extract_all, queued
from .index.records import time_of
from .model import OperationCall
from .sides import Side

_PERSON = "$AGH_HOME"


def maintain(curated: Curated, now: datetime, *, actor: str, dry_run: bool) -> Report:
    """Run the rules (plan them with `dry_run`), and return a report; a failed rule is a warning and stops no other."""
    begun, call = time.perf_counter(), OperationCall(now, actor)
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
            rules.extend([] if made is None else [made])

    if not dry_run:
        attempt(lambda: curated.finish_interrupted(now))
    attempt(lambda: _drained(curated, call, dry_run))
    attempt(lambda: _pruned(curated, now, dry_run))
    for side in reversed(curated.sides.values()):
        attempt(lambda side=side: _logged(curated, side, call, dry_run))  # type: ignore[misc]
        attempt(lambda side=side: _dreamed(curated, side, call, dry_run, warnings))  # type: ignore[misc]
    return Report(dry_run, now, tuple(rules), tuple(warnings), round((time.perf_counter() - begun) * 1000, 1))


def _drained(curated: Curated, call: OperationCall, dry_run: bool) -> RuleReport | None:
    """Process the waiting turns and decide on the inbox; None if nothing waits, or the extractor is off."""
    if not curated.settings["enabled"] or not curated.settings["extractor.enabled"]:
        return None
    turns = list(queued(curated))
    if not turns and not waiting(curated):
        return None
    # A model is slow: one run asks it about some sessions only.
    why = "" if dry_run else extract_all(curated, turns[: curated.settings["extractor.queue.capacity"]], call)[1]
    before = kept = count(curated)
    said, acts = f"would decide on {before} candidates, and look at the turns of {len(turns)} sessions", True
    if not dry_run:
        done = consume(curated, call)
        ops = ", ".join(f"{number} {op}" for op, number in sorted(done.decisions.items()))
        said = "; ".join(filter(None, (f"decided: {ops or 'nothing'}", f"{done.failed} failed", done.reason, why)))
        kept, acts = max(before - done.consumed, 0), done.consumed > 0
    return RuleReport(
        "drain-curated-inbox", "_inbox", before, kept, 0, before - kept, what=("candidate", "decided"), said=said,
        acts=acts,
    )  # fmt: skip


def _pruned(curated: Curated, now: datetime, dry_run: bool) -> RuleReport:
    days = curated.settings["decisions.prune_after_applied_days"]
    before, gone = prune(curated.sides["workspace"], days, now, dry_run=dry_run)
    moves = tuple(
        Gone(None, f"{one.op} {one.target_filename}".strip(), "nowhere", time_of(one.applied_at or 0)[:10])
        for one in gone
    )
    return RuleReport(
        "prune-curated-decisions", FOLDER, before, before - len(gone), 0, len(gone), moves, (),
        ("decision", "cleared"), f"carried out more than {days} days ago" if gone else "",
    )  # fmt: skip


def _logged(curated: Curated, side: Side, call: OperationCall, dry_run: bool) -> RuleReport | None:
    """Write and archive the daily logs of a side; None if there was nothing to do."""
    done = daily.sweep(curated, side, call, dry_run=dry_run) if curated.settings["enabled"] else {}
    moved = done.get("archived", 0)
    if not moved and not done.get("written"):
        return None
    said = ", ".join(f"{done[key]} {key}" for key in ("written", "archived") if done[key])
    what = ("daily log", "archived")
    return RuleReport(
        "sweep-daily-logs", _file(side), done["logs"], done["logs"] - moved, moved, 0, what=what, said=said, acts=True
    )


def _dreamed(
    curated: Curated, side: Side, call: OperationCall, dry_run: bool, warnings: list[str]
) -> RuleReport | None:
    """Dream on one side; None if dreaming is off, or no memory was ever recalled there."""
    if not curated.settings["dream.enabled"] or not curated.settings["enabled"]:
        return None
    done = dreaming.dream(curated, side, call, dry_run=dry_run)
    count, run = len(done.gates.waiting), done.run
    if not count and run is None:
        return None
    said = f"{side.name}: {done.reason}"
    if run is not None:
        if run.status == "failed":
            warnings.append(f"curated memory: the dream failed: {run.error}")
        said = f"{side.name}: {run.state}, {run.promoted_count} memories in {run.facts.get('target_filename')}"
    acts = run is not None or (dry_run and not done.gates.closed())
    what = ("memory", "promoted")
    return RuleReport("dream-curated-memory", _file(side), count, count, 0, 0, what=what, said=said, acts=acts)


def _file(side: Side) -> str:
    return FOLDER if side.name == "workspace" else _PERSON
