"""Maintenance by its own schedule (`maintenanceSchedule` in config.md), once for each time, whoever is first.

The claims are those of the monitors, under the same lead. Where nobody ever maintained a workspace, the first time is
the next one: opening it must not move anything by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, TypeVar

from .due import due_instant, is_due
from .leader import Leader
from .ledger import MonitorLedger

if TYPE_CHECKING:
    from memory.files.snapshot import Snapshot
    from memory.workspace import Workspace

T = TypeVar("T")
KEY = "\0maintenance"
"""Under which name maintenance claims its times; no monitor can be called so."""
ACTOR = "maintain"
"""In whose name it is done."""


def due_upkeep(workspace: Workspace, snapshot: Snapshot, claims: Mapping[str, datetime], now: datetime) -> bool:
    """Tell whether the schedule has a time that nobody took; `claims` are `MonitorLedger.last_claims`."""
    return is_due(snapshot.config.get("maintenanceSchedule"), _last(workspace, claims, now), now, snapshot.zone)


def maintain_if_due(workspace: Workspace, now: datetime, maintain: Callable[[], T]) -> T | None:
    """Call `maintain` if its time has come and nobody else took it; None where nothing was to do.

    Raises ConfigError for a schedule that is none, and what `maintain` raises; it is not tried again for the same time.
    """
    folder = None if workspace.state is None else workspace.state.folder
    leader = Leader(folder)
    if not leader.take():
        return None
    ledger = MonitorLedger(folder)
    try:
        snapshot = workspace.snapshot()
        expression = snapshot.config.schedule()
        last = _last(workspace, ledger.last_claims(now), now)
        found = None if expression is None else due_instant(expression, last, now, snapshot.zone)
        if found is None or not ledger.claim([(KEY, found[0])], now):
            return None
        # Before it runs: what fails now fails in a minute as well, and is told once.
        ledger.run(lambda db: ledger.end(db, [(KEY, found[0])]), None)
        return None if last is None else maintain()
    finally:
        ledger.close()
        leader.release()


def _last(workspace: Workspace, claims: Mapping[str, datetime], now: datetime) -> datetime | None:
    """Return when it was maintained last, by its schedule or by anybody."""
    known = [claims[KEY]] if KEY in claims else []
    if workspace.state is not None:
        recorded = workspace.state.read().last_maintenance
        if recorded is not None and recorded <= now:
            known.append(recorded)
    return max(known, default=None)
