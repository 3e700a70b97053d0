"""The history of checks: uptime, the last results and the latency line, kept outside of the workspace.

Single results are kept for a while, sums by the hour for five weeks; both have an end, however many monitors run.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Protocol

from memory.monitoring.run.ledger import MonitorLedger, key_of, read_stamp, stamp

if TYPE_CHECKING:
    import sqlite3

KEPT_RESULTS = 500
"""So many single results of each monitor are kept."""
KEPT_HOURS = timedelta(days=35)
SPANS = {"24h": timedelta(hours=24), "7d": timedelta(days=7), "30d": timedelta(days=30)}
"""Over what uptime is told."""
MEASURED = frozenset({"healthy", "failing", "error"})
"""The states that measure something; a blocked or skipped check says nothing about uptime."""


class Measured(Protocol):
    """What the history needs of a result."""

    @property
    def monitor(self) -> str:
        """The monitor's name."""

    @property
    def state(self) -> str:
        """healthy, failing, error, blocked or skipped."""

    @property
    def summary(self) -> str:
        """A few words."""

    @property
    def seconds(self) -> float:
        """How long it took."""


@dataclass(frozen=True, slots=True)
class Past:
    """One result of the past; `at` is UTC text, `seconds` None where it was not measured."""

    at: str
    state: str
    summary: str
    seconds: float | None

    def json(self) -> dict[str, Any]:
        """Return the result under the keys of the interface."""
        return {"at": self.at, "state": self.state, "summary": self.summary, "seconds": self.seconds}


def record_results(db: sqlite3.Connection, results: Iterable[Measured], now: datetime) -> None:
    """Add results of one run, inside a transaction of `MonitorLedger.run`, and let the oldest go."""
    at, hour = stamp(now), stamp(now)[:13]
    for result in results:
        key = key_of(result.monitor)
        seconds = round(result.seconds, 4) if result.state in MEASURED else None
        row = db.execute(
            "INSERT INTO result (monitor, at, state, summary, seconds) VALUES (?, ?, ?, ?, ?)",
            (key, at, result.state, key_of(result.summary), seconds),
        )
        if (row.lastrowid or 0) % 10 == 0:
            db.execute(
                "DELETE FROM result WHERE monitor = ?1 AND seq <= (SELECT seq FROM result WHERE monitor = ?1 "
                "ORDER BY seq DESC LIMIT 1 OFFSET ?2)",
                (key, KEPT_RESULTS),
            )
        if seconds is not None:
            db.execute(
                "INSERT INTO hour (monitor, hour, checks, up, seconds, slowest) VALUES (?, ?, 1, ?, ?, ?) "
                "ON CONFLICT (monitor, hour) DO UPDATE SET checks = checks + 1, up = up + excluded.up, "
                "seconds = seconds + excluded.seconds, slowest = max(slowest, excluded.slowest)",
                (key, hour, int(result.state == "healthy"), seconds, seconds),
            )
    db.execute("DELETE FROM hour WHERE hour < ?", (stamp(now - KEPT_HOURS)[:13],))


def uptimes(ledger: MonitorLedger, now: datetime) -> dict[str, dict[str, float | None]]:
    """Return for each monitor the share of healthy checks in per cent over each of `SPANS`; None: none was made."""
    return {
        monitor: {name: round(100 * up / checks, 3) if checks else None for name, (checks, up) in sums.items()}
        for monitor, sums in measured(ledger, now).items()
    }


def measured(ledger: MonitorLedger, now: datetime) -> dict[str, dict[str, tuple[int, int]]]:
    """Return for each monitor how many checks measured something over each of `SPANS`, and how many were healthy.

    Hours count whole, the one in which a span begins too.
    """
    found: dict[str, dict[str, tuple[int, int]]] = {}
    for name, span in SPANS.items():
        first, last = stamp(now - span)[:13], stamp(now)[:13]
        rows = ledger.run(
            lambda db, first=first, last=last: db.execute(  # type: ignore[misc]
                "SELECT monitor, sum(checks), sum(up) FROM hour WHERE hour >= ? AND hour <= ? GROUP BY monitor",
                (first, last),
            ).fetchall(),
            None,
            make=False,
        )
        for monitor, checks, up in rows or ():
            found.setdefault(monitor, dict.fromkeys(SPANS, (0, 0)))[name] = (checks, up)
    return found


def blocked_since(ledger: MonitorLedger) -> dict[str, datetime]:
    """Return for each monitor whose newest result is `blocked` when the first of those in a row was."""
    rows = ledger.run(
        lambda db: db.execute(
            "SELECT monitor, min(at) FROM result AS one WHERE state = 'blocked' AND seq > coalesce((SELECT max(seq) "
            "FROM result WHERE monitor = one.monitor AND state != 'blocked'), -1) GROUP BY monitor"
        ).fetchall(),
        None,
        make=False,
    )
    return {monitor: read_stamp(at) for monitor, at in rows or ()}


def last_results(ledger: MonitorLedger, limit: int = 5) -> Mapping[str, tuple[Past, ...]]:
    """Return the newest results of each monitor, newest first."""
    rows = ledger.run(
        lambda db: db.execute(
            "SELECT monitor, at, state, summary, seconds FROM (SELECT *, row_number() OVER "
            "(PARTITION BY monitor ORDER BY seq DESC) AS place FROM result) WHERE place <= ? "
            "ORDER BY monitor, seq DESC",
            (limit,),
        ).fetchall(),
        None,
        make=False,
    )
    found: dict[str, list[Past]] = {}
    for monitor, at, state, summary, seconds in rows or ():
        found.setdefault(monitor, []).append(Past(at, state, summary, seconds))
    return {monitor: tuple(past) for monitor, past in found.items()}


def results_of(ledger: MonitorLedger, name: str, limit: int = 100) -> tuple[Past, ...]:
    """Return the newest results of one monitor, oldest first: the latency line and the outage strip."""
    rows = ledger.run(
        lambda db: db.execute(
            "SELECT at, state, summary, seconds FROM result WHERE monitor = ? ORDER BY seq DESC LIMIT ?",
            (key_of(name), limit),
        ).fetchall(),
        None,
        make=False,
    )
    return tuple(Past(*row) for row in reversed(rows or ()))
