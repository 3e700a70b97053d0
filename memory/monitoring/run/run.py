"""The watch: one run over the due monitors, from the claim of each instant to the message that is sent.

The order of a run: take the lead, claim the due monitors, check them, advance the alerts, remediate and check again,
send, record, and write everything back in one transaction. What a crash interrupts is never run twice; messages and
journal entries that it delayed follow with the next run.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property, partial

from memory.base.clock import format_utc
from memory.errors import BusyError, MemdeckError
from memory.files.monitors import Monitor, find_monitor
from memory.monitoring.alerts.state import AlertState
from memory.monitoring.checks.check import run_checks
from memory.monitoring.checks.result import Result, last_status, one_line
from memory.monitoring.history.results import record_results
from memory.monitoring.problems import broken
from memory.trust.consent import Ask, ConsentDecision, Trust, checks_of
from memory.workspace import Workspace

from .consequences import Telling, write_back
from .due import due_instant, due_monitors
from .heartbeat import KEY as BEAT
from .heartbeat import NOTE, Beat, beat
from .heartbeat import TITLE as BEAT_TITLE
from .leader import Leader
from .ledger import WATCHED, JournalNote, MonitorLedger, key_of, ledger_of
from .report import Watch, WatchedMonitor
from .watching import Watching, WatchServices

OPERATION = "monitors"
ACTOR = "monitor"


@dataclass(frozen=True, slots=True)
class _Chosen:
    """A monitor that is to run, the person's decision about it, and the instant for which it runs.

    `broken` is why it cannot run, even if a person approves it; empty if it can.
    """

    monitor: Monitor
    ask: Ask | None
    decision: ConsentDecision
    due: datetime | None
    broken: str = ""

    @property
    def runs(self) -> bool:
        """Whether it may run: a person approved it, or it needs no approval."""
        return not self.broken and (self.decision.allowed or (self.ask is None and self.decision.state == "pending"))

    @property
    def answers(self) -> bool:
        """Whether this run uses up its due time: it runs, or only an edit of the file could make it run."""
        return self.runs or bool(self.broken)


def keep_watch(
    workspace: Workspace,
    trust: Trust | None,
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

    Without `trust` nothing counts as approved. If another process has the lead, this waits up to `wait` seconds, then
    returns a busy watch: the other process does the due work. Raises NotFoundError and AmbiguousError for names,
    BusyError `monitors.busy` if monitors were requested. The error of a monitor is in its result. What could not be
    written back is among the warnings and follows with the next run.
    """
    asked = everything or names is not None
    if asked:
        for name in names or ():
            find_monitor(workspace.snapshot(), name)
    elif not _anything(workspace, heartbeat, now):
        return Watch()
    folder = workspace.state.folder
    with closing(Leader(folder)) as leader, closing(MonitorLedger(folder)) as ledger:
        if not leader.take(wait):
            if asked:
                raise BusyError(
                    "monitors.busy", "another process runs the monitors of this workspace", "try again when it is done"
                )
            return Watch(busy=True)
        run = _Run(workspace, workspace.snapshot(), trust, ledger, now, services, actor)
        return run.whole(names, everything, heartbeat and not asked)


def _anything(workspace: Workspace, heartbeat: bool, now: datetime) -> bool:
    """Return whether there is anything to watch; if not, nothing is created outside the workspace."""
    snapshot = workspace.snapshot()
    beats = heartbeat and snapshot.config.get("expression") is not None
    if snapshot.monitors.monitors or beats:
        return True
    with closing(ledger_of(workspace)) as ledger:
        return bool(ledger.held(now) or ledger.unwritten())


