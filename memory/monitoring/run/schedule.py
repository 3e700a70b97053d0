"""What is due in a workspace, when to look again, and maintenance by its schedule.

A monitor is due at the newest instant of its interval, however many were missed before; one that never ran is due at
that instant too. A claimed instant is never due again. If the clock jumped back, repeated instants are already claimed;
if it jumped ahead, the missed ones collapse into one.

`look_ahead` claims and runs nothing: `run.keep_watch` and `maintain_if_due` do that when something is due. The claims
of maintenance are stored with those of the monitors, under the same lead. In a workspace that was never maintained, the
first due time is only claimed, and maintenance runs at the next one: opening it must not move anything by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any, TypeVar

from memory.base.clock import format_utc
from memory.base.cron import BadCron, describe, latest_run, missed_twice, next_runs
from memory.base.problems import Problem
from memory.errors import MemdeckError
from memory.files.monitors import Monitor
from memory.files.snapshot import Snapshot
from memory.monitoring.run.heartbeat import KEY as BEAT
from memory.monitoring.run.heartbeat import NOTE
from memory.monitoring.run.ledger import WATCHED, Leader, MonitorLedger, key_of, ledger_of
from memory.trust.asks import checks_of, monitor_asks
from memory.trust.consent import Trust
from memory.workspace import Workspace

T = TypeVar("T")
KEY = "\0maintenance"
"""The name under which maintenance claims its times; no monitor can have it."""
ACTOR = "maintain"
"""The actor of the maintenance."""

LONGEST = timedelta(seconds=60)
"""Maximum time between two checks, so that approvals, mutes and waiting messages are noticed."""


@dataclass(frozen=True, slots=True)
class Ahead:
    """The result of looking ahead.

    `scheduled`: whether there is a schedule at all; `watch`: whether monitors, the heartbeat or waiting messages are
    due; `upkeep`: whether maintenance is; `again`: when to check again; `heartbeat`: whether the workspace's is
    switched on.
    """

    scheduled: bool
    watch: bool
    upkeep: bool
    again: datetime
    heartbeat: bool = False


def look_ahead(workspace: Workspace, trust: Trust | None, now: datetime, upkeep: str = "") -> Ahead:
    """Return the work due at `now`; a monitor that needs a person's approval is not due, because it would not run.

    `upkeep` is the schedule of maintenance for a workspace that names none. Raises the errors of reading the files.
    """
    snapshot = workspace.snapshot()
    beats, maintenance = snapshot.config.get("expression"), snapshot.config.get("maintenanceSchedule") or upkeep
    expressions = {beats, maintenance, *(monitor.interval for monitor in snapshot.monitors.monitors)} - {None, ""}
    if not expressions:
        return Ahead(False, False, False, now + LONGEST)
    with closing(ledger_of(workspace)) as ledger:
        claims = ledger.last_claims(now)
        watch = (
            bool(ledger.held(now))
            or bool(ledger.unwritten())
            or is_due(beats, claims.get(BEAT), now, snapshot.zone)
            or _may_run(snapshot, trust, claims, now)
        )
        last = _last_maintenance(workspace, claims, now)
        maintains = is_due(maintenance, last, now, snapshot.zone)
    runs = [run for one in expressions if (run := next_due(one, now, snapshot.zone)) is not None]
    return Ahead(True, watch, maintains, min([*runs, now + LONGEST]), bool(beats))


def _may_run(snapshot: Snapshot, trust: Trust | None, claims: Mapping[str, datetime], now: datetime) -> bool:
    """Return whether any of the due monitors may run."""
    monitors = snapshot.monitors.monitors
    due, _ = due_monitors(monitors, claims, now, snapshot.zone)
    if not due:
        return False
    checks = checks_of(monitor_asks(monitors))
    asks = [checks.get(monitor.name) for monitor, _ in due]
    return any(ask is None or (trust is not None and trust.decide(ask).allowed) for ask in asks)


@dataclass(frozen=True, slots=True)
class Overdue:
    """What has not run for two of its periods: `what` is maintenance, monitors or heartbeat, `last` its last run."""

    what: str
    last: datetime
    schedule: str

    @property
    def message(self) -> str:
        """A sentence for people."""
        ran = "were checked last at" if self.what == "monitors" else "ran last at"
        return (
            f"{self.what} {ran} {format_utc(self.last)}, scheduled {describe(self.schedule)}: does cron still run it?"
        )

    def json(self) -> dict[str, str]:
        """Return it under the keys of the interface."""
        last = format_utc(self.last)
        return {"what": self.what, "last": last, "schedule": self.schedule, "message": self.message}


def overdue(workspace: Workspace, now: datetime) -> tuple[Overdue, ...]:
    """Return what ran in this workspace before, and has not for two of its periods; empty if the record is refused."""
    snapshot = workspace.snapshot().readable()
    config, zone = snapshot.config, snapshot.zone
    with closing(ledger_of(workspace)) as ledger, suppress(MemdeckError):
        notes = ledger.kept("note")
        maintained = _last_maintenance(workspace, ledger.last_claims(now), now)
        schedules = [
            ("maintenance", maintained, config.get("maintenanceSchedule")),
            *(("monitors", _noted(notes, WATCHED), interval) for interval, _ in snapshot.monitors.intervals),
            ("heartbeat", _noted(notes, NOTE), config.get("expression")),
        ]
        late = [
            Overdue(what, last, schedule)
            for what, last, schedule in schedules
            if last is not None and schedule and missed_twice(schedule, last, now, zone)
        ]
        return tuple({one.what: one for one in reversed(late)}.values())
    return ()


def overdue_problems(workspace: Workspace, now: datetime) -> tuple[Problem, ...]:
    """Return warnings about what no longer runs regularly, and about stale monitors."""
    snapshot = workspace.snapshot().readable()
    found = [Problem("warning", "config.md", 0, "upkeep.overdue", one.message) for one in overdue(workspace, now)]
    for one in snapshot.monitors.monitors:
        if one.stale(now, snapshot.zone):
            said = "never measured" if one.last_check is None else f"no result since {one.last_check}"
            found.append(Problem("warning", one.file, one.line + 1, "monitor.stale", f"{one.name[:60]}: {said}"))
    return tuple(found)


def _noted(notes: Mapping[str, Any], key: str) -> datetime | None:
    """Return when the record says that something ran."""
    with suppress(KeyError, TypeError, ValueError):
        return datetime.fromisoformat(notes[key]["at"])
    return None


def maintain_if_due(workspace: Workspace, now: datetime, maintain: Callable[[], T], upkeep: str = "") -> T | None:
    """Call `maintain` if its time has come and no other process claimed it; None if there was nothing to do.

    `upkeep` is the schedule for a workspace that names none.

    Raises ConfigError for an invalid schedule, and the errors of `maintain`; it is not tried again for the same time.
    """
    folder = workspace.state.folder
    with closing(Leader(folder)) as leader, closing(MonitorLedger(folder)) as ledger:
        if not leader.take():
            return None
        snapshot = workspace.snapshot()
        expression = snapshot.config.schedule() or upkeep
        last = _last_maintenance(workspace, ledger.last_claims(now), now)
        found = due_instant(expression, last, now, snapshot.zone) if expression else None
        if found is None or not ledger.claim([(KEY, found)], now):
            return None
        # Done before it runs: if it fails now, it would also fail in a minute, so the error is reported once.
        ledger.run(lambda db: ledger.end(db, [(KEY, found)]), None)
        return None if last is None else maintain()


def _last_maintenance(workspace: Workspace, claims: Mapping[str, datetime], now: datetime) -> datetime | None:
    """Return when it was last maintained, by its schedule or in any other way."""
    known = [claims[KEY]] if KEY in claims else []
    recorded = workspace.state.last_maintenance()
    if recorded is not None and recorded <= now:
        known.append(recorded)
    return max(known, default=None)


def due_instant(expression: str, last: datetime | None, now: datetime, zone: tzinfo) -> datetime | None:
    """Return the instant (UTC) at which something is due; None: it is not due.

    `last` is the newest claimed instant that is not in the future. Raises BadCron.
    """
    newest = latest_run(expression, now, zone)
    if newest is None:
        return None
    at = newest.astimezone(UTC)
    return at if last is None or at > last else None


def is_due(expression: str | None, last: datetime | None, now: datetime, zone: tzinfo) -> bool:
    """Return whether a schedule is due; a missing or invalid one never is."""
    if not expression:
        return False

    try:
        return due_instant(expression, last, now, zone) is not None
    except BadCron:
        return False


def due_monitors(
    monitors: Iterable[Monitor], claimed: Mapping[str, datetime], now: datetime, zone: tzinfo
) -> tuple[list[tuple[Monitor, datetime]], list[str]]:
    """Return the monitors that are due with their instant (UTC), and the problems of other monitors' schedules, both in
    file order; `claimed` is `MonitorLedger.last_claims`.

    A monitor without an interval is never due: it runs on request. Of monitors with the same name the first counts.
    """
    due: dict[str, tuple[Monitor, datetime]] = {}
    problems: list[str] = []
    for monitor in monitors:
        key = key_of(monitor.name)
        if not monitor.interval or key in due:
            continue
        try:
            found = due_instant(monitor.interval, claimed.get(key), now, zone)
        except BadCron as error:
            problems.append(f"{monitor.file}:{monitor.line + 1}: interval of {monitor.name[:60]!r}: {error.message}")
            continue
        if found is not None:
            due[key] = (monitor, found)
    return list(due.values()), problems


def next_due(expression: str | None, now: datetime, zone: tzinfo) -> datetime | None:
    """Return the next instant of a schedule, None if it has none or is invalid."""
    if not expression:
        return None

    try:
        runs = next_runs(expression, now, zone)
    except BadCron:
        return None
    return runs[0] if runs else None
