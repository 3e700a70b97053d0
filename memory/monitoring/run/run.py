"""Keeping watch: one run over what is due, from the claim of each instant to the message that goes out.

The order of a run: take the lead, claim what is due, check it, advance the alerts, remediate and look again, send,
record, and write everything back in one transaction. What a crash interrupts is never run twice; messages and journal
entries that it kept back follow with the next run.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING

from memory.errors import MemdeckError
from memory.files.monitors import Monitor, find_monitor
from memory.monitoring.checks.result import Result, last_status, one_line
from memory.monitoring.history.results import record_results

from .due import due_instant, due_monitors
from .heartbeat import KEY as BEAT
from .heartbeat import NOTE, Beat, beat
from .heartbeat import TITLE as BEAT_TITLE
from .leader import Leader, busy
from .ledger import MonitorLedger, has_record, key_of
from .report import Watch, WatchedMonitor
from .writing import JournalNote, write_back

if TYPE_CHECKING:
    import sqlite3

    from memory.files.snapshot import Snapshot
    from memory.monitoring.alerts.channels import Addresses
    from memory.monitoring.alerts.deliver import Send
    from memory.monitoring.alerts.state import AlertState
    from memory.monitoring.checks.context import Around
    from memory.trust.consent import Ask, ConsentDecision, Trust
    from memory.workspace import Workspace

    from .cancel import Cancel

OPERATION = "monitors"
ACTOR = "monitor"


@dataclass(frozen=True, slots=True)
class WatchServices:
    """What a watch reaches beside the workspace.

    `environ` is what commands and channels may get variables from, `addresses` where messages can go (None: nowhere),
    `send` how (None: by apprise), `pause` how it waits before it looks whether a remediation helped, `found` hears of
    each result as it comes, in the thread of the watch.

    `planned` hears before that which monitors are about to be checked, by name.
    """

    environ: Mapping[str, str]
    addresses: Addresses | None = None
    send: Send | None = None
    pause: Callable[[float], object] | None = None
    found: Callable[[Result], object] | None = None
    cancel: Cancel | None = None
    planned: Callable[[tuple[str, ...]], object] | None = None


@dataclass(frozen=True, slots=True)
class _Chosen:
    """A monitor that is to run, what a person decided about it, and the instant for which it runs.

    `broken` says why it cannot run, whatever a person decides; empty where it can.
    """

    monitor: Monitor
    ask: Ask | None
    decision: ConsentDecision
    due: datetime | None
    broken: str = ""

    @property
    def runs(self) -> bool:
        """Whether it may run: a person approved it, or it reaches nothing by itself."""
        return not self.broken and (self.decision.allowed or (self.ask is None and self.decision.state == "pending"))

    @property
    def answers(self) -> bool:
        """Whether its time is over with this run: it runs, or nothing but another file would let it run."""
        return self.runs or bool(self.broken)


def keep_watch(
    workspace: Workspace,
    trust: Trust | None,
    now: datetime,
    ways: WatchServices,
    *,
    names: Sequence[str] | None = None,
    everything: bool = False,
    heartbeat: bool = True,
    wait: float = 0.0,
    actor: str = ACTOR,
) -> Watch:
    """Run the monitors that are due at `now` (or those of `names`, by ref or name; or all), and the heartbeat if due.

    Without `trust` nothing counts as approved. While another process has the lead this waits `wait` seconds, and
    returns a busy watch: it does what is due. Raises NotFoundError and AmbiguousError for names, BusyError
    `monitors.busy` where monitors were asked for by name. What goes wrong with one of them is in its result; what
    could not be written back is among the warnings and follows with the next run.
    """
    asked = everything or names is not None
    if asked:
        for name in names or ():
            find_monitor(workspace.snapshot(), name)
    elif not _anything(workspace, heartbeat):
        return Watch()
    folder = None if workspace.state is None else workspace.state.folder
    leader = Leader(folder)
    if not leader.take(wait):
        if asked:
            raise busy()
        return Watch(busy=True)
    ledger = MonitorLedger(folder)
    try:
        run = _Run(workspace, trust, ledger, now, ways, actor)
        watch = run.whole(names, everything, heartbeat and not asked)
        return replace(watch, warnings=(*watch.warnings, *ledger.warnings))
    finally:
        ledger.close()
        leader.release()


def _anything(workspace: Workspace, heartbeat: bool) -> bool:
    """Tell whether there is anything to watch over; where there is not, nothing is made outside of the workspace."""
    snapshot = workspace.snapshot()
    if snapshot.monitors.monitors or (heartbeat and snapshot.config.get("expression") is not None):
        return True
    return has_record(workspace)


class _Run:
    """One run, while it has the lead."""

    def __init__(
        self,
        workspace: Workspace,
        trust: Trust | None,
        ledger: MonitorLedger,
        now: datetime,
        ways: WatchServices,
        actor: str,
    ) -> None:
        self.workspace = workspace
        self.trust = trust
        self.ledger = ledger
        self.now = now
        self.ways = ways
        self.actor = actor
        self.warnings: list[str] = []
        self.blocked: list[dict[str, object]] = []
        self._noted: set[tuple[Ask, str, str, str]] = set()
        self._asks: tuple[Ask, ...] | None = None
        self._by_name: Mapping[str, Ask] | None = None
        self._counted: Counter[str] | None = None
        self._deciding = threading.Lock()

    def whole(self, names: Sequence[str] | None, everything: bool, heartbeat: bool) -> Watch:
        for name in self.ledger.take_over():
            if not name.startswith("\0"):  # Neither the heartbeat nor maintenance: they do no harm.
                self.warnings.append(f"the last run of {name[:60]!r} was interrupted; it is not run again for its time")
        snapshot = self.workspace.snapshot()
        chosen = self._choose(snapshot, names, everything)
        pulse = self._pulse(snapshot) if heartbeat else None
        results = self._check(snapshot, chosen)
        watched: list[WatchedMonitor] = []
        states: Mapping[str, AlertState] = {}
        notes: Sequence[JournalNote] = ()
        if chosen or self.ledger.held(self.now):
            from .consequences import Telling

            telling = Telling(self, snapshot, {one.monitor.name: (one.monitor, one.ask) for one in chosen})
            watched = telling.follow([(one.monitor, results[number], one.due) for number, one in enumerate(chosen)])
            states, notes = telling.states, telling.notes
        beaten = None
        if pulse is not None:
            checked = {one.monitor.name for one in watched if one.result.ran}
            beaten = beat(snapshot, self.ledger.note(NOTE), self.now, snapshot.zone, checked)
        self._record(watched, chosen, states, notes, pulse, beaten)
        change = self._write(watched)
        return Watch(
            tuple(watched),
            tuple(self.blocked),
            beaten.lines if beaten is not None else (),
            beaten is not None,
            tuple(dict.fromkeys(self.warnings)),
            change=change,
        )

    # -- what runs --------------------------------------------------------------------------------------------

    def _choose(self, snapshot: Snapshot, names: Sequence[str] | None, everything: bool) -> list[_Chosen]:
        """Return what is to run; what is due is claimed, but for what is blocked: it stays due until it may run.

        Who asks for a monitor that is due runs it for its time: it does not run for that time again.
        """
        asked = everything or names is not None
        found = due_monitors(snapshot.monitors.monitors, self.ledger.last_claims(self.now), self.now, snapshot.zone)
        instants = {one.monitor.ref: one.at for one in found.due}
        if names is not None:
            refs = {monitor.ref: monitor for monitor in snapshot.monitors.monitors}
            wanted = [refs.get(name) or find_monitor(snapshot, name) for name in names]
        elif everything:
            wanted = list(snapshot.monitors.monitors)
        else:
            self.warnings += found.problems
            wanted = [one.monitor for one in found.due]
        monitors = {monitor.ref: monitor for monitor in wanted}
        chosen = [self._decided(snapshot, monitor, instants.get(ref)) for ref, monitor in monitors.items()]
        claims = [(key_of(one.monitor.name), one.due) for one in chosen if one.due is not None and one.answers]
        if not claims:
            return chosen
        taken = self.ledger.claim(claims, self.now)
        self.ledger.start(taken)
        lost = {
            one.monitor.ref
            for one in chosen
            if one.answers and one.due and (key_of(one.monitor.name), one.due) not in taken
        }
        if asked:
            return [replace(one, due=None) if one.monitor.ref in lost else one for one in chosen]
        return [one for one in chosen if one.monitor.ref not in lost]

    def _decided(self, snapshot: Snapshot, monitor: Monitor, due: datetime | None) -> _Chosen:
        from memory.monitoring.problems import broken

        ask = self._checks(snapshot).get(monitor.name)
        decision = self.decide(ask)
        why = broken(monitor)
        if not why and ask is None and self._names(snapshot)[monitor.name] > 1:
            why = "another monitor has the same name"
        if not why and ask is not None:
            self.block(ask, decision)
        return _Chosen(monitor, ask, decision, due, why)

    def asks(self, snapshot: Snapshot) -> tuple[Ask, ...]:
        """Return what the monitors ask for, found once."""
        if self._asks is None:
            from memory.trust.consent import monitor_asks

            self._asks = monitor_asks(snapshot.monitors.monitors)
        return self._asks

    def _checks(self, snapshot: Snapshot) -> Mapping[str, Ask]:
        if self._by_name is None:
            from memory.trust.consent import checks_of

            self._by_name = checks_of(self.asks(snapshot))
        return self._by_name

    def _names(self, snapshot: Snapshot) -> Counter[str]:
        if self._counted is None:
            self._counted = Counter(monitor.name for monitor in snapshot.monitors.monitors)
        return self._counted

    def decide(self, ask: Ask | None) -> ConsentDecision:
        """Return what a person decided; what asks for nothing needs no decision, and without a record none counts.

        Asked again before each run, in any thread: what ran before may have written the files that it names.
        """
        from memory.trust.consent import ConsentDecision

        if ask is None:
            return ConsentDecision(False, "pending", "", None, "it asks for nothing")
        if self.trust is None:
            return ConsentDecision(False, "pending", "", None, "there is no state folder to keep approvals in")
        with self._deciding:
            return self.trust.decide(ask)

    def block(self, ask: Ask, decision: ConsentDecision) -> None:
        """Note that something waits for a person; what was denied waits for nobody."""
        if decision.allowed or decision.state == "denied":
            return
        from memory.trust.consent import blocked_json

        # A watch may look at one more than once, and there may be thousands.
        key = (ask, decision.id, decision.state, decision.why)
        if key not in self._noted:
            self._noted.add(key)
            self.blocked.append(blocked_json(ask, decision))

    def _check(self, snapshot: Snapshot, chosen: Sequence[_Chosen]) -> list[Result]:
        """Return a result for each; what a person has not approved is blocked and is not even tried.

        What nobody can approve, as it cannot run, is an error of its file.
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
            from .many import Planned, run_checks

            planned = [Planned(one.monitor, partial(self.decide, one.ask)) for one in allowed]
            if self.ways.planned is not None:
                self.ways.planned(tuple(one.monitor.name for one in allowed))
            for plan, result in run_checks(planned, self.around(snapshot)):
                results[plan.monitor.ref] = result
                if self.ways.found is not None:
                    self.ways.found(result)
        return [results[one.monitor.ref] for one in chosen]

    def around(self, snapshot: Snapshot) -> Around:
        """Return the world around the checks of this run."""
        from memory.monitoring.checks.context import Around

        pings = self.ledger.pings()
        trust = self.trust
        return Around(
            root=self.workspace.root,
            snapshot=snapshot,
            now=self.now,
            pings={m.name: pings[key] for m in snapshot.monitors.monitors if (key := key_of(m.name)) in pings},
            reach=lambda url, _address: trust is not None and trust.may_reach(url),
            environ=self.ways.environ,
            cancel=self.ways.cancel,
        )

    # -- the heartbeat ----------------------------------------------------------------------------------------

    def _pulse(self, snapshot: Snapshot) -> datetime | None:
        """Claim the heartbeat if it is due; return its instant."""
        expression = snapshot.config.get("expression")
        if expression is None:
            return None
        try:
            found = due_instant(expression, self.ledger.last_claims(self.now).get(BEAT), self.now, snapshot.zone)
        except MemdeckError as error:
            self.warnings.append(f"config.md: expression: {error.message}")
            return None
        if found is None or not self.ledger.claim([(BEAT, found[0])], self.now):
            return None
        return found[0]

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
        """Keep results, states and what is to be written, in one step."""
        done = [(key_of(one.monitor.name), one.due) for one in chosen if one.due is not None and one.answers]
        if pulse is not None:
            done.append((BEAT, pulse))

        def work(db: sqlite3.Connection) -> None:
            record_results(db, [one.result for one in watched if one.result.state != "skipped"], self.now)
            self.ledger.put_alerts(db, {key_of(name): state.json() for name, state in states.items()})
            for note in notes:
                self.ledger.put_unwritten(db, note.at, note.title, note.lines)
            if beaten is not None:
                self.ledger.put_note(db, NOTE, beaten.memory)
                if beaten.lines:
                    self.ledger.put_unwritten(db, self.now, BEAT_TITLE, beaten.lines)
            self.ledger.end(db, done)

        if watched or states or notes or done:
            self.ledger.run(work, None)

    def _write(self, watched: Sequence[WatchedMonitor]) -> str | None:
        """Write everything back in one transaction; what cannot be written now waits for the next run."""
        waiting = self.ledger.unwritten()
        statuses = {one.monitor.name: last_status(one.result) for one in watched if one.result.ran}
        if not waiting and not statuses:
            return None
        notes = [JournalNote(one.at, one.title, one.lines) for one in waiting]

        try:
            outcome = self.workspace.change(
                OPERATION,
                lambda snapshot: write_back(snapshot, statuses, notes, self.now),
                actor=self.actor,
                now=self.now,
            )
        except MemdeckError as error:
            self.warnings.append(f"the results are not in the files yet: {error.message}")
            return None
        if waiting:
            self.ledger.written(one.seq for one in waiting)
        return outcome.change.id if outcome.change.files else None
