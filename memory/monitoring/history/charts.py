"""What a person looks at to see how monitors are and were: outages by the hour and by the day, latency, who is silent.

Only read, from the record and the files; see `overview.standings` for the rest of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Literal

from memory.base.safe_text import visible
from memory.errors import RefusedError
from memory.files.monitors import FILE as MONITORS
from memory.monitoring.alerts.options import AlertOptions, ancestors, read_options
from memory.monitoring.alerts.state import AlertState
from memory.monitoring.alerts.windows import ends_at
from memory.monitoring.run.ledger import MonitorLedger, key_of, read_stamp, stamp

from .overview import MonitorStanding, standings
from .results import blocked_since, measured

if TYPE_CHECKING:
    from memory.files.monitors import Monitor
    from memory.files.snapshot import Snapshot
    from memory.trust.consent import Ask, ConsentDecision, Trust
    from memory.workspace import Workspace

HOURS, DAYS = 24, 30
"""How far back the two strips go."""
POINTS = 60
"""The most points of a latency line."""

Part = Literal["", "well", "partly", "down"]
"""What a part of a strip says: not checked, always healthy, sometimes not, never."""


@dataclass(frozen=True, slots=True)
class Picture:
    """One monitor to look at. Strips and latencies (seconds) go from the oldest to the newest.

    `silenced` says why nobody would hear of an alert now, beside a mute (empty: somebody would). `remedy` says how
    its remediation stands: `approved`, `waits for an approval` or why it cannot run; empty where it has none.
    """

    standing: MonitorStanding
    hours: tuple[Part, ...] = ()
    days: tuple[Part, ...] = ()
    latencies: tuple[float, ...] = ()
    silenced: str = ""
    remedy: str = ""
    checks: Mapping[str, int] = field(default_factory=dict)
    """How many checks measured something over each span of the uptime."""
    blocked_since: datetime | None = None
    """When it was first found that it may not run; None where nobody looked since, or where it may."""


@dataclass(frozen=True, slots=True)
class WaitingAsk:
    """Something that waits for a person, `why` in a few words.

    `place` is the memory file that asks for it, or the name of another system, `ref` the entry where one does,
    `monitor` the monitor where it is one.
    """

    ask: Ask
    why: str
    place: str
    ref: str = ""
    monitor: Monitor | None = None

    @property
    def role(self) -> str:
        """What it would do, in a word."""
        return {"remediate": "remedy", "url": "check"}.get(self.ask.role, self.ask.role)


@dataclass(frozen=True, slots=True)
class Notice:
    """What the record and the approvals add to what the files say: who waits for an approval, who is muted."""

    waiting: tuple[WaitingAsk, ...] = ()
    muted: tuple[tuple[Monitor, datetime], ...] = ()
    all_muted: datetime | None = None
    resting: frozenset[str] = frozenset()
    """The refs of monitors that do not run as it is, for whatever reason."""


def pictures(workspace: Workspace, snapshot: Snapshot, now: datetime, trust: Trust | None) -> dict[str, Picture]:
    """Return a picture of each monitor by its ref; reads the record and makes none."""
    monitors = snapshot.monitors.monitors
    if not monitors:
        return {}
    found = standings(workspace, snapshot, now, trust)
    ledger = MonitorLedger(None if workspace.state is None else workspace.state.folder)
    try:
        hours, days = _strip(ledger, now, timedelta(hours=1), HOURS), _strip(ledger, now, timedelta(days=1), DAYS)
        latencies, sums, since = _latencies(ledger), measured(ledger, now), blocked_since(ledger)
    except RefusedError:
        hours, days, latencies, sums, since = {}, {}, {}, {}, {}
    finally:
        ledger.close()
    options = {monitor.name: read_options(monitor) for monitor in monitors}
    alerts = {one.monitor.name: one.alert for one in found}
    remedies = _remedies(snapshot, trust)
    pictured = {}
    for one in found:
        key = key_of(one.monitor.name)
        pictured[one.monitor.ref] = Picture(
            one,
            hours.get(key, ()),
            days.get(key, ()),
            latencies.get(key, ()),
            _silenced(one.monitor, options, alerts, now, snapshot),
            remedies.get(one.monitor.at, ""),
            {span: checks for span, (checks, _) in sums.get(key, {}).items()},
            since.get(key) if one.blocked else None,
        )
    return pictured


def notice(
    workspace: Workspace, snapshot: Snapshot, now: datetime, decided: Iterable[tuple[str, Ask, ConsentDecision]]
) -> Notice:
    """Return who waits for an approval and who is muted, without a look at any result.

    `decided` is what all systems ask for: the system, what it asks for, and what was decided about it.
    """
    from memory.trust.asks import acting_places

    monitors = snapshot.monitors.monitors
    waiting = []
    resting: set[str] = set()
    by_name = {monitor.name: monitor for monitor in monitors}
    # There is no other open task of its title where one waits. Of many tasks none is made for its ref alone.
    tasks, acting = snapshot.tasks, acting_places(snapshot.tasks)
    for system, ask, decision in decided:
        if decision.allowed:
            continue
        monitor = by_name.get(ask.name) if ask.file == MONITORS else None
        if monitor is not None and ask.role != "remediate":
            resting.add(ask.name)
        if decision.waits:
            place = ask.file if system == "files" else system
            acts = acting.get(ask.name) if ask.role == "action" and monitor is None else None
            ref = tasks.ref_of(acts) if acts is not None else "" if monitor is None else monitor.ref
            waiting.append(WaitingAsk(ask, decision.why, place, ref, monitor))
    if not monitors:
        return Notice(tuple(waiting))
    ledger = MonitorLedger(None if workspace.state is None else workspace.state.folder)
    try:
        mutes = {key: until for key, until in ledger.mutes().items() if until > now}
    except RefusedError:
        mutes = {}
    finally:
        ledger.close()
    muted = [(monitor, mutes[key]) for monitor in monitors if (key := key_of(monitor.name)) in mutes]
    refs = frozenset(monitor.ref for monitor in monitors if monitor.name in resting)
    return Notice(tuple(waiting), tuple(muted), mutes.get("*"), refs)


def _asks(snapshot: Snapshot) -> tuple[Ask, ...]:
    from memory.trust.consent import monitor_asks

    return monitor_asks(snapshot.monitors.monitors)


def _remedies(snapshot: Snapshot, trust: Trust | None) -> dict[tuple[int, int], str]:
    """Return how remediations stand, by their monitor's place in the file."""
    if trust is None or not any(monitor.auto_remediate for monitor in snapshot.monitors.monitors):
        return {}
    decisions = {ask.name: trust.decide(ask) for ask in _asks(snapshot) if ask.role == "remediate"}
    found = {}
    for monitor in snapshot.monitors.monitors:
        decision = decisions.get(monitor.name)
        if decision is not None:
            waits = decision.waits
            found[monitor.at] = "approved" if decision.allowed else f"waits: {decision.why}" if waits else decision.why
    return found


