"""The state of the monitors of a workspace, from the record: for lists, status, the panes, and other programs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from memory.base.clock import format_utc
from memory.base.safe_text import visible
from memory.errors import RefusedError
from memory.files.monitors import Monitor
from memory.files.snapshot import Snapshot
from memory.monitoring.alerts.state import AlertState
from memory.monitoring.problems import broken
from memory.monitoring.run.due import next_due
from memory.monitoring.run.ledger import MonitorLedger, has_record, key_of, ledger_of
from memory.trust.consent import ConsentDecision, Trust, checks_of, monitor_asks
from memory.workspace import Workspace

from .results import SPANS, Past, last_results, uptimes

__all__ = ["LAST", "MonitorStanding", "has_record", "prometheus", "standings"]
LAST = 5


@dataclass(frozen=True, slots=True)
class MonitorStanding:
    """The state of one monitor: its alert state, uptime in per cent, the newest results, the next run, the mute.

    `blocked` is why it may not run now; empty if it may, or if that was not checked. `broken` is why it cannot run at
    all with its current fields.
    """

    monitor: Monitor
    alert: AlertState
    uptime: dict[str, float | None]
    results: tuple[Past, ...]
    next_run: datetime | None
    muted: datetime | None
    blocked: str = ""
    broken: str = ""

    @property
    def state(self) -> str:
        """healthy, failing, error, skipped; `unknown` if it was never checked here.

        A monitor that may not run is `blocked`, whatever its state was before.
        """
        if self.broken:
            return "error"
        return "blocked" if self.blocked else self.alert.state or "unknown"

    def json(self) -> dict[str, Any]:
        """Return the keys that a list adds to the monitor's own; absent values are None."""
        alert = self.alert
        return {
            "state": self.state,
            "summary": self.broken or self.blocked or alert.summary or None,
            "since": None if alert.since is None else format_utc(alert.since),
            "alerting": alert.alerting,
            "triggered": alert.told == "yes",
            "flapping": alert.flapping,
            "failures": alert.failures,
            "uptime": dict(self.uptime),
            "results": [past.json() for past in self.results],
            "nextRun": None if self.next_run is None else format_utc(self.next_run),
            "mutedUntil": None if self.muted is None else format_utc(self.muted),
        }


def standings(
    workspace: Workspace, snapshot: Snapshot, now: datetime, trust: Trust | None = None
) -> tuple[MonitorStanding, ...]:
    """Return the state of the monitors of a snapshot, in file order; reads the record and creates none.

    With `trust`, monitors that no person approved are blocked. If the state folder cannot be trusted, nothing is known
    of any monitor.
    """
    checks = {} if trust is None else checks_of(monitor_asks(snapshot.monitors.monitors))
    decided = {name: trust.decide(ask) for name, ask in checks.items()} if trust is not None else {}
    with closing(ledger_of(workspace)) as ledger:
        try:
            return tuple(_standings(ledger, snapshot, now, decided))
        except RefusedError:
            return tuple(_standings(MonitorLedger(None), snapshot, now, decided))


def _standings(
    ledger: MonitorLedger, snapshot: Snapshot, now: datetime, decided: Mapping[str, ConsentDecision]
) -> Iterator[MonitorStanding]:

    alerts, mutes = ledger.alerts(), ledger.mutes()
    uptime, past = uptimes(ledger, now), last_results(ledger, LAST)
    zone = snapshot.zone
    for monitor in snapshot.monitors.monitors:
        key = key_of(monitor.name)
        decision = decided.get(monitor.name)
        why = broken(monitor, snapshot.root)
        if not why and decision is not None and decision.state == "refused":
            why = decision.why
        muted = max((mutes[name] for name in (key, "*") if name in mutes), default=None)
        yield MonitorStanding(
            monitor,
            AlertState.read(alerts.get(key)),
            uptime.get(key) or dict.fromkeys(SPANS),
            past.get(key, ()),
            next_due(monitor.interval, now, zone),
            muted if muted is not None and muted > now else None,
            "" if why or decision is None or decision.allowed else decision.why,
            why,
        )


_METRICS = (
    ("up", "Whether the last check was healthy."),
    ("alerting", "Whether the monitor alerts."),
    ("muted", "Whether messages about the monitor are muted."),
    ("failures_in_a_row", "Failed checks since the last healthy one."),
    ("last_check_timestamp_seconds", "When it was checked last."),
    ("check_duration_seconds", "How long the last check took."),
    ("uptime_ratio", "Share of healthy checks over a span of time."),
)


def prometheus(found: Iterable[MonitorStanding]) -> str:
    """Return monitors in the text format of Prometheus; values that were never measured are left out."""
    rows: dict[str, list[str]] = {name: [] for name, _ in _METRICS}
    for one in found:
        alert = one.alert
        label = _label(key_of(one.monitor.name))

        def add(metric: str, value: float, more: str = "", label: str = label) -> None:
            rows[metric].append(f'memdeck_monitor_{metric}{{name="{label}"{more}}} {value:.10g}')

        add("muted", one.muted is not None)
        if not alert.known:
            continue
        add("up", alert.failures == 0)
        add("alerting", alert.alerting)
        add("failures_in_a_row", alert.failures)
        if alert.checked is not None:
            add("last_check_timestamp_seconds", alert.checked.timestamp())
        seconds = next((past.seconds for past in one.results if past.seconds is not None), None)
        if seconds is not None:
            add("check_duration_seconds", seconds)
        for span, percent in one.uptime.items():
            if percent is not None:
                add("uptime_ratio", percent / 100, f',span="{span}"')
    lines = []
    for name, text in _METRICS:
        if rows[name]:
            lines += [f"# HELP memdeck_monitor_{name} {text}", f"# TYPE memdeck_monitor_{name} gauge", *rows[name]]
    return "".join(f"{line}\n" for line in lines)


def _label(text: str) -> str:

    return visible(text, newlines=True).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
