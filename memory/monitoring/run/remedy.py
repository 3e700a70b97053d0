"""The limits of remediation: it needs two failures in a row, runs seldom, and stops itself where it does not help."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

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
