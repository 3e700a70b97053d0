"""Looking ahead: whether something is due now and when to look again, for whoever waits while it is open.

Nothing is claimed or run here: `keep.keep_watch` and `upkeep.maintain_if_due` do that once something is due.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from .due import due_monitors, is_due, next_due
from .heartbeat import KEY as BEAT
from .ledger import MonitorLedger
from .maintenance_schedule import due_upkeep

if TYPE_CHECKING:
    from memory.files.snapshot import Snapshot
    from memory.trust.consent import Trust
    from memory.workspace import Workspace

LONGEST = timedelta(seconds=60)
"""How long nobody looks at most: approvals, mutes and messages that wait are seen then too."""


@dataclass(frozen=True, slots=True)
class Ahead:
    """What lies ahead.

    `scheduled`: whether there is a schedule at all; `watch`: whether monitors, the heartbeat or what waited are due;
    `upkeep`: whether maintenance is; `again`: when to look again; `heartbeat`: whether the workspace's is switched on.
    """

    scheduled: bool
    watch: bool
    upkeep: bool
    again: datetime
    heartbeat: bool = False


def look_ahead(workspace: Workspace, trust: Trust | None, now: datetime) -> Ahead:
    """Say what is due at `now`; a monitor that waits for a person's approval is not, for it would not run.

    Raises what reading the files raises.
    """
    snapshot = workspace.snapshot()
    expressions = tuple(_expressions(snapshot))
    if not expressions:
        return Ahead(False, False, False, now + LONGEST)
    ledger = MonitorLedger(None if workspace.state is None else workspace.state.folder)
    try:
        claims = ledger.last_claims(now)
        watch = (
            bool(ledger.held(now))
            or bool(ledger.unwritten())
            or is_due(snapshot.config.get("expression"), claims.get(BEAT), now, snapshot.zone)
            or _may_run(snapshot, trust, claims, now)
        )
        upkeep = due_upkeep(workspace, snapshot, claims, now)
    finally:
        ledger.close()
    runs = [run for one in expressions if (run := next_due(one, now, snapshot.zone)) is not None]
    return Ahead(True, watch, upkeep, min([*runs, now + LONGEST]), bool(snapshot.config.get("expression")))


def _expressions(snapshot: Snapshot) -> Iterator[str]:
    """Yield each expression that something runs by, once."""
    found = [snapshot.config.get("expression"), snapshot.config.get("maintenanceSchedule")]
    found += [monitor.interval for monitor in snapshot.monitors.monitors]
    yield from dict.fromkeys(one for one in found if one)


def _may_run(snapshot: Snapshot, trust: Trust | None, claims: Mapping[str, datetime], now: datetime) -> bool:
    """Tell whether one of the monitors that are due may run."""
    monitors = snapshot.monitors.monitors
    due = due_monitors(monitors, claims, now, snapshot.zone).due
    if not due:
        return False
    from memory.trust.consent import checks_of, monitor_asks

    checks = checks_of(monitor_asks(monitors))
    for one in due:
        ask = checks.get(one.monitor.name)
        if ask is None or (trust is not None and trust.decide(ask).allowed):
            return True
    return False
