"""The watch: one run over the due monitors, from the claim of each instant to the message that is sent.

The order of a run: take the lead, claim the due monitors, check them, advance the alerts, remediate and check again,
send, record, and write everything back in one transaction. What a crash interrupts is never run twice; messages and
journal entries that it delayed follow with the next run.
"""

from __future__ import annotations

import sqlite3
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property, partial

from memory.base.clock import format_utc
from memory.errors import BusyError, MemdeckError
from memory.files.monitors import Monitor, find_monitor
from memory.files.snapshot import Snapshot
from memory.monitoring.alerts.channels import Addresses
from memory.monitoring.alerts.deliver import Send
from memory.monitoring.checks.check import run_checks
from memory.monitoring.checks.result import Around, Result, State, last_status, one_line
from memory.monitoring.history.overview import record_results
from memory.monitoring.run.ledger import Leader
from memory.monitoring.run.schedule import due_instant, due_monitors
from memory.monitoring.settings import broken
from memory.trust.consent import Ask, ConsentDecision, Trust, blocked_json, checks_of, monitor_asks
from memory.workspace import Workspace

from .consequences import Consequences, write_back
from .heartbeat import KEY as BEAT
from .heartbeat import NOTE, Beat, beat
from .heartbeat import TITLE as BEAT_TITLE
from .ledger import WATCHED, JournalNote, MonitorLedger, key_of, ledger_of
from .report import Watch, WatchedMonitor

OPERATION = "monitors"
ACTOR = "monitor"


@dataclass(frozen=True, slots=True)
class WatchServices:
    """What a watch uses in addition to the workspace.

    `environ` has the variables for commands and channels, `addresses` where messages can be sent (None: nowhere),
    `send` how (None: by apprise), `pause` how it waits before it checks whether a remediation helped. `planned` is
    called with the names of the monitors that are about to be checked, then `found` with each result as it arrives, in
    the thread of the watch.
    """

    environ: Mapping[str, str]
    addresses: Addresses | None = None
    send: Send | None = None
    pause: Callable[[float], object] | None = None
    found: Callable[[Result], object] | None = None
    cancel: threading.Event | None = None
    planned: Callable[[tuple[str, ...]], object] | None = None


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
        run = Run(workspace, workspace.snapshot(), trust, ledger, now, services, actor)
        return run.whole(names, everything, heartbeat and not asked)


def _anything(workspace: Workspace, heartbeat: bool, now: datetime) -> bool:
    """Return whether there is anything to watch; if not, nothing is created outside the workspace."""
    snapshot = workspace.snapshot()
    beats = heartbeat and snapshot.config.get("expression") is not None
    if snapshot.monitors.monitors or beats:
        return True
    with closing(ledger_of(workspace)) as ledger:
        return bool(ledger.held(now) or ledger.unwritten())


