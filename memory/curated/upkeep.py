"""The upkeep of curated memory: daily logs, and the maintenance of the inbox, old decisions, logs, and dreams.

A daily log says what happened to memory on a day in UTC, made from the events of a side. It is written once, when the
day is over, and archived later. Until then it is shown from the events.
"""

from __future__ import annotations

import json
import re
import stat
import time
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, timedelta

from memory.base.safe_text import plural
from memory.base.secrets import mask
from memory.curated.extract.inbox import consume, count
from memory.curated.sides import FOLDER, HOME
from memory.errors import MemdeckError
from memory.maintenance.report import Gone, Report, RuleReport
from memory.storage.transaction import Transaction

from .control.decision import prune
from .curated import Curated
from .dreaming import dream as dreaming
from .extract.inbox import waiting
from .extract.turns import extract_all, queued
from .files import listed_names
from .model import FOLDER as MEMORY
from .model import SYSTEM, Json, OperationCall
from .operations.lines import processed
from .records import milliseconds, time_of, utc_day
from .sides import Side

LOGS, ARCHIVED = f"{MEMORY}/{SYSTEM}/daily", f"{MEMORY}/{SYSTEM}/archive/daily"
"""The folders of the current and of the archived logs, relative to the root of a side's store."""
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_OWN = "memory.daily.%"
"""Events of the logs themselves, because of which each day would have a log."""
_Row = tuple[str, str, str | None, str | None, int]


def _day_of(name: str) -> str:
    """Return the day at the beginning of a log's name, empty for another file."""
    found = _DAY.match(name)
    return found[0] if found is not None and name.endswith(".md") else ""


def _logs_in(side: Side, folder: str) -> list[str]:
    """Return the logs of a folder, by name; links are skipped."""
    return listed_names(side.store, folder, stat.S_ISREG, _day_of)


def _archive(transaction: Transaction, name: str) -> bool:
    """Move a log to the archive; return False where it is missing, or has other content there: then both stay."""
    source, target = f"{LOGS}/{name}", f"{ARCHIVED}/{name}"
    stored, there = transaction.read(source).base, transaction.read(target).base
    if stored is None or there not in (None, stored):
        return False
    if there is None:
        transaction.move(source, target, base=stored)
    else:
        transaction.remove(source, base=stored)
    return True


def counts(side: Side) -> list[Json]:
    """Return the number of events by day and scope, the newest day first."""
    text = (
        "SELECT date(ts_ms / 1000, 'unixepoch'), coalesce(scope, ?), agent_name, agent_tier, count(*)"
        " FROM memory_events WHERE op NOT LIKE ? GROUP BY 1, 2, 3, 4 ORDER BY 1 DESC, 2, 3, 4"
    )
    rows = side.records.look(lambda db: db.execute(text, (side.name, _OWN)).fetchall(), list[_Row]())
    keys = ("date", "scope", "agent_name", "agent_tier", "operation_count")
    return [dict(zip(keys, row, strict=True)) for row in rows]


def _texts_of(curated: Curated, side: Side, day: str) -> Mapping[str, str]:
    """Return the log of a day by file names, a line for each event; one with many lines has several files."""
    text = (
        "SELECT ts_ms, op, scope, agent_name, target_id, session_id, metadata FROM memory_events"
        " WHERE ts_ms >= ? AND ts_ms < ? AND op NOT LIKE ? ORDER BY id"
    )
    start = datetime.combine(date.fromisoformat(day), datetime.min.time(), UTC)
    values = (milliseconds(start), milliseconds(start + timedelta(days=1)), _OWN)
    rows = side.records.look(lambda db: db.execute(text, values).fetchall(), list[tuple[str, ...]]())
    lines = []
    for stamp, op, scope, agent, target, session, metadata in rows:
        facts = json.loads(metadata)
        words = str(facts.get("reason") or facts.get("summary") or "")
        parts = (time_of(int(stamp))[11:19], op, scope, agent, target, f"session {session}" if session else "", words)
        lines.append(mask("- " + " ".join(" ".join(str(part).split()) for part in parts if part)))
    most = curated.settings["daily.max_lines"]
    found = {}
    for number, at in enumerate(range(0, len(lines), most), 1):
        name = f"{day}.md" if number == 1 else f"{day}.{number}.md"
        found[name] = f"# {day} ({side.name})\n\n" + "\n".join(lines[at : at + most]) + "\n"
    return found


