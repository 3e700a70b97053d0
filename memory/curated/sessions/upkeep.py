"""The upkeep of sessions: prune, repair, and archiving by maintenance."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial

from memory.base.clock import format_utc
from memory.curated.curated import Curated
from memory.curated.model import Json
from memory.curated.sides import archive
from memory.storage.fsio import remove_empty
from memory.storage.transaction import Transaction

from .ledger import SessionLedger, ledger_of, read
from .places import ARCHIVE, DAMAGED, EVENTS, LEDGER, SessionFolder, sessions


def ended_at(found: SessionLedger) -> datetime | None:
    """Return when a session ended: the time in its ledger, else that of its last event."""
    text = found.meta.get("ended_at") or (found.events[-1].get("timestamp") if found.events else None)
    try:
        moment = datetime.fromisoformat(str(text or found.meta.get("started_at")))
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def ended_since(curated: Curated, since: datetime) -> set[str]:
    """Return the sessions whose ledger names an end after a time."""
    if "global" not in curated.sides:
        return set()
    found = set()
    for one in sessions(curated):
        data = one.data(LEDGER)
        moment = None if data is None else ended_at(SessionLedger(read(data.partition(b"\n")[0]).meta, ()))
        if moment is not None and moment > since:
            found.add(one.id)
    return found


def prune(curated: Curated, hours: float, *, actor: str, now: datetime, dry_run: bool = False) -> Json:
    """Remove sessions with a sound ledger that ended longer ago than `hours`; the change log keeps their bytes.

    A session that has not ended, or whose ledger is damaged, stays.
    """
    gone = events = 0
    for one in sessions(curated):
        data = one.data(LEDGER)
        found = None if data is None else read(data)
        moment = None if found is None else ended_at(found)
        if found is None or found.fault or moment is None or now - moment <= timedelta(hours=hours):
            continue
        if not dry_run and not _change(one, _remove, "pruned", actor, now):
            continue
        gone += 1
        events += len(found.events)
    return {"pruned_sessions": gone, "pruned_events": events, "dry_run": dry_run}


def _remove(transaction: Transaction, one: SessionFolder, names: Sequence[str] = (EVENTS, LEDGER, DAMAGED)) -> bool:
    for name in names:
        stored = transaction.read(one.path(name))
        if stored.base is not None:
            transaction.remove(one.path(name), base=stored.base)
    return True


def _change(
    one: SessionFolder, plan: Callable[[Transaction, SessionFolder], bool], verb: str, actor: str, now: datetime
) -> bool:
    def planned(transaction: Transaction) -> str:
        return f"{verb} session {one.id}" if plan(transaction, one) else ""

    done = one.side.change("curated.session", planned, actor=actor, now=now, recorded=True)
    folder = one.side.store.root / one.folder
    remove_empty([folder, folder.parent])
    return done


def repair(curated: Curated, *, actor: str, now: datetime, dry_run: bool = False) -> Json:
    """Rebuild damaged or missing ledgers from the events where these still exist.

    A damaged ledger is kept as `ledger.damaged.jsonl`. A session without new events for `session.events_purge_grace`
    counts as ended, even without a call to end it. What cannot be repaired is reported and stays.
    """
    grace = timedelta(seconds=curated.settings.seconds("session.events_purge_grace"))
    repaired: list[str] = []
    problems: list[Json] = []
    checked = 0
    for one in sessions(curated):
        checked += 1
        data, events = one.data(LEDGER), one.data(EVENTS)
        fault = "" if data is None else read(data).fault
        if data is not None and not fault:
            continue
        if events is None:
            if data is not None:
                problems.append({"session_id": one.id, "workspace_id": one.workspace_id, "reason": fault})
            continue
        source = read(events)
        moment = ended_at(source)
        if not source.events or (data is None and (moment is None or now - moment < grace)):
            continue
        ended = format_utc(moment) if moment is not None else format_utc(now)
        if source.fault:
            problems.append({"session_id": one.id, "workspace_id": one.workspace_id, "reason": source.fault})
        if not dry_run:
            made = ledger_of(events, one, ended)
            _change(one, partial(_renew, made=made), "repaired", actor, now)
        repaired.append(one.id)
    return {
        "checked_sessions": checked, "repaired_sessions": len(repaired), "repaired": repaired, "problems": problems,
        "dry_run": dry_run,
    }  # fmt: skip


def _renew(transaction: Transaction, one: SessionFolder, made: bytes) -> bool:
    stored = transaction.read(one.path(LEDGER))
    if stored.base is not None and stored.data != made:
        before = transaction.read(one.path(DAMAGED))
        transaction.write(one.path(DAMAGED), stored.data, base=before.base)
    transaction.write(one.path(LEDGER), made, base=stored.base)
    return True


def sweep(curated: Curated, *, actor: str, now: datetime, dry_run: bool = False) -> dict[str, int]:
    """Clean up by the settings: drop events of ended sessions, archive old ledgers, purge the oldest archived ones.

    Return the number of sessions, how many were archived, and how many left the archive.
    """
    settings = curated.settings
    grace = timedelta(seconds=settings.seconds("session.events_purge_grace"))
    cold, hard = settings["session.cold_archive_days"], settings["session.hard_delete_days"]
    tally = {"sessions": 0, "archived": 0, "cleared": 0}
    kept: list[tuple[datetime, SessionFolder, int]] = []
    for one in sessions(curated, archived=True):
        tally["sessions"] += 1
        data = one.data(LEDGER)
        found = None if data is None else read(data)
        moment = None if found is None or found.fault else ended_at(found)
        if data is None or moment is None:
            continue
        if one.archived:
            kept.append((moment, one, len(data)))
        elif now - moment > timedelta(days=cold):
            tally["archived"] += 1
            if not dry_run:
                target = f"{settings['session.ledger_root']}/{ARCHIVE}/{one.workspace_id}/{one.id}/{LEDGER}"
                _change(one, partial(_archive, target=target), "archived", actor, now)
        elif now - moment > grace and one.data(EVENTS) is not None and not dry_run:
            _change(one, _drop_events, "put away the events of", actor, now)
    size = 0
    for moment, one, length in sorted(kept, key=lambda row: row[0], reverse=True):
        size += length
        if (hard and now - moment > timedelta(days=hard)) or size > settings["session.max_archive_bytes"]:
            tally["cleared"] += 1
            if not dry_run:
                _change(one, _remove, "cleared", actor, now)
    return tally


def _archive(transaction: Transaction, one: SessionFolder, target: str) -> bool:
    return archive(transaction, one.path(LEDGER), target) and _remove(transaction, one, (EVENTS, DAMAGED))


def _drop_events(transaction: Transaction, one: SessionFolder) -> bool:
    stored = transaction.read(one.path(EVENTS))
    ledger = transaction.read(one.path(LEDGER))
    if stored.base is None or ledger.base is None:
        return False
    transaction.hold(one.path(LEDGER), base=ledger.base)
    transaction.remove(one.path(EVENTS), base=stored.base)
    return True
