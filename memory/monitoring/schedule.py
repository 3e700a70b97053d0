"""What is due in a workspace, when to look again, maintenance by its schedule, and the heartbeat.

A monitor is due at the newest instant of its interval, however many were missed before; one that never ran is due at
that instant too. A claimed instant is never due again. If the clock jumped back, repeated instants are already claimed;
if it jumped ahead, the missed ones collapse into one.

`look_ahead` claims and runs nothing: `run.keep_watch` and `maintain_if_due` do that when something is due. The claims
of maintenance are stored with those of the monitors, under the same lead. In a workspace that was never maintained, the
first due time is only claimed, and maintenance runs at the next one: opening it must not move anything by itself.

The heartbeat tells of tasks that are due, overdue or due later today, and of stale monitors. A fact is reported once,
and again when it changes or comes back; the record keeps what the last beat found.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any, NamedTuple, TypeVar

from memory.base.clock import format_local, format_utc
from memory.base.cron import BadCron, describe, latest_run, missed_twice, next_runs
from memory.base.problems import Problem
from memory.base.safe_text import plural
from memory.errors import MemdeckError
from memory.files.monitors import Monitor
from memory.files.snapshot import Snapshot
from memory.files.tasks.model import Task
from memory.monitoring.ledger import WATCHED, Leader, MonitorLedger, key_of, ledger_of
from memory.monitoring.result import plain
from memory.trust.asks import by_name, monitor_asks
from memory.trust.consent import Trust
from memory.workspace import Workspace

T = TypeVar("T")
UPKEEP = "\0maintenance"
"""The name under which maintenance claims its times; no monitor can have it."""
ACTOR = "maintain"
"""The actor of the maintenance."""

LONGEST = timedelta(seconds=60)
"""Maximum time between two checks, so that approvals, mutes and waiting messages are noticed."""
BEAT_TITLE = "Heartbeat Check"
NOTE = "heartbeat"
"""The key under which the record keeps the result of the last beat."""
BEAT = "\0heartbeat"
"""The name, which no monitor has, under which beats are claimed."""
SHOWN = 20


@dataclass(frozen=True, slots=True)
class Ahead:
    """The result of looking ahead.

    `scheduled`: whether there is a schedule at all; `watch`: whether monitors, the heartbeat or waiting messages are
    due; `upkeep`: whether maintenance is; `again`: when to check again; `heartbeat`: whether the workspace's is
    switched on.
    """

    scheduled: bool
    watch: bool
    upkeep: bool
    again: datetime
    heartbeat: bool = False


class Scheduled(NamedTuple):
    """What runs by itself: `what` is maintenance, heartbeat or monitors, `key` the name under which it is claimed."""

    what: str
    key: str
    expression: str
    monitor: Monitor | None = None


def schedules(snapshot: Snapshot, upkeep: str = "") -> tuple[Scheduled, ...]:
    """Return what has a schedule; `upkeep` is that of maintenance in a workspace that names none.

    A monitor without an interval runs on request. Of monitors with the same name the first counts.
    """
    config = snapshot.config
    found = {
        UPKEEP: Scheduled("maintenance", UPKEEP, config.get("maintenanceSchedule") or upkeep),
        BEAT: Scheduled("heartbeat", BEAT, config.get("expression") or ""),
    }
    for monitor in snapshot.monitors.items:
        key = key_of(monitor.name)
        if key not in found or not found[key].expression:
            found[key] = Scheduled("monitors", key, monitor.interval or "", monitor)
    return tuple(one for one in found.values() if one.expression)


def due_of(
    scheduled: Iterable[Scheduled], claimed: Mapping[str, datetime], now: datetime, zone: tzinfo
) -> tuple[list[tuple[Scheduled, datetime]], list[str]]:
    """Return what is due with its instant (UTC), and the problems of invalid schedules; `claimed` is
    `MonitorLedger.last_claims`.
    """
    due, problems = [], []
    for one in scheduled:
        try:
            found = due_instant(one.expression, claimed.get(one.key), now, zone)
        except BadCron as error:
            place = "config.md: expression" if one.monitor is None else ""
            if one.monitor is not None:
                place = f"{one.monitor.file}:{one.monitor.line + 1}: interval of {one.monitor.name[:60]!r}"
            problems.append(f"{place}: {error.message}")
            continue
        if found is not None:
            due.append((one, found))
    return due, problems


def look_ahead(workspace: Workspace, trust: Trust, now: datetime, upkeep: str = "") -> Ahead:
    """Return the work due at `now`; a monitor that needs a person's approval is not due, because it would not run.

    `upkeep` is the schedule of maintenance for a workspace that names none. Raises the errors of reading the files.
    """
    snapshot = workspace.snapshot()
    found = schedules(snapshot, upkeep)
    if not found:
        return Ahead(False, False, False, now + LONGEST)
    with closing(ledger_of(workspace)) as ledger:
        claims = ledger.last_claims(now)
        claims |= {UPKEEP: last} if (last := _last_maintenance(workspace, claims, now)) is not None else {}
        due = [one for one, _ in due_of(found, claims, now, snapshot.zone)[0]]
        waits = bool(ledger.held(now) or ledger.unwritten())
    asks = by_name(monitor_asks(snapshot.monitors.items), "check", "url") if due else {}

    def runs(one: Scheduled) -> bool:
        ask = None if one.monitor is None else asks.get(one.monitor.name)
        return one.what == "heartbeat" or (one.monitor is not None and (ask is None or trust.decide(ask).allowed))

    again = [run for one in found if (run := next_due(one.expression, now, snapshot.zone)) is not None]
    return Ahead(
        True,
        waits or any(map(runs, due)),
        any(one.what == "maintenance" for one in due),
        min([*again, now + LONGEST]),
        any(one.what == "heartbeat" for one in found),
    )


@dataclass(frozen=True, slots=True)
class Overdue:
    """What has not run for two of its periods: `what` is maintenance, monitors or heartbeat, `last` its last run."""

    what: str
    last: datetime
    schedule: str

    @property
    def message(self) -> str:
        """A sentence for people."""
        ran = "were checked last at" if self.what == "monitors" else "ran last at"
        return (
            f"{self.what} {ran} {format_utc(self.last)}, scheduled {describe(self.schedule)}: does cron still run it?"
        )

    def json(self) -> dict[str, str]:
        """Return it under the keys of the interface."""
        last = format_utc(self.last)
        return {"what": self.what, "last": last, "schedule": self.schedule, "message": self.message}


def overdue(workspace: Workspace, now: datetime) -> tuple[Overdue, ...]:
    """Return what ran in this workspace before, and has not for two of its periods; empty if the record is refused."""
    snapshot = workspace.snapshot().readable()
    late: dict[str, Overdue] = {}
    with closing(ledger_of(workspace)) as ledger, suppress(MemdeckError):
        notes = ledger.kept("note")
        ran = {
            "maintenance": _last_maintenance(workspace, ledger.last_claims(now), now),
            "monitors": _noted(notes, WATCHED),
            "heartbeat": _noted(notes, NOTE),
        }
        for one in schedules(snapshot):
            last = ran[one.what]
            if last is not None and missed_twice(one.expression, last, now, snapshot.zone):
                late.setdefault(one.what, Overdue(one.what, last, one.expression))
    return tuple(late.values())


def overdue_problems(workspace: Workspace, now: datetime) -> tuple[Problem, ...]:
    """Return warnings about what no longer runs regularly, and about stale monitors."""
    snapshot = workspace.snapshot().readable()
    found = [Problem("warning", "config.md", 0, "upkeep.overdue", one.message) for one in overdue(workspace, now)]
    for one in snapshot.monitors.items:
        if one.stale(now, snapshot.zone):
            said = "never measured" if one.last_check is None else f"no result since {one.last_check}"
            found.append(Problem("warning", one.file, one.line + 1, "monitor.stale", f"{one.name[:60]}: {said}"))
    return tuple(found)


def _noted(notes: Mapping[str, Any], key: str) -> datetime | None:
    """Return when the record says that something ran."""
    with suppress(KeyError, TypeError, ValueError):
        return datetime.fromisoformat(notes[key]["at"])
    return None


def maintain_if_due(workspace: Workspace, now: datetime, maintain: Callable[[], T], upkeep: str = "") -> T | None:
    """Call `maintain` if its time has come and no other process claimed it; None if there was nothing to do.

    `upkeep` is the schedule for a workspace that names none.

    Raises ConfigError for an invalid schedule, and the errors of `maintain`; it is not tried again for the same time.
    """
    folder = workspace.state.folder
    with closing(Leader(folder)) as leader, closing(MonitorLedger(folder)) as ledger:
        if not leader.take():
            return None
        snapshot = workspace.snapshot()
        expression = snapshot.config.schedule() or upkeep
        last = _last_maintenance(workspace, ledger.last_claims(now), now)
        found = due_instant(expression, last, now, snapshot.zone) if expression else None
        if found is None or not ledger.claim([(UPKEEP, found)], now):
            return None
        # Done before it runs: if it fails now, it would also fail in a minute, so the error is reported once.
        ledger.run(lambda db: ledger.end(db, [(UPKEEP, found)]), None)
        return None if last is None else maintain()


def _last_maintenance(workspace: Workspace, claims: Mapping[str, datetime], now: datetime) -> datetime | None:
    """Return when it was last maintained, by its schedule or in any other way."""
    known = [claims[UPKEEP]] if UPKEEP in claims else []
    recorded = workspace.state.last_maintenance()
    if recorded is not None and recorded <= now:
        known.append(recorded)
    return max(known, default=None)


def due_instant(expression: str, last: datetime | None, now: datetime, zone: tzinfo) -> datetime | None:
    """Return the instant (UTC) at which something is due; None: it is not due.

    `last` is the newest claimed instant that is not in the future. Raises BadCron.
    """
    newest = latest_run(expression, now, zone)
    if newest is None:
        return None
    at = newest.astimezone(UTC)
    return at if last is None or at > last else None


def next_due(expression: str | None, now: datetime, zone: tzinfo) -> datetime | None:
    """Return the next instant of a schedule, None if it has none or is invalid."""
    if not expression:
        return None
    try:
        runs = next_runs(expression, now, zone)
    except BadCron:
        return None
    return runs[0] if runs else None


@dataclass(frozen=True, slots=True)
class Beat:
    """The result of a beat: the lines of its journal entry (none: no news), and the state for the next beat."""

    lines: tuple[str, ...]
    memory: dict[str, Any]


def beat(
    snapshot: Snapshot, known: Mapping[str, Any], now: datetime, zone: tzinfo, checked: Collection[str] = ()
) -> Beat:
    """Check tasks and monitors; `known` is the state of the last beat, empty before the first.

    `checked` names monitors that were just checked, which the snapshot may not show yet.
    """
    before = known.get("told")
    told = {fact for fact in before if isinstance(fact, str)} if isinstance(before, list) else set()
    last = _last_beat(known, now)
    tasks = [task for task in snapshot.tasks.open if b"due:" in task.entry.raw]
    due = [line for task in tasks if (line := _due(task, last, now, zone))]
    facts = list(dict.fromkeys([*due, *_stale(snapshot, now, zone, checked)]))
    news = [line for line in facts if line not in told]
    lines: list[str] = []
    if news:
        pending = sum(task.section == "pending" for task in snapshot.tasks.items)
        lines = [f"{plural(pending, 'pending task')} found", *news[:SHOWN]]
        if len(news) > SHOWN:
            lines.append(f"and {len(news) - SHOWN} more")
    return Beat(tuple(lines), {"told": facts, "at": now.astimezone(UTC).isoformat()})


def _last_beat(known: Mapping[str, Any], now: datetime) -> datetime:
    """Return when the last beat was, at most a day ago; a day ago if that is not known."""
    earliest = now - timedelta(days=1)
    try:
        at = datetime.fromisoformat(str(known.get("at")))
    except ValueError:
        return earliest
    return max(at, earliest) if at.tzinfo is not None and at <= now else earliest


def _quoted(title: str) -> str:
    return '"' + plain(title, 80).replace('"', "'") + '"'


def _due(task: Task, last: datetime, now: datetime, zone: tzinfo) -> str:
    """Return the line for a task that is overdue, due, or due later today, or whose recurrence came since the last
    beat; "" for any other.
    """
    moment, name, today = task.due_moment(zone), _quoted(task.title), now.astimezone(zone).date()
    if moment is None:
        try:
            run = latest_run(task.recurring, now, zone) if task.recurring else None
        except BadCron:
            run = None
        return f"Due: {name} (since {format_local(run, zone)})" if run is not None and run > last else ""
    if moment.date < today:
        return f"Overdue: {name} (due {moment.text})"
    if moment.date > today and (moment.instant is None or moment.instant > now):
        return ""
    if moment.instant is None:
        return f"Due: {name} (today)"
    clock = format_local(moment.instant, zone)[11:]
    return f"Due: {name} (since {clock})" if moment.instant <= now else f"Deferred: {name} (due at {clock})"


def _stale(snapshot: Snapshot, now: datetime, zone: tzinfo, fresh: Collection[str]) -> Iterator[str]:
    """Yield a line for every monitor without a result for two of its intervals."""
    for monitor in snapshot.monitors.items:
        checked = monitor.checked_at(zone)
        if checked is not None and monitor.name not in fresh and monitor.stale(now, zone):
            yield (
                f"Drift: monitor {_quoted(monitor.name)} was last checked {format_local(checked, zone)}, "
                f"its interval is {plain(describe(monitor.interval or ''), 40)}"
            )
