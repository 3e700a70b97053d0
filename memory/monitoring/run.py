"""The watch: one run over the due monitors, from the claim of each instant to the message that is sent.

The order of a run: take the lead, claim the due monitors, check them, follow their results (alerts, remediations,
messages), record, and write everything back in one transaction. What a crash interrupts is never run twice; messages
and journal entries that it delayed follow with the next run.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import closing
from datetime import datetime
from functools import partial

from memory.base.clock import format_utc
from memory.errors import BusyError, MemdeckError
from memory.files.find import find_monitor
from memory.files.monitors.model import Monitor
from memory.monitoring.alerts import AlertState
from memory.monitoring.checks import run_checks
from memory.monitoring.consequences import Consequences, write_back
from memory.monitoring.ledger import WATCHED, JournalNote, Leader, MonitorLedger, key_of, ledger_of
from memory.monitoring.result import Result, State, last_status, one_line
from memory.monitoring.schedule import BEAT, BEAT_TITLE, NOTE, Beat, beat, due_of, schedules
from memory.monitoring.settings import broken
from memory.monitoring.watch import RunContext, Watch, WatchedMonitor, WatchServices
from memory.trust.asks import Ask, checks_of
from memory.trust.consent import Trust
from memory.workspace import Workspace

OPERATION = "monitors"
ACTOR = "monitor"


def keep_watch(
    workspace: Workspace,
    trust: Trust,
    now: datetime,
    services: WatchServices,
    *,
    names: Sequence[str] | None = None,
    everything: bool = False,
    heartbeat: bool = True,
    wait: float = 0.0,
    actor: str = ACTOR,
) -> Watch:
    """Run the monitors that are due at `now` (or those of `names`, by ref or name; or all), and the heartbeat if due.

    If another process has the lead, this waits up to `wait` seconds, then
    returns a busy watch: the other process does the due work. Raises NotFoundError and AmbiguousError for names,
    BusyError `monitors.busy` if monitors were requested. The error of a monitor is in its result. What could not be
    written back is among the warnings and follows with the next run.
    """
    asked = everything or names is not None
    for name in names or ():
        find_monitor(workspace.snapshot(), name)
    if not asked and not _anything(workspace, heartbeat, now):
        return Watch()
    folder = workspace.state.folder
    with closing(Leader(folder)) as leader, closing(MonitorLedger(folder)) as ledger:
        if not leader.take(wait):
            if asked:
                raise BusyError(
                    "monitors.busy", "another process runs the monitors of this workspace", "try again when it is done"
                )
            return Watch(busy=True)
        run = RunContext(workspace, workspace.snapshot(), trust, ledger, now, services)
        return _whole(run, names, everything, heartbeat and not asked, actor)


def _anything(workspace: Workspace, heartbeat: bool, now: datetime) -> bool:
    """Return whether there is anything to watch; if not, nothing is created outside the workspace."""
    snapshot = workspace.snapshot()
    if snapshot.monitors.monitors or (heartbeat and snapshot.config.get("expression") is not None):
        return True
    with closing(ledger_of(workspace)) as ledger:
        return bool(ledger.held(now) or ledger.unwritten())


def _whole(run: RunContext, names: Sequence[str] | None, everything: bool, heartbeat: bool, actor: str) -> Watch:
    """Do all steps of the run, and return its report."""
    for name in run.ledger.take_over():
        if not name.startswith("\0"):  # Not for the heartbeat or maintenance: there it does no harm.
            run.warnings.append(f"the last run of {name[:60]!r} was interrupted; it is not run again for its time")
    watched = _choose(run, names, everything)
    pulse = _pulse(run) if heartbeat else None
    _check(run, [one for one in watched if one.runs])
    followed = Consequences(run, watched)
    if watched or run.ledger.held(run.now):
        followed.follow()
    beaten = None
    if pulse is not None:
        checked = {one.monitor.name for one in watched if one.result.ran}
        beaten = beat(run.snapshot, run.ledger.kept("note").get(NOTE, {}), run.now, run.snapshot.zone, checked)
    _record(run, watched, followed.states, followed.notes, pulse, beaten)
    _write(run, watched, actor)
    return Watch(
        tuple(watched),
        tuple(run.blocked.values()),
        beaten.lines if beaten is not None else (),
        beaten is not None,
        (*dict.fromkeys(run.warnings), *run.ledger.warnings),
    )


def _choose(run: RunContext, names: Sequence[str] | None, everything: bool) -> list[WatchedMonitor]:
    """Return the monitors to run. Due ones are claimed, except blocked ones: these stay due until they may run.

    A due monitor that is run on request uses up its due time: it does not run for that time again.
    """
    monitors = run.snapshot.monitors.monitors
    timed = [one for one in schedules(run.snapshot) if one.monitor is not None]
    due, problems = due_of(timed, run.ledger.last_claims(run.now), run.now, run.snapshot.zone)
    instants = {one.monitor.ref: at for one, at in due if one.monitor is not None}
    if names is not None:
        refs = {monitor.ref: monitor for monitor in monitors}
        wanted = [refs.get(name) or find_monitor(run.snapshot, name) for name in names]
    elif everything:
        wanted = list(monitors)
    else:
        run.warnings += problems
        wanted = [one.monitor for one, _ in due if one.monitor is not None]
    checks, twice = checks_of(run.asks), Counter(monitor.name for monitor in monitors)
    chosen = [
        _decided(run, monitor, instants.get(ref), checks.get(monitor.name), twin=twice[monitor.name] > 1)
        for ref, monitor in {monitor.ref: monitor for monitor in wanted}.items()
    ]
    claims = {one.monitor.ref: (key_of(one.monitor.name), one.due) for one in chosen if one.due and one.answers}
    taken = run.ledger.claim(claims.values(), run.now) if claims else set()
    for one in chosen:
        if one.monitor.ref in claims and claims[one.monitor.ref] not in taken:
            one.due = None  # Another process has it.
    asked = everything or names is not None
    return [one for one in chosen if asked or one.due is not None]


def _decided(run: RunContext, monitor: Monitor, due: datetime | None, ask: Ask | None, *, twin: bool) -> WatchedMonitor:
    """Return a monitor that is to run, or the result why it does not.

    What an edit of the file alone could make run is an error, what a person has not approved is blocked.
    """
    decision = run.decide(ask)
    why = broken(monitor, run.workspace.root)
    if not why and ask is None and twin:
        why = "another monitor has the same name"
    if not why and ask is not None:
        run.block(ask, decision)
        why = decision.why if decision.state == "refused" else ""
    if why:
        return WatchedMonitor(monitor, Result(monitor.name, "error", one_line(why)), due, ask)
    allowed = ask is None or decision.allowed
    state: State = "skipped" if allowed or decision.state == "denied" else "blocked"
    return WatchedMonitor(monitor, Result(monitor.name, state, decision.why), due, ask, allowed)


def _check(run: RunContext, allowed: Sequence[WatchedMonitor]) -> None:
    """Check the monitors that may run."""
    if not allowed:
        return
    by_ref = {one.monitor.ref: one for one in allowed}
    if run.services.planned is not None:
        run.services.planned(tuple(one.monitor.name for one in allowed))
    planned = [(one.monitor, partial(run.decide, one.ask)) for one in allowed]
    for monitor, result in run_checks(planned, run.around()):
        by_ref[monitor.ref].checked = result
        if run.services.found is not None:
            run.services.found(result)


def _pulse(run: RunContext) -> datetime | None:
    """Claim the heartbeat if it is due; return its instant."""
    beats = [one for one in schedules(run.snapshot) if one.what == "heartbeat"]
    due, problems = due_of(beats, run.ledger.last_claims(run.now), run.now, run.snapshot.zone)
    run.warnings += problems
    return next((at for _, at in due if run.ledger.claim([(BEAT, at)], run.now)), None)


def _record(
    run: RunContext,
    watched: Sequence[WatchedMonitor],
    states: Mapping[str, AlertState],
    notes: Sequence[JournalNote],
    pulse: datetime | None,
    beaten: Beat | None,
) -> None:
    """Store results, states and pending entries in one step."""
    ledger = run.ledger
    claimed = {one.monitor.name: one.due for one in watched if one.due is not None and one.answers}

    def work(db: sqlite3.Connection) -> None:
        ledger.end(db, [*((key_of(name), due) for name, due in claimed.items()), *([(BEAT, pulse)] if pulse else [])])
        ledger.record(db, [one.result for one in watched if one.result.state != "skipped"], run.now, claimed)
        ledger.put(db, "alert", {key: state.json() for key, state in states.items()})
        ledger.put(db, "note", {WATCHED: {"at": format_utc(run.now)}})
        for note in notes:
            ledger.put_unwritten(db, note)
        if beaten is not None:
            ledger.put(db, "note", {NOTE: beaten.memory})
            if beaten.lines:
                ledger.put_unwritten(db, JournalNote(run.now, BEAT_TITLE, beaten.lines))

    ledger.run(work, None)


def _write(run: RunContext, watched: Sequence[WatchedMonitor], actor: str) -> None:
    """Write everything back in one transaction; what cannot be written now waits for the next run."""
    waiting = run.ledger.unwritten()
    statuses = {one.monitor.name: last_status(one.result) for one in watched if one.result.ran}
    if not waiting and not statuses:
        return
    try:
        run.workspace.change(
            OPERATION,
            lambda snapshot: write_back(snapshot, statuses, waiting, run.now),
            actor=actor,
            now=run.now,
        )
        run.ledger.drop([one.seq for one in waiting])
    except MemdeckError as error:
        run.warnings.append(f"the results are not in the files yet: {error.message}")