@dataclass(eq=False)
class Run:
    """One run, while it has the lead; `snapshot` has the files as they were when it began."""

    workspace: Workspace
    snapshot: Snapshot
    trust: Trust | None
    ledger: MonitorLedger
    now: datetime
    services: WatchServices
    actor: str
    warnings: list[str] = field(default_factory=list)
    _blocked: dict[str, dict[str, object]] = field(default_factory=dict)
    _deciding: threading.Lock = field(default_factory=threading.Lock)

    def whole(self, names: Sequence[str] | None, everything: bool, heartbeat: bool) -> Watch:
        """Do all steps of the run, and return its report."""
        for name in self.ledger.take_over():
            if not name.startswith("\0"):  # Not for the heartbeat or maintenance: there it does no harm.
                self.warnings.append(f"the last run of {name[:60]!r} was interrupted; it is not run again for its time")
        watched = self._choose(names, everything)
        pulse = self._pulse() if heartbeat else None
        self._check([one for one in watched if one.runs])
        followed = Consequences(self, watched)
        if watched or self.ledger.held(self.now):
            followed.follow()
        beaten = None
        if pulse is not None:
            checked = {one.monitor.name for one in watched if one.result.ran}
            beaten = beat(self.snapshot, self.ledger.kept("note").get(NOTE, {}), self.now, self.snapshot.zone, checked)
        self._record(watched, followed, pulse, beaten)
        change = self._write(watched)
        return Watch(
            tuple(watched),
            tuple(self._blocked.values()),
            beaten.lines if beaten is not None else (),
            beaten is not None,
            (*dict.fromkeys(self.warnings), *self.ledger.warnings),
            change=change,
        )

    # -- consent ----------------------------------------------------------------------------------------------

    @cached_property
    def asks(self) -> tuple[Ask, ...]:
        """The asks of the monitors."""
        return monitor_asks(self.snapshot.monitors.monitors)

    def decide(self, ask: Ask | None) -> ConsentDecision:
        """Return the person's decision; without an ask none is needed, and without a record none counts.

        Called again before each run, in any thread: earlier commands may have written the files that it names.
        """
        if ask is None:
            return ConsentDecision(False, "pending", "", None, "it asks for nothing")
        if self.trust is None:
            return ConsentDecision(False, "pending", "", None, "there is no state folder to keep approvals in")
        with self._deciding:
            return self.trust.decide(ask)

    def block(self, ask: Ask, decision: ConsentDecision) -> None:
        """Note that an ask waits for a person; a denied one does not wait."""
        if not decision.allowed and decision.state != "denied":
            self._blocked[f"{ask.role} {decision.id} {ask.name} {decision.why}"] = blocked_json(ask, decision)

    def around(self) -> Around:
        """Return the context for the checks of this run."""
        pings = self.ledger.times("ping")
        return Around(
            root=self.workspace.root,
            snapshot=self.snapshot,
            now=self.now,
            pings={m.name: pings[key] for m in self.snapshot.monitors.monitors if (key := key_of(m.name)) in pings},
            reach=lambda url, _address: self.trust is not None and self.trust.may_reach(url),
            environ=self.services.environ,
            cancel=self.services.cancel,
            state=self.workspace.state.folder,
        )

    # -- what runs --------------------------------------------------------------------------------------------

    def _choose(self, names: Sequence[str] | None, everything: bool) -> list[WatchedMonitor]:
        """Return the monitors to run. Due ones are claimed, except blocked ones: these stay due until they may run.

        A due monitor that is run on request uses up its due time: it does not run for that time again.
        """
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
        claims = {one.monitor.ref: (key_of(one.monitor.name), one.due) for one in chosen if one.due and one.answers}
        taken = self.ledger.claim(claims.values(), self.now) if claims else set()
        for one in chosen:
            if one.monitor.ref in claims and claims[one.monitor.ref] not in taken:
                one.due = None  # Another process has it.
        asked = everything or names is not None
        return [one for one in chosen if asked or one.due is not None]

    def _decided(self, monitor: Monitor, due: datetime | None) -> WatchedMonitor:
        """Return a monitor that is to run, or the result why it does not.

        What an edit of the file alone could make run is an error, what a person has not approved is blocked.
        """
        name, ask = monitor.name, self._checks.get(monitor.name)
        decision = self.decide(ask)
        why = broken(monitor, self.workspace.root)
        if not why and ask is None and self._names[name] > 1:
            why = "another monitor has the same name"
        if not why and ask is not None:
            self.block(ask, decision)
            why = decision.why if decision.state == "refused" else ""
        if why:
            result = Result(name, "error", one_line(why))
        else:
            state: State = "skipped" if decision.state == "denied" or ask is None or decision.allowed else "blocked"
            result = Result(name, state, decision.why)
        return WatchedMonitor(monitor, result, due, ask, not why and (ask is None or decision.allowed))

    @cached_property
    def _checks(self) -> Mapping[str, Ask]:
        return checks_of(self.asks)

    @cached_property
    def _names(self) -> Counter[str]:
        return Counter(monitor.name for monitor in self.snapshot.monitors.monitors)

    def _check(self, allowed: Sequence[WatchedMonitor]) -> None:
        """Check the monitors that may run."""
        by_ref = {one.monitor.ref: one for one in allowed}
        if allowed and self.services.planned is not None:
            self.services.planned(tuple(one.monitor.name for one in allowed))
        planned = [(one.monitor, partial(self.decide, one.ask)) for one in allowed]
        for monitor, result in run_checks(planned, self.around()) if planned else ():
            by_ref[monitor.ref].checked = result
            if self.services.found is not None:
                self.services.found(result)

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
        self, watched: Sequence[WatchedMonitor], followed: Consequences, pulse: datetime | None, beaten: Beat | None
    ) -> None:
        """Store results, states and pending entries in one step."""
        claimed = {one.monitor.name: one.due for one in watched if one.due is not None and one.answers}
        done = [(key_of(name), due) for name, due in claimed.items()]
        if pulse is not None:
            done.append((BEAT, pulse))

        def work(db: sqlite3.Connection) -> None:
            self.ledger.end(db, done)
            results = [one.result for one in watched if one.result.state != "skipped"]
            record_results(db, results, self.now, claimed)
            self.ledger.put(db, "alert", {key: state.json() for key, state in followed.changed().items()})
            self.ledger.put(db, "note", {WATCHED: {"at": format_utc(self.now)}})
            for note in followed.notes:
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
