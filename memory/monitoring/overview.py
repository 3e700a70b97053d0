"""The state and the history of the monitors of a workspace, from the record: for lists, status, the panes, and other
programs; and what waits or is muted.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from memory.base.clock import format_utc
from memory.base.safe_text import visible
from memory.errors import RefusedError
from memory.files.monitors import FILE as MONITORS
from memory.files.monitors import Monitor
from memory.files.snapshot import Snapshot
from memory.monitoring.alerts import AlertState, read_options, silenced
from memory.monitoring.ledger import MonitorLedger, Past, key_of, ledger_of
from memory.monitoring.schedule import Overdue, next_due
from memory.monitoring.settings import broken
from memory.trust.asks import Ask, monitor_asks
from memory.trust.consent import ConsentDecision, Trust
from memory.workspace import Workspace

LAST = 5
"""How many results a list has."""
POINTS = 60
"""How many of the newest results are read, for a line of latencies."""


@dataclass(frozen=True, slots=True)
class MonitorStanding:
    """The state and the history of one monitor.

    `results` are the newest ones, newest first. `checked` is when it was measured last, `stale` whether that is longer
    ago than two of its intervals, or never happened though it may run. `blocked` is why it may not run now; empty if it
    may, or if that was not checked. `broken` is why it cannot run at all with its current fields. `silenced` is why no
    message of an alert would be sent now, apart from a mute; `remedy` the status of its remediation (`approved`, or why
    it waits).
    """

    monitor: Monitor
    alert: AlertState
    results: tuple[Past, ...]
    next_run: datetime | None
    muted: datetime | None
    checked: datetime | None
    stale: bool
    blocked: str
    broken: str
    silenced: str
    remedy: str

    @property
    def latencies(self) -> tuple[float, ...]:
        """The seconds of the newest checks that measured something, the newest last."""
        return tuple(past.seconds for past in reversed(self.results) if past.seconds is not None)

    @property
    def state(self) -> str:
        """healthy, failing, error, stale; `unknown` if it was never checked here.

        A monitor that may not run is `blocked`, regardless of its former state.
        """
        if self.broken:
            return "error"
        if self.blocked:
            return "blocked"
        return "stale" if self.stale else self.results[0].state if self.results else "unknown"

    @property
    def bad(self) -> bool:
        """Whether it fails or is stale: it cannot run, or was not well when it was measured last, or long ago."""
        if self.broken or self.stale:
            return True
        if self.alert.known:
            return self.alert.alerting or self.alert.failures > 0
        return self.monitor.healthy is False

    @property
    def summary(self) -> str:
        """The newest result in a few words, "" if there is none."""
        return self.results[0].summary if self.results else ""

    @property
    def before(self) -> str:
        """The last result in words, for a monitor that is stale or blocked; "" if it was never checked."""
        said, remark = self.monitor.last_status, self.monitor.last_status_remark
        return "" if not said else f"{said} ({remark})" if remark else said

    @property
    def was(self) -> str:
        """What was measured last, in words: `was healthy (72% used)`, `never measured`."""
        return f"was {self.before}" if self.before else "never measured"

    @property
    def words(self) -> str:
        """The state as lists show it: `failing (status 503)`, `stale, was healthy (72% used)`, `never checked`."""
        if self.broken:
            return f"error ({self.broken})"
        if self.state == "stale" or (self.blocked and self.before):
            return f"{self.state}, {self.was}"
        return self.state if self.blocked else self.before or "never checked"

    def json(self) -> dict[str, Any]:
        """Return the monitor's own keys and those of its state; absent values are None."""
        alert = self.alert
        summary = self.broken or self.blocked or (self.was if self.stale else self.summary)
        return {
            **self.monitor.json(),
            "state": self.state,
            "healthy": self.monitor.healthy if self.state == "unknown" else self.state == "healthy",
            "summary": summary or None,
            "checked": None if self.checked is None else format_utc(self.checked),
            "since": None if alert.since is None else format_utc(alert.since),
            "alerting": alert.alerting,
            "triggered": alert.told == "yes",
            "failures": alert.failures,
            "results": [past.json() for past in self.results[:LAST]],
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
    if not snapshot.monitors.items:
        return ()
    asks = () if trust is None else monitor_asks(snapshot.monitors.items)
    decided = {(ask.role == "remediate", ask.name): trust.decide(ask) for ask in asks if trust is not None}
    with closing(ledger_of(workspace)) as ledger:
        try:
            return tuple(_standings(ledger, snapshot, now, decided))
        except RefusedError:
            return tuple(_standings(MonitorLedger(None), snapshot, now, decided))


def _standings(
    ledger: MonitorLedger, snapshot: Snapshot, now: datetime, decided: Mapping[tuple[bool, str], ConsentDecision]
) -> Iterator[MonitorStanding]:
    monitors, zone = snapshot.monitors.items, snapshot.zone
    alerts = {key: AlertState.read(values) for key, values in ledger.kept("alert").items()}
    mutes, past = ledger.mutes(), ledger.last_results(POINTS)
    options = {monitor.name: read_options(monitor) for monitor in reversed(monitors)}

    def alerting(name: str) -> bool:
        return alerts.get(key_of(name), AlertState()).alerting

    for monitor in monitors:
        name, key = monitor.name, key_of(monitor.name)
        decision, mend = decided.get((False, name)), decided.get((True, name))
        why = broken(monitor, snapshot.root)
        if not why and decision is not None and decision.state == "refused":
            why = decision.why
        blocked = "" if why or decision is None or decision.allowed else decision.why
        muted = max((mutes[one] for one in (key, "*") if one in mutes), default=None)
        alert = alerts.get(key, AlertState())
        checked = max((one for one in (alert.checked, monitor.checked_at(zone)) if one is not None), default=None)
        yield MonitorStanding(
            monitor=monitor,
            alert=alert,
            results=past.get(key, ()),
            next_run=next_due(monitor.interval, now, zone),
            muted=muted if muted is not None and muted > now else None,
            checked=checked,
            stale=monitor.stale(now, zone, alert.checked) and (checked is not None or not blocked),
            blocked=blocked,
            broken=why,
            silenced=silenced(name, options, alerting, now, zone),
            remedy="" if mend is None else "approved" if mend.allowed else mend.why,
        )


MetricRows = dict[str, list[tuple[dict[str, str], float]]]
_METRICS = {
    "monitor_up": "Whether the last check was healthy; absent while that is stale.",
    "monitor_stale": "Whether there is no result, or none for two intervals of the monitor.",
    "monitor_age_seconds": "How long ago it was checked last.",
    "monitor_alerting": "Whether the monitor alerts.",
    "monitor_muted": "Whether messages about the monitor are muted.",
    "monitor_failures_in_a_row": "Failed checks since the last healthy one.",
    "monitor_last_check_timestamp_seconds": "When it was checked last.",
    "monitor_check_duration_seconds": "How long the last check took.",
    "upkeep_overdue": "Whether maintenance, monitors or heartbeat have not run for two of their periods.",
}


def prometheus(
    found: Iterable[MonitorStanding], overdue: Iterable[Overdue], now: datetime, *, host: str, workspace: str
) -> str:
    """Return monitors in the text format of Prometheus; values that were never measured are left out."""
    rows: MetricRows = {}

    def add(metric: str, value: float, **labels: str) -> None:
        rows.setdefault(metric, []).append(({**labels, "host": host, "workspace": workspace}, value))

    for one in found:
        alert, name = one.alert, key_of(one.monitor.name)
        add("monitor_muted", one.muted is not None, name=name)
        add("monitor_stale", one.stale, name=name)
        if one.checked is not None:
            add("monitor_age_seconds", (now - one.checked).total_seconds(), name=name)
            add("monitor_last_check_timestamp_seconds", one.checked.timestamp(), name=name)
        if not alert.known:
            continue
        if not one.stale:
            add("monitor_up", alert.failures == 0, name=name)
        add("monitor_alerting", alert.alerting, name=name)
        add("monitor_failures_in_a_row", alert.failures, name=name)
        seconds = next((past.seconds for past in one.results if past.seconds is not None), None)
        if seconds is not None:
            add("monitor_check_duration_seconds", seconds, name=name)
    late = {one.what for one in overdue}
    for what in ("maintenance", "monitors", "heartbeat"):
        add("upkeep_overdue", what in late, what=what)
    return exposition(_METRICS, rows)


def exposition(metrics: Mapping[str, str], rows: MetricRows) -> str:
    """Return values in the text format of Prometheus: `metrics` has the help of each, `rows` their labels and values.

    Metrics without a value are left out.
    """
    lines = []
    for metric, text in metrics.items():
        if metric in rows:
            lines += [f"# HELP memdeck_{metric} {text}", f"# TYPE memdeck_{metric} gauge"]
        for labels, value in rows.get(metric, ()):
            said = ",".join(f'{name}="{_label(label)}"' for name, label in labels.items())
            lines.append(f"memdeck_{metric}{{{said}}} {value:.10g}")
    return "".join(f"{line}\n" for line in lines)


def _label(text: str) -> str:
    return visible(text, newlines=True).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


@dataclass(frozen=True, slots=True)
class WaitingAsk:
    """An ask that waits for a person, `why` in a few words.

    `place` is the memory file that asks for it, or the name of another system, `ref` the entry if one does.
    """

    ask: Ask
    why: str
    place: str
    ref: str = ""

    @property
    def role(self) -> str:
        """What it would do, in one word."""
        return {"remediate": "fix", "url": "check"}.get(self.ask.role, self.ask.role)


@dataclass(frozen=True, slots=True)
class Notice:
    """What the record and the approvals add to the files: asks that wait for an approval, and muted monitors."""

    waiting: tuple[WaitingAsk, ...] = ()
    muted: tuple[tuple[Monitor, datetime], ...] = ()
    all_muted: datetime | None = None
    resting: frozenset[str] = frozenset()
    """The refs of monitors that currently do not run, for any reason."""


def notice(
    workspace: Workspace, snapshot: Snapshot, now: datetime, decided: Collection[tuple[str, Ask, ConsentDecision]]
) -> Notice:
    """Return the asks that wait for an approval and the muted monitors, without reading any result.

    `decided` are the asks of all systems: the system, the ask, and the decision about it.
    """
    monitors = {monitor.name: monitor for monitor in reversed(snapshot.monitors.items)}
    # A waiting task is the only open one with its title.
    tasks = {task.title: task for task in snapshot.tasks.open}
    waiting = []
    for system, ask, decision in decided:
        monitor = monitors.get(ask.name) if ask.file == MONITORS else None
        task = tasks.get(ask.name) if ask.role == "action" else None
        if decision.waits:
            ref = next((one.ref for one in (monitor, task) if one is not None), "")
            place = ask.file if system == "files" else system
            waiting.append(WaitingAsk(ask, decision.why, place, ref))
    mutes: dict[str, datetime] = {}
    if monitors:
        with closing(ledger_of(workspace)) as ledger, suppress(RefusedError):
            mutes = {key: until for key, until in ledger.mutes().items() if until > now}
    muted = [(one, mutes[key]) for one in snapshot.monitors.items if (key := key_of(one.name)) in mutes]
    return Notice(tuple(waiting), tuple(muted), mutes.get("*"), resting_in(snapshot, decided))


def resting_in(snapshot: Snapshot, decided: Iterable[tuple[str, Ask, ConsentDecision]]) -> frozenset[str]:
    """Return the refs of monitors that may not run, by the decisions about the asks of all systems."""
    names = {
        ask.name
        for _, ask, decision in decided
        if ask.file == MONITORS and ask.role != "remediate" and not decision.allowed
    }
    return frozenset(one.ref for one in snapshot.monitors.items if one.name in names)