def _silenced(
    monitor: Monitor,
    options: Mapping[str, AlertOptions],
    alerts: Mapping[str, AlertState],
    now: datetime,
    snapshot: Snapshot,
) -> str:
    """Say why nobody would hear of an alert of a monitor, beside a mute."""
    end = ends_at(options[monitor.name].maintenance, now, snapshot.zone)
    if end is not None:
        return f"maintenance window until {end.astimezone(snapshot.zone):%H:%M}"
    parents = {name: one.depends_on for name, one in options.items()}
    down = next((name for name in ancestors(monitor.name, parents) if name in alerts and alerts[name].alerting), None)
    if down is not None:
        return f"{visible(down)[:60]} is down, on which it depends"
    return ""


def _strip(ledger: MonitorLedger, now: datetime, span: timedelta, count: int) -> dict[str, tuple[Part, ...]]:
    """Return for each monitor `count` spans of time, the newest last, which ends with the hour of `now`."""
    seconds = span.total_seconds()
    last = read_stamp(stamp(now)[:13] + ":00:00Z")
    # The hour of `now` is the last one of the newest span.
    first = stamp(last - count * span + timedelta(hours=1))[:13]
    rows = ledger.run(
        lambda db: db.execute(
            "SELECT monitor, CAST((? - strftime('%s', hour || ':00:00')) / ? AS INTEGER) AS back, "
            "sum(checks), sum(up) FROM hour WHERE hour >= ? AND hour <= ? GROUP BY monitor, back",
            (int(last.timestamp()), int(seconds), first, stamp(last)[:13]),
        ).fetchall(),
        None,
        make=False,
    )
    found: dict[str, list[Part]] = {}
    for monitor, back, checks, up in rows or ():
        if 0 <= back < count:
            parts: list[Part] = found.setdefault(monitor, [""] * count)
            parts[count - 1 - back] = "well" if up == checks else "partly" if up else "down"
    return {monitor: tuple(parts) for monitor, parts in found.items()}


def _latencies(ledger: MonitorLedger) -> dict[str, tuple[float, ...]]:
    """Return how long the newest checks took, in seconds; those that measured nothing are left out."""
    rows = ledger.run(
        lambda db: db.execute(
            "SELECT monitor, seconds FROM (SELECT monitor, seconds, seq, row_number() OVER "
            "(PARTITION BY monitor ORDER BY seq DESC) AS place FROM result WHERE seconds IS NOT NULL) "
            "WHERE place <= ? ORDER BY monitor, seq",
            (POINTS,),
        ).fetchall(),
        None,
        make=False,
    )
    found: dict[str, list[float]] = {}
    for monitor, seconds in rows or ():
        found.setdefault(monitor, []).append(seconds)
    return {monitor: tuple(values) for monitor, values in found.items()}
