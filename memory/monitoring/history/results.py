"""The history of checks: uptime, the last results and the outages, from the record of runs."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

from memory.base.clock import format_utc
from memory.monitoring.checks.result import Result
from memory.monitoring.run.ledger import MonitorLedger, key_of, read_stamp

KEPT = timedelta(days=35)
"""How long runs are kept."""
KEPT_ALWAYS, MOST_RUNS = 1000, 500_000
"""How many of the newest runs are kept at any age, because clocks jump, and how many at most."""
SPANS = {"24h": timedelta(hours=24), "7d": timedelta(days=7), "30d": timedelta(days=30)}
"""The spans over which uptime is reported."""
MEASURED = frozenset({"healthy", "failing", "error"})
"""The states that measure something; a blocked or skipped check says nothing about uptime."""
_MEASURED = "kind = 'check' AND state IN ('healthy', 'failing', 'error')"
_RESULTS = "kind = 'check' AND state IN ('healthy', 'failing', 'error', 'blocked')"
Part = Literal["", "well", "partly", "down"]
"""The value of a part of a strip: not checked, always healthy, sometimes not, never."""


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


def record_results(
    db: sqlite3.Connection, results: Iterable[Result], now: datetime, due: Mapping[str, datetime] | None = None
) -> None:
    """Add results of one run, inside a transaction of `MonitorLedger.run`, and delete the oldest.

    `due` has the claimed instants, by the name of the monitor.
    """
    at = format_utc(now)
    for result in results:
        key, instant = key_of(result.monitor), (due or {}).get(result.monitor)
        seconds = round(result.seconds, 4) if result.state in MEASURED else None
        db.execute(
            "INSERT INTO run (name, due, at, state, summary, seconds) VALUES (?, ?, ?, ?, ?, ?) "
            "ON CONFLICT (name, due) DO UPDATE SET at = excluded.at, state = excluded.state, "
            "summary = excluded.summary, seconds = excluded.seconds",
            (key, None if instant is None else format_utc(instant), at, result.state, key_of(result.summary), seconds),
        )
    newest = db.execute("SELECT max(seq) FROM run").fetchone()[0] or 0
    db.execute("DELETE FROM run WHERE at < ? AND seq <= ?", (format_utc(now - KEPT), newest - KEPT_ALWAYS))
    db.execute("DELETE FROM run WHERE seq <= ?", (newest - MOST_RUNS,))


def uptimes(ledger: MonitorLedger, now: datetime) -> dict[str, dict[str, float | None]]:
    """Return for each monitor the per cent of healthy checks over each of `SPANS`; None: there was no check."""
    return {
        monitor: {name: round(100 * up / checks, 3) if checks else None for name, (checks, up) in sums.items()}
        for monitor, sums in measured(ledger, now).items()
    }


def measured(ledger: MonitorLedger, now: datetime) -> dict[str, dict[str, tuple[int, int]]]:
    """Return for each monitor how many checks measured something over each of `SPANS`, and how many were healthy."""
    found: dict[str, dict[str, tuple[int, int]]] = {}
    query = (
        f"SELECT name, count(*), sum(state = 'healthy') FROM run WHERE {_MEASURED} AND at > ? AND at <= ? GROUP BY name"
    )
    for name, span in SPANS.items():
        for monitor, checks, up in ledger.rows(query, format_utc(now - span), format_utc(now)):
            found.setdefault(monitor, dict.fromkeys(SPANS, (0, 0)))[name] = (checks, up)
    return found


def blocked_since(ledger: MonitorLedger) -> dict[str, datetime]:
    """Return, for each monitor whose newest result is `blocked`, when the first of these in a row was."""
    rows = ledger.rows(
        "SELECT name, min(at) FROM run AS one WHERE state = 'blocked' AND seq > coalesce((SELECT max(seq) "
        f"FROM run WHERE name = one.name AND {_MEASURED}), -1) GROUP BY name"
    )
    return {monitor: read_stamp(at) for monitor, at in rows}


def last_results(ledger: MonitorLedger, limit: int = 5) -> Mapping[str, tuple[Past, ...]]:
    """Return the newest results of each monitor, newest first."""
    found: dict[str, list[Past]] = {}
    for monitor, *past in ledger.rows(_newest(_RESULTS) + " ORDER BY name, at DESC, seq DESC", limit):
        found.setdefault(monitor, []).append(Past(*past))
    return {monitor: tuple(past) for monitor, past in found.items()}


def latencies(ledger: MonitorLedger, limit: int) -> dict[str, tuple[float, ...]]:
    """Return the durations of the newest checks that measured something, in seconds, the newest last."""
    found: dict[str, list[float]] = {}
    for monitor, _, _, _, seconds in ledger.rows(_newest("seconds IS NOT NULL") + " ORDER BY name, at, seq", limit):
        found.setdefault(monitor, []).append(seconds)
    return {monitor: tuple(values) for monitor, values in found.items()}


def _newest(which: str) -> str:
    """Return the query for the newest runs of each monitor."""
    return (
        "SELECT name, at, state, summary, seconds FROM (SELECT *, row_number() OVER "
        f"(PARTITION BY name ORDER BY at DESC, seq DESC) AS place FROM run WHERE {which}) WHERE place <= ?"
    )


def strip(ledger: MonitorLedger, now: datetime, span: timedelta, count: int) -> dict[str, tuple[Part, ...]]:
    """Return for each monitor `count` time spans, the newest last; that one ends with the hour of `now`."""
    end = read_stamp(format_utc(now)[:13] + ":00:00Z") + timedelta(hours=1)
    rows = ledger.rows(
        "SELECT name, CAST((? - strftime('%s', at) - 1) / ? AS INTEGER) AS back, count(*), sum(state = 'healthy') "
        f"FROM run WHERE {_MEASURED} AND at >= ? AND at < ? GROUP BY name, back",
        *(int(end.timestamp()), int(span.total_seconds()), format_utc(end - count * span), format_utc(end)),
    )
    found: dict[str, list[Part]] = {}
    for monitor, back, checks, up in rows:
        parts: list[Part] = found.setdefault(monitor, [""] * count)
        parts[count - 1 - back] = "well" if up == checks else "partly" if up else "down"
    return {monitor: tuple(parts) for monitor, parts in found.items()}
