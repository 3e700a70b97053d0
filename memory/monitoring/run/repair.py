"""Remediation of one monitor: within its limits, from the approved text, verified by a second check.

It needs two failures in a row, runs seldom, and stops itself where it does not help.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from memory.base.remarks import split_remark
from memory.monitoring.alerts.state import AlertState
from memory.monitoring.process.command import clean_environment, run_command
from memory.monitoring.settings import LONGEST, USUAL
from memory.monitoring.thresholds.units import read_duration

from .ledger import MonitorLedger, key_of

if TYPE_CHECKING:
    from memory.files.monitors import Monitor
    from memory.monitoring.checks.context import Around
    from memory.monitoring.checks.result import Result
    from memory.trust.consent import Ask, ConsentDecision


FAILURES = 2
"""So many failures in a row it takes."""
PER_DAY = 3
APART = timedelta(minutes=15)
USELESS = 2
"""After so many in a row that did not help it stops until the monitor has been well again."""
_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class RemedyVerdict:
    """Whether a remediation may run now, and if not, why."""

    run: bool
    why: str = ""


def may_remediate(
    attempts: Sequence[tuple[datetime, bool | None]], failures: int, outage_since: datetime | None, now: datetime
) -> RemedyVerdict:
    """Say whether a remediation may run, `attempts` being those before it, newest first (`Ledger.remedies`).

    `failures` in a row count this one in; an attempt with an unknown end, after a crash, did not help. Attempts that a
    clock which jumped puts into the future count by their distance.
    """
    if failures < FAILURES:
        return RemedyVerdict(False, f"waits for {FAILURES} failures in a row")
    if is_useless(attempts, outage_since, now):
        return RemedyVerdict(False, f"stopped: the last {USELESS} did not help")
    if any(abs(now - at) < APART for at, _ in attempts):
        return RemedyVerdict(False, f"ran less than {int(APART.total_seconds() // 60)} minutes ago")
    if sum(abs(now - at) < _DAY for at, _ in attempts) >= PER_DAY:
        return RemedyVerdict(False, f"ran {PER_DAY} times within a day")
    return RemedyVerdict(True)


def is_useless(attempts: Sequence[tuple[datetime, bool | None]], outage_since: datetime | None, now: datetime) -> bool:
    """Tell whether the newest attempts since an outage began did not help, so that it stops itself."""
    outage = [helped for at, helped in attempts if outage_since is None or at >= outage_since or at > now]
    return len(outage) >= USELESS and not any(outage[:USELESS])


PAUSES = (0.0, 2.0, 5.0)
"""Seconds before each look at whether it helped: a service needs a moment to come up."""


@dataclass(frozen=True, slots=True)
class Repair:
    """What became of a remediation: whether it ran, the command, how it failed, and the second check.

    `why` says why it did not run; `blocked`: what waits for a person; `stopped`: it did not help again, and will not
    run until the monitor has been well.
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
        """Whether the second check found everything well."""
        return self.verified is not None and self.verified.state == "healthy"


def repair(
    monitor: Monitor,
    ask: Ask,
    decide: Callable[[], ConsentDecision],
    state: AlertState,
    ledger: MonitorLedger,
    around: Around,
    recheck: Callable[[], Result],
    *,
    now: datetime,
    pause: Callable[[float], object],
) -> Repair:
    """Run the approved remediation of a failing monitor if its limits allow it, and look whether it helped.

    It is counted on the disk before it runs: a crash never makes it run more often. `decide` says whether it is
    approved, right before it runs; `recheck` checks once more.
    """
    key = key_of(monitor.name)
    verdict = may_remediate(ledger.remedies(key), state.failures, state.since if state.alerting else None, now)
    if not verdict.run:
        return Repair(False, why=verdict.why)
    decision = decide()
    if not decision.allowed or decision.text is None:
        waits = decision.state in ("pending", "withdrawn", "refused")
        return Repair(False, why=decision.why, blocked=decision if waits else None)
    count = ledger.begin_remedy(key, now)
    if count is None:
        return Repair(False, why="it cannot be counted")
    finished = run_command(
        decision.text,
        folder=around.root,
        environment=clean_environment(around.environ, ask.environment, outside=around.root),
        timeout=min(read_duration(split_remark(ask.timeout)[0]) or USUAL, LONGEST),
        cancel=around.cancel,
    )
    failure = ""
    if finished.timed_out:
        failure = "stopped, it took too long"
    elif finished.failure:
        failure = finished.failure
    elif finished.stopped:
        failure = f"stopped: {finished.stopped}"
    elif finished.signal is not None:
        failure = f"ended by signal {finished.signal}"
    elif finished.exit_code:
        failure = f"exit code {finished.exit_code}"
    verified: Result | None = None
    for seconds in PAUSES:
        if around.cancel is not None and around.cancel.cancelled:
            break
        if seconds:
            pause(seconds)
        verified = recheck()
        if verified.state == "healthy":
            break
    done = Repair(True, decision.text, failure, verified)
    ledger.end_remedy(count, done.helped)
    outage = state.since if state.alerting else None
    return replace(done, stopped=not done.helped and is_useless(ledger.remedies(key), outage, now))
