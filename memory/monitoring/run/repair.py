"""Remediation of one monitor: within its limits, from the approved text, verified by a second check.

It needs two failures in a row, runs rarely, and stops itself if it does not help.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from memory.base.values import split_remark
from memory.errors import MemdeckError
from memory.monitoring.alerts.state import AlertState
from memory.monitoring.checks.check import check
from memory.monitoring.checks.result import Around, Result
from memory.monitoring.process.command import run_placed
from memory.monitoring.settings import LONGEST, USUAL
from memory.monitoring.thresholds.units import read_duration
from memory.trust.consent import Ask, ConsentDecision

from .ledger import key_of

if TYPE_CHECKING:
    from .report import WatchedMonitor
    from .run import Run

FAILURES = 2
"""How many failures in a row it requires."""
PER_DAY = 3
APART = timedelta(minutes=15)
USELESS = 2
"""After this many attempts in a row that did not help, it stops until the monitor has been healthy again."""
PAUSES = (0.0, 2.0, 5.0)
"""Seconds before each check of whether it helped: a service needs a moment to start."""


@dataclass(frozen=True, slots=True)
class Repair:
    """The result of a remediation: whether it ran, the command, how it failed, and the second check.

    `why` is why it did not run; `blocked`: what waits for a person; `stopped`: it did not help again, and will not run
    until the monitor has been healthy.
    """

    ran: bool
    command: str = ""
    failure: str = ""
    verified: Result | None = None
    why: str = ""
    stopped: bool = False
    blocked: ConsentDecision | None = None

    @property
    def helped(self) -> bool:
        """Whether the second check was healthy."""
        return self.verified is not None and self.verified.state == "healthy"


def refused_remedy(
    attempts: Sequence[tuple[datetime, bool]], failures: int, outage_since: datetime | None, now: datetime
) -> str:
    """Return why a remediation may not run now, "" if it may.

    `attempts` are the earlier ones, newest first (`MonitorLedger.remedies`).

    `failures` in a row include the current one; an attempt with an unknown end, after a crash, did not help. Attempts
    in the future, after a clock jump, count by their distance.
    """
    if failures < FAILURES:
        return f"waits for {FAILURES} failures in a row"
    if _is_useless(attempts, outage_since, now):
        return f"stopped: the last {USELESS} did not help"
    if any(abs(now - at) < APART for at, _ in attempts):
        return f"ran less than {int(APART.total_seconds() // 60)} minutes ago"
    if sum(abs(now - at) < timedelta(days=1) for at, _ in attempts) >= PER_DAY:
        return f"ran {PER_DAY} times within a day"
    return ""


def _is_useless(attempts: Sequence[tuple[datetime, bool]], outage_since: datetime | None, now: datetime) -> bool:
    """Return whether the newest attempts since an outage began did not help, so that remediation stops itself."""
    outage = [helped for at, helped in attempts if outage_since is None or at >= outage_since or at > now]
    return len(outage) >= USELESS and not any(outage[:USELESS])


def repair(run: Run, one: WatchedMonitor, ask: Ask, state: AlertState, around: Around) -> Repair:
    """Run the approved remediation of a failing monitor if its limits allow it, and check whether it helped.

    It is recorded on disk before it runs: a crash never makes it run more often. Whether it is approved is asked right
    before it runs.
    """
    key, now = key_of(one.monitor.name), run.now
    outage = state.since if state.alerting else None
    why = refused_remedy(run.ledger.remedies(key), state.failures, outage, now)
    if why:
        return Repair(False, why=why)
    decision = run.decide(ask)
    if not decision.allowed or decision.text is None:
        waits = decision.state in ("pending", "withdrawn", "refused")
        return Repair(False, why=decision.why, blocked=decision if waits else None)
    count = run.ledger.begin_remedy(key, now)
    if count is None:
        return Repair(False, why="it cannot be counted")
    try:
        finished = run_placed(
            decision.text,
            ask.folder,
            root=around.root,
            state=around.state,
            environ=around.environ,
            names=ask.environment,
            timeout=min(read_duration(split_remark(ask.detail("timeout"))[0]) or USUAL, LONGEST),
            cancel=around.cancel,
        )
    except MemdeckError as error:
        return Repair(False, why=error.message)
    verified: Result | None = None
    for seconds in PAUSES:
        if around.cancel is not None and around.cancel.is_set():
            break
        if seconds:
            (run.services.pause or time.sleep)(seconds)
        # The remediation may have changed files that the check itself uses.
        verified = check(one.monitor, run.decide(one.ask), around)
        if verified.state == "healthy":
            run.ledger.end_remedy(count)
            break
    helped = verified is not None and verified.state == "healthy"
    stopped = not helped and _is_useless(run.ledger.remedies(key), outage, now)
    return Repair(True, decision.text, finished.trouble, verified, stopped=stopped)
