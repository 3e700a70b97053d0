"""The charts of monitors: outages by hour and by day, latency, and which monitors are silenced.

It only reads, from the record and the files; see `memory.monitoring.history.overview` for the rest.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from memory.errors import RefusedError
from memory.files.monitors import FILE as MONITORS
from memory.files.monitors import Monitor
from memory.files.snapshot import Snapshot
from memory.files.tasks.model import Task
from memory.monitoring.alerts.options import read_options, silenced
from memory.monitoring.history.overview import blocked_since, latencies, strip
from memory.monitoring.run.ledger import key_of, ledger_of
from memory.trust.consent import Ask, ConsentDecision, Trust, monitor_asks
from memory.workspace import Workspace

from .overview import MonitorStanding, standings

HOURS, DAYS = 24, 30
"""How far back the two strips reach."""
POINTS = 60
"""Maximum points of a latency line."""


@dataclass(frozen=True, slots=True)
class WaitingAsk:
    """An ask that waits for a person, `why` in a few words.

    `place` is the memory file that asks for it, or the name of another system, `ref` the entry if one does, `monitor`
    the monitor if it is one.
    """

    ask: Ask
    why: str
    place: str
    ref: str = ""
    monitor: Monitor | None = None

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


def pictures(
    workspace: Workspace, snapshot: Snapshot, now: datetime, trust: Trust | None
) -> dict[str, MonitorStanding]:
    """Return the state of each monitor with the data of its charts, by its ref; reads the record and creates none."""
    monitors = snapshot.monitors.monitors
    if not monitors:
        return {}
    found = standings(workspace, snapshot, now, trust)
    with closing(ledger_of(workspace)) as ledger:
        try:
            hours, days = strip(ledger, now, timedelta(hours=1), HOURS), strip(ledger, now, timedelta(days=1), DAYS)
            took, since = latencies(ledger, POINTS), blocked_since(ledger)
        except RefusedError:
            hours, days, took, since = {}, {}, {}, {}
    options = {monitor.name: read_options(monitor) for monitor in monitors}
    alerting = {one.monitor.name for one in found if one.alert.alerting}
    remedies = _remedies(snapshot, trust)

    def drawn(one: MonitorStanding) -> MonitorStanding:
        name, key = one.monitor.name, key_of(one.monitor.name)
        return replace(
            one,
            hours=hours.get(key, ()),
            days=days.get(key, ()),
            latencies=took.get(key, ()),
            silenced=silenced(name, options, alerting.__contains__, now, snapshot.zone),
            remedy=remedies.get(name, ""),
            blocked_since=since.get(key) if one.blocked else None,
        )

    return {one.monitor.ref: drawn(one) for one in found}


def notice(
    workspace: Workspace, snapshot: Snapshot, now: datetime, decided: Iterable[tuple[str, Ask, ConsentDecision]]
) -> Notice:
    """Return the asks that wait for an approval and the muted monitors, without reading any result.

    `decided` are the asks of all systems: the system, the ask, and the decision about it.
    """
    decided = list(decided)
    monitors = snapshot.monitors.monitors
    waiting = []
    resting: set[str] = set()
    by_name = {monitor.name: monitor for monitor in monitors}
    # A waiting task is the only open one with its title.
    tasks = snapshot.tasks
    acting: dict[str, Task] = {}
    if any(ask.role == "action" and decision.waits for _, ask, decision in decided):
        acting = {task.title: task for task in tasks.open}
    for system, ask, decision in decided:
        if decision.allowed:
            continue
        monitor = by_name.get(ask.name) if ask.file == MONITORS else None
        if monitor is not None and ask.role != "remediate":
            resting.add(ask.name)
        if decision.waits:
            place = ask.file if system == "files" else system
            acts = acting.get(ask.name) if ask.role == "action" and monitor is None else None
            ref = acts.ref if acts is not None else "" if monitor is None else monitor.ref
            waiting.append(WaitingAsk(ask, decision.why, place, ref, monitor))
    if not monitors:
        return Notice(tuple(waiting))
    mutes: dict[str, datetime] = {}
    with closing(ledger_of(workspace)) as ledger, suppress(RefusedError):
        mutes = {key: until for key, until in ledger.times("mute").items() if until > now}
    muted = [(monitor, mutes[key]) for monitor in monitors if (key := key_of(monitor.name)) in mutes]
    refs = frozenset(monitor.ref for monitor in monitors if monitor.name in resting)
    return Notice(tuple(waiting), tuple(muted), mutes.get("*"), refs)


def _remedies(snapshot: Snapshot, trust: Trust | None) -> dict[str, str]:
    """Return the status of remediations, by the names of their monitors."""
    if trust is None or not any(monitor.auto_remediate for monitor in snapshot.monitors.monitors):
        return {}

    found = {}
    for ask in monitor_asks(snapshot.monitors.monitors):
        if ask.role == "remediate":
            decision = trust.decide(ask)
            waits = decision.waits
            found[ask.name] = "approved" if decision.allowed else f"waits: {decision.why}" if waits else decision.why
    return found
