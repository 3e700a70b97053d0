"""The schedules of a workspace, for programs that stay open: due work, when to check again, and maintenance.

`look_ahead` claims and runs nothing: `run.keep_watch` and `maintain_if_due` do that when something is due. The claims
of maintenance are stored with those of the monitors, under the same lead. In a workspace that was never maintained, the
first due time is only claimed, and maintenance runs at the next one: opening it must not move anything by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, TypeVar

from memory.base.clock import format_utc
from memory.base.cron import describe, missed_twice
from memory.base.problems import Problem
from memory.errors import MemdeckError
from memory.files.snapshot import Snapshot
from memory.trust.consent import Trust, checks_of, monitor_asks
from memory.workspace import Workspace

from .due import due_instant, due_monitors, is_due, next_due
from .heartbeat import KEY as BEAT
from .heartbeat import NOTE
from .leader import Leader
from .ledger import WATCHED, MonitorLedger, ledger_of

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
    maintenance = snapshot.config.get("maintenanceSchedule") or upkeep
    expressions = tuple(dict.fromkeys([*_expressions(snapshot), *([maintenance] if maintenance else [])]))
    if not expressions:
        return Ahead(False, False, False, now + LONGEST)
    with closing(ledger_of(workspace)) as ledger:
        claims = ledger.last_claims(now)
        watch = (
            bool(ledger.held(now))
            or bool(ledger.unwritten())
            or is_due(snapshot.config.get("expression"), claims.get(BEAT), now, snapshot.zone)
            or _may_run(snapshot, trust, claims, now)
        )
        last = _last_maintenance(workspace, claims, now)
        maintains = is_due(maintenance, last, now, snapshot.zone)
    runs = [run for one in expressions if (run := next_due(one, now, snapshot.zone)) is not None]
    return Ahead(True, watch, maintains, min([*runs, now + LONGEST]), bool(snapshot.config.get("expression")))


def _expressions(snapshot: Snapshot) -> Iterator[str]:
    """Yield each schedule expression in use, once."""
    found = [snapshot.config.get("expression"), snapshot.config.get("maintenanceSchedule")]
    found += [monitor.interval for monitor in snapshot.monitors.monitors]
    yield from dict.fromkeys(one for one in found if one)


def _may_run(snapshot: Snapshot, trust: Trust | None, claims: Mapping[str, datetime], now: datetime) -> bool:
    """Return whether any of the due monitors may run."""
    monitors = snapshot.monitors.monitors
    due = due_monitors(monitors, claims, now, snapshot.zone).due
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
    """Return warnings about overdue tasks and stale monitors."""
    snapshot = workspace.snapshot().readable()
    stale = [one for one in snapshot.monitors.monitors if one.stale(now, snapshot.zone)]
    return (
        *(Problem("warning", "config.md", 0, "upkeep.overdue", one.message) for one in overdue(workspace, now)),
        *(
            Problem(
                "warning", one.file, one.line + 1, "monitor.stale", f"{one.name[:60]}: no result since {one.last_check}"
            )
            for one in stale
        ),
    )


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