class _Run(Watching):
    """One run, while it has the lead."""

    def whole(self, names: Sequence[str] | None, everything: bool, heartbeat: bool) -> Watch:
        for name in self.ledger.take_over():
            if not name.startswith("\0"):  # Not for the heartbeat or maintenance: there it does no harm.
                self.warnings.append(f"the last run of {name[:60]!r} was interrupted; it is not run again for its time")
        chosen = self._choose(names, everything)
        pulse = self._pulse() if heartbeat else None
        results = self._check(chosen)
        watched: list[WatchedMonitor] = []
        states: Mapping[str, AlertState] = {}
        notes: Sequence[JournalNote] = ()
        if chosen or self.ledger.held(self.now):
            telling = Telling(self, {one.monitor.name: (one.monitor, one.ask) for one in chosen})
            watched = telling.follow([(one.monitor, results[number], one.due) for number, one in enumerate(chosen)])
            states, notes = telling.states, telling.notes
        beaten = None
        if pulse is not None:
            checked = {one.monitor.name for one in watched if one.result.ran}
            beaten = beat(self.snapshot, self.ledger.kept("note").get(NOTE, {}), self.now, self.snapshot.zone, checked)
        self._record(watched, chosen, states, notes, pulse, beaten)
        change = self._write(watched)
        return Watch(
            tuple(watched),
            tuple(self.blocked),
            beaten.lines if beaten is not None else (),
            beaten is not None,
            (*dict.fromkeys(self.warnings), *self.ledger.warnings),
            change=change,
        )

    # -- what runs --------------------------------------------------------------------------------------------

    def _choose(self, names: Sequence[str] | None, everything: bool) -> list[_Chosen]:
        """Return the monitors to run. Due ones are claimed, except blocked ones: these stay due until they may run.

        A due monitor that is run on request uses up its due time: it does not run for that time again.
        """
        asked = everything or names is not None
        snapshot = self.snapshot
        found = due_monitors(snapshot.monitors.monitors, self.ledger.last_claims(self.now), self.now, snapshot.zone)
        instants = {monitor.ref: at for monitor, at in found.due}
        if names is not None:
            refs = {monitor.ref: monitor for monitor in snapshot.monitors.monitors}
            wanted = [refs.get(name) or find_monitor(snapshot, name) for name in names]
        elif everything:
            wanted = list(snapshot.monitors.monitors)
        else:
            self.warnings += found.problems
            wanted = [monitor for monitor, _ in found.due]
        monitors = {monitor.ref: monitor for monitor in wanted}
        chosen = [self._decided(monitor, instants.get(ref)) for ref, monitor in monitors.items()]
        claims = {
            one.monitor.ref: (key_of(one.monitor.name), one.due)
            for one in chosen
            if one.due is not None and one.answers
        }
        if not claims:
            return chosen
        taken = self.ledger.claim(claims.values(), self.now)
        lost = {ref for ref, claim in claims.items() if claim not in taken}
        if asked:
            return [replace(one, due=None) if one.monitor.ref in lost else one for one in chosen]
        return [one for one in chosen if one.monitor.ref not in lost]

    def _decided(self, monitor: Monitor, due: datetime | None) -> _Chosen:

        ask = self._checks.get(monitor.name)
        decision = self.decide(ask)
        why = broken(monitor, self.workspace.root)
        if not why and ask is None and self._names[monitor.name] > 1:
            why = "another monitor has the same name"
        if not why and ask is not None:
            self.block(ask, decision)
            why = decision.why if decision.state == "refused" else ""
        return _Chosen(monitor, ask, decision, due, why)

    @cached_property
    def _checks(self) -> Mapping[str, Ask]:
        return checks_of(self.asks)

    @cached_property
    def _names(self) -> Counter[str]:
        return Counter(monitor.name for monitor in self.snapshot.monitors.monitors)

    def _check(self, chosen: Sequence[_Chosen]) -> list[Result]:
        """Return a result for each; a monitor that a person has not approved is blocked and is not even tried.

        A monitor that cannot be approved, because it cannot run, is an error of its file.
        """
        results: dict[str, Result] = {}
        allowed: list[_Chosen] = []
        for one in chosen:
            if one.runs:
                allowed.append(one)
            elif one.broken:
                results[one.monitor.ref] = Result(one.monitor.name, "error", one_line(one.broken))
            else:
                state = "skipped" if one.decision.state == "denied" else "blocked"
                results[one.monitor.ref] = Result(one.monitor.name, state, one.decision.why)  # type: ignore[arg-type]
        if allowed:
            planned = [(one.monitor, partial(self.decide, one.ask)) for one in allowed]
            if self.services.planned is not None:
                self.services.planned(tuple(one.monitor.name for one in allowed))
            for monitor, result in run_checks(planned, self.around()):
                results[monitor.ref] = result
                if self.services.found is not None:
                    self.services.found(result)
        return [results[one.monitor.ref] for one in chosen]

    # -- the heartbeat ----------------------------------------------------------------------------------------

    def _pulse(self) -> datetime | None:
        """Claim the heartbeat if it is due; return its instant."""
        expression = self.snapshot.config.get("expression")
        if expression is None:
            return None
        try:
            found = due_instant(expression, self.ledger.last_claims(self.now).get(BEAT), self.now, self.snapshot.zone)
        except MemdeckError as error:
            self.warnings.append(f"config.md: expression: {error.message}")
            return None
        return found if found is not None and self.ledger.claim([(BEAT, found)], self.now) else None

    # -- afterwards -------------------------------------------------------------------------------------------

    def _record(
        self,
        watched: Sequence[WatchedMonitor],
        chosen: Sequence[_Chosen],
        states: Mapping[str, AlertState],
        notes: Sequence[JournalNote],
        pulse: datetime | None,
        beaten: Beat | None,
    ) -> None:
        """Store results, states and pending entries in one step."""
        claimed = {one.monitor.name: one.due for one in chosen if one.due is not None and one.answers}
        done = [(key_of(name), due) for name, due in claimed.items()]
        if pulse is not None:
            done.append((BEAT, pulse))

        def work(db: sqlite3.Connection) -> None:
            self.ledger.end(db, done)
            results = [one.result for one in watched if one.result.state != "skipped"]
            record_results(db, results, self.now, claimed)
            self.ledger.put(db, "alert", {key_of(name): state.json() for name, state in states.items()})
            self.ledger.put(db, "note", {WATCHED: {"at": format_utc(self.now)}})
            for note in notes:
                self.ledger.put_unwritten(db, note)
            if beaten is not None:
                self.ledger.put(db, "note", {NOTE: beaten.memory})
                if beaten.lines:
                    self.ledger.put_unwritten(db, JournalNote(self.now, BEAT_TITLE, beaten.lines))

        self.ledger.run(work, None)

    def _write(self, watched: Sequence[WatchedMonitor]) -> str | None:
        """Write everything back in one transaction; what cannot be written now waits for the next run."""
        waiting = self.ledger.unwritten()
        statuses = {one.monitor.name: last_status(one.result) for one in watched if one.result.ran}
        if not waiting and not statuses:
            return None

        try:
            outcome = self.workspace.change(
                OPERATION,
                lambda snapshot: write_back(snapshot, statuses, waiting, self.now),
                actor=self.actor,
                now=self.now,
            )
        except MemdeckError as error:
            self.warnings.append(f"the results are not in the files yet: {error.message}")
            return None
        if waiting:
            self.ledger.drop([one.seq for one in waiting])
        return outcome.change.id if outcome.change.files else None
