"""The history of checks: uptime, the last results and the latency line, stored outside the workspace.

Single results are kept up to a number, hourly sums for five weeks; both are bounded for each monitor.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from memory.base.clock import format_utc
from memory.monitoring.checks.result import Result
from memory.monitoring.run.ledger import MonitorLedger, key_of, read_stamp

KEPT_RESULTS = 500
"""How many single results of each monitor are kept."""
KEPT_HOURS = timedelta(days=35)
SPANS = {"24h": timedelta(hours=24), "7d": timedelta(days=7), "30d": timedelta(days=30)}
"""The spans over which uptime is reported."""
MEASURED = frozenset({"healthy", "failing", "error"})
"""The states that measure something; a blocked or skipped check says nothing about uptime."""


@dataclass(frozen=True, slots=True)
class Past:
    """One past result; `at` is UTC text, `seconds` None if it was not measured."""

    at: str
    state: str
    summary: str
    seconds: float | None

    def json(self) -> dict[str, Any]:
        """Return the result under the keys of the interface."""
        return {"at": self.at, "state": self.state, "summary": self.summary, "seconds": self.seconds}


def record_results(db: sqlite3.Connection, results: Iterable[Result], now: datetime) -> None:
    """Add results of one run, inside a transaction of `MonitorLedger.run`, and delete the oldest."""
    at, hour = format_utc(now), format_utc(now)[:13]
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
    db.execute("DELETE FROM hour WHERE hour < ?", (format_utc(now - KEPT_HOURS)[:13],))


def uptimes(ledger: MonitorLedger, now: datetime) -> dict[str, dict[str, float | None]]:
    """Return for each monitor the per cent of healthy checks over each of `SPANS`; None: there was no check."""
    return {
        monitor: {name: round(100 * up / checks, 3) if checks else None for name, (checks, up) in sums.items()}
        for monitor, sums in measured(ledger, now).items()
    }


def measured(ledger: MonitorLedger, now: datetime) -> dict[str, dict[str, tuple[int, int]]]:
    """Return for each monitor how many checks measured something over each of `SPANS`, and how many were healthy.

    Hours count as a whole, including the one in which a span begins.
    """
    found: dict[str, dict[str, tuple[int, int]]] = {}
    for name, span in SPANS.items():
        query = "SELECT monitor, sum(checks), sum(up) FROM hour WHERE hour >= ? AND hour <= ? GROUP BY monitor"
        for monitor, checks, up in ledger.rows(query, format_utc(now - span)[:13], format_utc(now)[:13]):
            found.setdefault(monitor, dict.fromkeys(SPANS, (0, 0)))[name] = (checks, up)
    return found


def blocked_since(ledger: MonitorLedger) -> dict[str, datetime]:
    """Return, for each monitor whose newest result is `blocked`, when the first of these in a row was."""
    rows = ledger.rows(
        "SELECT monitor, min(at) FROM result AS one WHERE state = 'blocked' AND seq > coalesce((SELECT max(seq) "
        "FROM result WHERE monitor = one.monitor AND state != 'blocked'), -1) GROUP BY monitor"
    )
    return {monitor: read_stamp(at) for monitor, at in rows}


def last_results(ledger: MonitorLedger, limit: int = 5) -> Mapping[str, tuple[Past, ...]]:
    """Return the newest results of each monitor, newest first."""
    query = (
        "SELECT monitor, at, state, summary, seconds FROM (SELECT *, row_number() OVER "
        "(PARTITION BY monitor ORDER BY seq DESC) AS place FROM result) WHERE place <= ? "
        "ORDER BY monitor, seq DESC"
    )
    found: dict[str, list[Past]] = {}
    for monitor, *past in ledger.rows(query, limit):
        found.setdefault(monitor, []).append(Past(*past))
    return {monitor: tuple(past) for monitor, past in found.items()}