def sweep(curated: Curated, side: Side, call: OperationCall, *, dry_run: bool = False) -> dict[str, int]:
    """Write the logs of the days that are over, and archive those older than `daily.cold_archive_days`.

    Return the number of logs, and how many were written and archived. A log whose name is taken in the archive by other
    content stays where it is.
    """
    if side.name == "workspace" and not side.workspace_id:
        return {"logs": 0, "written": 0, "archived": 0}
    horizon = utc_day(call.now - timedelta(days=curated.settings["daily.cold_archive_days"]))
    here = _logs_in(side, LOGS)
    written = {_day_of(name) for name in here}
    days = {row["date"] for row in counts(side) if horizon <= row["date"] < utc_day(call.now)} - written
    made = {name: text for day in sorted(days) for name, text in _texts_of(curated, side, day).items()}
    old = [name for name in here if _day_of(name) < horizon]

    def plan(transaction: Transaction) -> str:
        for name, text in made.items():
            if not transaction.read(f"{LOGS}/{name}").exists:
                transaction.write(f"{LOGS}/{name}", text.encode("utf-8", "replace"), base=None)
        moved = [name for name in old if _archive(transaction, name)]
        return f"wrote {plural(len(made), 'daily log')} and archived {len(moved)}" if made or moved else ""

    if (made or old) and not dry_run:
        side.prepare(actor=call.actor, now=call.now)
        side.change("curated.daily", plan, actor=call.actor, now=call.now, recorded=True)
        for name in old:
            side.records.event("memory.daily.archived", call.now, target_id=name)
    return {"logs": len(here) + len(made), "written": len(made), "archived": len(old)}


# -- operations -----------------------------------------------------------------------------------------------------


def ls(curated: Curated, args: Json, call: OperationCall) -> Json:  # noqa: ARG001
    """List the days on which something was done to memory, with their logs."""
    found: list[Json] = []
    for side in curated.sides_of(args.get("scope")):
        logs, archived = ({_day_of(name): f"{folder}/{name}" for name in reversed(_logs_in(side, folder))}
                          for folder in (LOGS, ARCHIVED))  # fmt: skip
        rows = counts(side)
        empty = {"scope": side.name, "agent_name": None, "agent_tier": None, "operation_count": 0}
        rows += [{"date": day, **empty} for day in {*logs, *archived} - {row["date"] for row in rows}]
        for row in rows:
            path = logs.get(row["date"]) or archived.get(row["date"])
            whole = None if path is None else str(side.store.root / path)
            only = row["date"] in archived and row["date"] not in logs
            found.append({**row, "workspace_id": side.workspace_id or None, "path": whole, "archived": only})
    found = [row for row in found if args.get("date") in (None, row["date"])]
    found.sort(key=lambda row: (row["date"], row["scope"]), reverse=True)
    return {"logs": found[: min(args.get("limit", 50), 200)]}


# -- maintenance -----------------------------------------------------------------------------------------------------


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
    said, acts = f"would process {plural(before, 'suggestion')} and the turns of {plural(len(turns), 'session')}", True
    if not dry_run:
        done = consume(curated, call)
        said = "; ".join(filter(None, (processed(done.decisions, done.failed), done.reason, why)))
        kept, acts = max(before - done.consumed, 0), done.consumed > 0
    return RuleReport(
        "drain-curated-inbox", "_inbox", before, kept, 0, before - kept, what=("suggestion", "processed"), said=said,
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
        ("decision record", "cleared"), f"carried out more than {days} days ago" if gone else "",
    )  # fmt: skip


def _logged(curated: Curated, side: Side, call: OperationCall, dry_run: bool) -> RuleReport | None:
    """Write and archive the daily logs of a side; None if there was nothing to do."""
    done = sweep(curated, side, call, dry_run=dry_run) if curated.settings["enabled"] else {}
    moved = done.get("archived", 0)
    if not moved and not done.get("written"):
        return None
    verbs = ("would write", "would archive") if dry_run else ("wrote", "archived")
    counts = zip(verbs, (done["written"], moved), strict=True)
    said = " and ".join(f"{verb} {plural(number, 'daily log')}" for verb, number in counts if number)
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
        if run["status"] == "failed":
            warnings.append(f"curated memory: the dream failed: {run['error']}")
        said = f"{side.name}: {run['state']}, {plural(run['promoted_count'], 'memory')} in {run['target_filename']}"
    acts = run is not None or (dry_run and not done.gates.closed())
    what = ("memory", "promoted")
    return RuleReport("dream-curated-memory", _file(side), count, count, 0, 0, what=what, said=said, acts=acts)


def _file(side: Side) -> str:
    return FOLDER if side.name == "workspace" else HOME
