"""One run of the monitors: what it uses, what a person decided, its report, and what follows from its results: alerts,
remediation, messages, and entries in the memory files.

A remediation runs from the approved text, within its limits, and is verified by a second check: it needs two failures
in a row, runs rarely, and stops itself if it does not help.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any
from urllib.parse import urlsplit

from memory.base.clock import format_utc, read_duration, say_span
from memory.base.safe_text import plural, visible
from memory.base.values import split_remark
from memory.errors import MemdeckError
from memory.files.monitors import Monitor
from memory.files.snapshot import Snapshot
from memory.monitoring.alerts import AlertState, Happening, advance, held, read_options, silenced, told
from memory.monitoring.checks import check
from memory.monitoring.command import run_placed
from memory.monitoring.ledger import JournalNote, Message, MonitorLedger, key_of
from memory.monitoring.messages import Addresses, AlertRoute, Delivery, Messenger, Send, read_route, send_message
from memory.monitoring.result import Around, Result, plain
from memory.monitoring.settings import LONGEST, USUAL
from memory.storage.own_folders import host_name
from memory.trust.asks import Ask, by_name, monitor_asks
from memory.trust.consent import ConsentDecision, Trust, blocked_json
from memory.workspace import Workspace

APIECE = 20
"""More entries than this in one run are written as one."""
FAILURES = 2
"""How many failures in a row a remediation requires."""
PER_DAY = 3
APART = timedelta(minutes=15)
USELESS = 2
"""After this many attempts in a row that did not help, it stops until the monitor has been healthy again."""
PAUSES = (0.0, 2.0, 5.0)
"""Seconds before each check of whether it helped: a service needs a moment to start."""
ALERT = "Monitor Alert"
RECOVERED = "Monitor Recovered"


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


@dataclass(eq=False)
class RunContext:
    """One run, while it has the lead; `snapshot` has the files as they were when it began."""

    workspace: Workspace
    snapshot: Snapshot
    trust: Trust
    ledger: MonitorLedger
    now: datetime
    services: WatchServices
    warnings: list[str] = field(default_factory=list)
    blocked: dict[str, dict[str, object]] = field(default_factory=dict)
    _deciding: threading.Lock = field(default_factory=threading.Lock)

    @cached_property
    def asks(self) -> tuple[Ask, ...]:
        """The asks of the monitors."""
        return monitor_asks(self.snapshot.monitors.items)

    def decide(self, ask: Ask | None) -> ConsentDecision:
        """Return the person's decision; without an ask none is needed.

        Called again before each run, in any thread: earlier commands may have written the files that it names.
        """
        if ask is None:
            return ConsentDecision("pending", "it needs no approval")
        with self._deciding:
            return self.trust.decide(ask)

    def block(self, ask: Ask, decision: ConsentDecision) -> None:
        """Note that an ask waits for a person; a denied one does not wait."""
        if not decision.allowed and decision.state != "denied":
            self.blocked[f"{ask.role} {decision.id} {ask.name} {decision.why}"] = blocked_json(ask, decision)

    def around(self) -> Around:
        """Return the context for the checks of this run."""
        return Around(
            root=self.workspace.root,
            now=self.now,
            reach=lambda url, _address: self.trust.may_reach(url),
            environ=self.services.environ,
            cancel=self.services.cancel,
            state=self.workspace.state.folder,
        )


@dataclass(frozen=True, slots=True)
class Repair:
    """The result of a remediation: whether it ran, the command, how it failed, and the second check.

    `why` is why it did not run; `blocked`: what waits for a person; `stopped`: it did not help again, and will not run
    until the monitor has been healthy.
    """

    ran: bool
    command: str = ""
    failure: str = ""
    verified: Result | None = None
    why: str = ""
    stopped: bool = False
    blocked: ConsentDecision | None = None

    @property
    def helped(self) -> bool:
        """Whether the second check was healthy."""
        return self.verified is not None and self.verified.state == "healthy"

    def json(self) -> dict[str, Any]:
        """Return it under the keys of the interface."""
        again = self.verified
        return {
            "ran": self.ran,
            "command": self.command or None,
            "failure": self.failure or None,
            "why": self.why or None,
            "verified": None if again is None else {"state": again.state, "summary": again.summary},
        }


@dataclass(slots=True)
class WatchedMonitor:
    """One monitor in a watch: its check, and what followed, filled in by the steps of the run.

    `due` is the instant of its schedule, None if it was requested by name; `ask` what it asks a person for, None for
    nothing; `runs` whether it may run: a person approved it, or it needs no approval. `silenced` is why no message is
    sent, `failures` are those in a row afterwards.
    """

    monitor: Monitor
    checked: Result
    due: datetime | None = None
    ask: Ask | None = None
    runs: bool = False
    events: tuple[Happening, ...] = ()
    silenced: str = ""
    repair: Repair | None = None
    delivery: Delivery | None = None
    failures: int = 0

    @property
    def answers(self) -> bool:
        """Whether this run uses up its due time: it runs, or only an edit of the file could make it run."""
        return self.runs or self.checked.state == "error"

    @property
    def result(self) -> Result:
        """The newest result: that of the check after a remediation if there was one."""
        return (self.repair.verified if self.repair is not None else None) or self.checked

    @property
    def happenings(self) -> tuple[str, ...]:
        """The kinds of the events, such as `alert`, each once."""
        return tuple(dict.fromkeys(one.kind for one in self.events))

    @property
    def occurrences(self) -> int:
        """The failures in a row; a remediation that helped set their number back, so that of the events counts."""
        return max((one.occurrences for one in self.events), default=self.failures)

    @property
    def told(self) -> str:
        """The result of the message in words, "" if there was none."""
        sent = self.delivery
        said = None if sent is None else {"yes": "sent", "held": "waits", "no": "failed"}.get(sent.told)
        if sent is None or said is None:
            return ""
        detail = f" ({sent.detail})" if sent.detail or sent.told != "yes" else ""
        return f'Notification {said}: "{sent.message.title}"{detail}'

    @property
    def news(self) -> bool:
        """Whether it belongs in the journal."""
        return any(one.first for one in self.events) or (self.repair is not None and self.repair.ran)

    def json(self) -> dict[str, Any]:
        """Return it under the keys of the interface."""
        result = self.result
        return {
            "ref": self.monitor.ref,
            "name": self.monitor.name,
            "state": result.state,
            "summary": result.summary,
            "seconds": round(result.seconds, 4),
            "values": dict(result.values),
            "detail": result.detail,
            "due": None if self.due is None else format_utc(self.due),
            "happenings": list(self.happenings),
            "occurrences": self.occurrences,
            "silenced": self.silenced or None,
            "notification": self.told or None,
            "remediation": None if self.repair is None else self.repair.json(),
        }


@dataclass(frozen=True, slots=True)
class Watch:
    """A whole watch. `blocked` lists what waits for a person, `beat` the lines of the heartbeat (empty: no news).

    `busy`: another process runs the monitors, and nothing ran here.
    """

    monitors: tuple[WatchedMonitor, ...] = ()
    blocked: tuple[dict[str, Any], ...] = ()
    beat: tuple[str, ...] = ()
    beaten: bool = False
    warnings: tuple[str, ...] = ()
    busy: bool = False

    def json(self) -> list[dict[str, Any]]:
        """Return what `--maintain` lists under `monitors`."""
        return [one.json() for one in self.monitors]

    @property
    def total(self) -> str:
        """The watch in one line: how many monitors have which state."""
        if self.busy:
            return "monitors: another process is running them"
        counts = Counter(one.result.state for one in self.monitors)
        return "monitors: " + (", ".join(f"{count:,} {state}" for state, count in counts.items()) or "none due")

    @property
    def news(self) -> bool:
        """Whether anything happened that a person may want to read of in a log."""
        happened = any(one.happenings or one.repair is not None for one in self.monitors)
        return bool(happened or self.blocked or self.beat or self.warnings)

    def lines(self) -> list[str]:
        """Return the watch as lines for people, safe for a screen."""
        if self.busy:
            return [self.total]
        shown = []
        for one in self.monitors:
            if one.result.state == "healthy" and not one.happenings and len(self.monitors) > 20:
                continue
            words = f"{one.result.state}  {visible(one.monitor.name)}"
            words += f": {visible(one.result.summary)}" if one.result.summary else ""
            shown.append(words)
            if one.repair is not None:
                did = f"ran {visible(one.repair.command)}" if one.repair.ran else f"not run: {visible(one.repair.why)}"
                did += f", {visible(one.repair.failure)}" if one.repair.failure else ""
                shown.append(f"    remediation: {did}" + ("; recovered" if one.repair.helped else ""))
            if one.told:
                shown.append(f"    {visible(one.told)}")
        for ask in self.blocked:
            name = visible(f"{ask['name']}: {ask['text']}")
            shown.append(f"needs approval  {ask['id'] or '-'}  {ask['role']} of {name} ({visible(ask['why'])})")
        if self.beaten:
            shown += [f"heartbeat: {visible(line)}" for line in self.beat] or ["heartbeat: no news"]
        return [*shown, self.total]


class Consequences:
    """Follows the results of one run: fills in the reports, `states` of the alerts by the key of their monitor, and
    `notes`, the journal entries to be written.
    """

    def __init__(self, run: RunContext, watched: Sequence[WatchedMonitor]) -> None:
        """Read the record; nothing is done yet."""
        self._run = run
        self._watched = watched
        self.states = {key: AlertState.read(values) for key, values in run.ledger.kept("alert").items()}
        self.notes: list[JournalNote] = []
        self._mutes = run.ledger.mutes()
        # Of monitors with the same name the first counts.
        self._options = {monitor.name: read_options(monitor) for monitor in reversed(run.snapshot.monitors.items)}

    def follow(self) -> None:
        """Advance the alerts, remediate, send messages, and write down the news."""
        run = self._run
        for one in self._watched:
            problems = self._options[one.monitor.name].problems
            run.warnings += [f"{problem.place}: {problem.message}" for problem in problems]
            self._advance(one, one.checked)
        # After all of them: a monitor is silent while one that it depends on alerts.
        for one in self._watched:
            one.silenced = self._silenced(one.monitor)
        remedies, around = by_name(run.asks, "remediate"), run.around()
        for one in self._watched:
            self._repair(one, remedies.get(one.monitor.name), around)
        self._tell()
        for one in self._watched:
            one.failures = self._state(one.monitor.name).failures
        self._note([one for one in self._watched if one.news])

    def _state(self, name: str) -> AlertState:
        return self.states.get(key_of(name), AlertState())

    def _advance(self, one: WatchedMonitor, result: Result) -> None:
        """Advance the alert of a monitor by a result."""
        name, now = one.monitor.name, self._run.now
        state, event = advance(self._state(name), result.state, now, self._options[name])
        self.states[key_of(name)] = state
        one.events += () if event is None else (event,)

    def _silenced(self, monitor: Monitor) -> str:
        """Return why messages about a monitor are silenced now; empty if they are not."""
        now, zone = self._run.now, self._run.snapshot.zone
        if any(self._mutes[key] > now for key in (key_of(monitor.name), "*") if key in self._mutes):
            return "muted"
        return silenced(monitor.name, self._options, lambda name: self._state(name).alerting, now, zone)

    def _repair(self, one: WatchedMonitor, ask: Ask | None, around: Around) -> None:
        """Remediate a failing monitor, and advance its alert by the second check."""
        run, state = self._run, self._state(one.monitor.name)
        failing = one.checked.state in ("failing", "error") and state.alerting
        if ask is None or not failing or one.silenced not in ("", "muted"):
            return
        one.repair = _repaired(run, one, ask, state, around)
        if one.repair.blocked is not None:
            run.block(ask, one.repair.blocked)
        if one.repair.verified is not None and one.repair.helped:
            self._advance(one, one.repair.verified)

    def _tell(self) -> None:
        """Send the messages; a state counts as told only if a message was sent."""
        run = self._run
        addresses = run.services.addresses
        route = AlertRoute() if addresses is None else read_route(run.snapshot, addresses)
        place = plain(f"{host_name(run.services.environ)}: {run.workspace.root}", 200)
        send = run.services.send or send_message
        messenger = Messenger(run.ledger, route, run.now, run.snapshot.zone, send, place)
        told_of, failure = messenger.digest()
        if failure:
            run.warnings.append(f"the digest was not sent: {plain(failure)}")
        for message in told_of:
            state = self.states.get(message.monitor)
            if state is not None and message.kind == "alert" and state.told == "held":
                self.states[message.monitor] = told(state, "alert", run.now)
        # The last event is the current state: a recovery by remediation covers the alert before it.
        news = [(one, one.events[-1]) for one in self._watched if one.events and not one.silenced]
        if news:
            run.warnings += route.problems
        messages = [self._message(one, event, route.priority) for one, event in news]
        for (one, event), delivery in zip(news, messenger.deliver(messages), strict=True):
            one.delivery = delivery
            key = key_of(one.monitor.name)
            if delivery.told in ("yes", "held"):
                settle = told if delivery.told == "yes" else held
                self.states[key] = settle(self.states[key], event.kind, run.now)

    def _message(self, one: WatchedMonitor, event: Happening, usual: str) -> Message:
        """Return the message of an event; the journal quotes its title."""
        name = plain(one.monitor.name, 80).replace('"', "'")
        what = plain(one.result.summary, 60).replace('"', "'") or one.result.state
        title = f"{name} is failing: {what}"
        if event.kind == "reminder":
            title = f"{name} is still failing: {what} ({plural(event.occurrences, 'occurrence')})"
        elif event.kind == "recovered":
            helped = one.repair is not None and one.repair.helped
            title = f"{name} recovered{' after auto-remediation' if helped else ''}"
        priority = self._options[one.monitor.name].priority or usual
        return Message(key_of(one.monitor.name), event.kind, priority, title, "\n".join(self._lines(one)) or title)

    def _lines(self, one: WatchedMonitor) -> list[str]:
        """Return the lines about one monitor in the terms of the format, without that of the message."""
        lines: list[str] = []
        monitor, fix = one.monitor, one.repair
        ran = fix is not None and fix.ran
        kinds = {event.kind: event for event in one.events}
        if ran or "alert" in kinds or "reminder" in kinds:
            occurrences = max(one.occurrences, self._state(monitor.name).failures, 1)
            lines.append(f"{_breach(monitor, one.checked)} ({plural(occurrences, 'occurrence')})")
        if fix is not None and ran:
            failed = f" ({plain(fix.failure, 60)})" if fix.failure else ""
            lines.append(f"Auto-remediation: Ran {plain(fix.command)}{failed}")
            if fix.verified is not None:
                what, now = _target(monitor, fix.verified)
                if "status" in fix.verified.values:
                    what, now = "Endpoint", f"returning {now}"
                lines.append(f"Verified: {what} {'recovered, now' if fix.helped else 'has not recovered, still'} {now}")
            if fix.stopped:
                lines.append("Auto-remediation: Stopped, because the last two did not help")
        elif "recovered" in kinds:
            what, now = _target(monitor, one.checked)
            lasted = say_span(kinds["recovered"].lasted.total_seconds()) or "a moment"
            end = f", now returning {now}" if "status" in one.checked.values else f": {now}"
            lines.append(f"{what} recovered after {lasted}{end}")
        if fix is not None and fix.blocked:
            lines.append("Auto-remediation: Not run, it needs approval")
        return lines

    def _note(self, news: Sequence[WatchedMonitor]) -> None:
        """Create the journal entries: one for each monitor, or one for all if there are many."""
        now = self._run.now
        if len(news) > APIECE:
            lines = [line for one in news for line in self._lines(one)[:1]]
            sent = sum(one.delivery is not None and one.delivery.told == "yes" for one in news)
            if sent:
                lines.append(f"Notification sent for {plural(sent, 'monitor')}")
            self.notes.append(JournalNote(now, ALERT, tuple(lines)))
            return
        for one in news:
            said = one.told or (f"No notification: {one.silenced}" if one.silenced else "")
            title = RECOVERED if one.happenings == ("recovered",) and one.repair is None else ALERT
            self.notes.append(JournalNote(now, title, tuple(line for line in (*self._lines(one), said) if line)))


def _target(monitor: Monitor, outcome: Result) -> tuple[str, str]:
    """Return what was checked, and what came out: an endpoint and its status, or the name and the summary."""
    status = outcome.values.get("status")
    if status is None:
        return plain(monitor.name, 80), plain(outcome.summary) or outcome.state
    # Without parts that may be secret.
    path = urlsplit(monitor.url or "").path or "/"
    return f"{plain(monitor.name, 80)} endpoint {plain(path, 60)}", str(status)


def _breach(monitor: Monitor, outcome: Result) -> str:
    """Return what is wrong: `API endpoint /products returned 503`, `Disk: 93% used`."""
    if outcome.summary.startswith("status ") and "status" in outcome.values:
        return " returned ".join(_target(monitor, outcome))
    return f"{plain(monitor.name, 80)}: {plain(outcome.summary) or outcome.state}"


def refused_remedy(
    attempts: Sequence[tuple[datetime, bool]], failures: int, outage_since: datetime | None, now: datetime
) -> str:
    """Return why a remediation may not run now, "" if it may.

    `attempts` are the earlier ones, newest first (`MonitorLedger.remedies`).

    `failures` in a row include the current one; an attempt with an unknown end, after a crash, did not help. Attempts
    in the future, after a clock jump, count by their distance.
    """
    if failures < FAILURES:
        return f"waits for {FAILURES} failures in a row"
    if _is_useless(attempts, outage_since, now):
        return f"stopped: the last {USELESS} did not help"
    if any(abs(now - at) < APART for at, _ in attempts):
        return f"ran less than {int(APART.total_seconds() // 60)} minutes ago"
    if sum(abs(now - at) < timedelta(days=1) for at, _ in attempts) >= PER_DAY:
        return f"ran {PER_DAY} times within a day"
    return ""


def _is_useless(attempts: Sequence[tuple[datetime, bool]], outage_since: datetime | None, now: datetime) -> bool:
    """Return whether the newest attempts since an outage began did not help, so that remediation stops itself."""
    outage = [helped for at, helped in attempts if outage_since is None or at >= outage_since or at > now]
    return len(outage) >= USELESS and not any(outage[:USELESS])


def _repaired(run: RunContext, one: WatchedMonitor, ask: Ask, state: AlertState, around: Around) -> Repair:
    """Run the approved remediation of a failing monitor if its limits allow it, and check whether it helped.

    It is recorded on disk before it runs: a crash never makes it run more often. Whether it is approved is asked right
    before it runs.
    """
    key, now = key_of(one.monitor.name), run.now
    outage = state.since if state.alerting else None
    why = refused_remedy(run.ledger.remedies(key), state.failures, outage, now)
    if why:
        return Repair(False, why=why)
    decision = run.decide(ask)
    if not decision.allowed or decision.text is None:
        waits = decision.state in ("pending", "withdrawn", "refused")
        return Repair(False, why=decision.why, blocked=decision if waits else None)
    count = run.ledger.begin_remedy(key, now)
    if count is None:
        return Repair(False, why="it cannot be counted")
    try:
        finished = run_placed(
            decision.text,
            ask.folder,
            root=around.root,
            state=around.state,
            environ=around.environ,
            names=ask.environment,
            timeout=min(read_duration(split_remark(ask.detail("timeout"))[0]) or USUAL, LONGEST),
            cancel=around.cancel,
        )
    except MemdeckError as error:
        return Repair(False, why=error.message)
    verified: Result | None = None
    for seconds in PAUSES:
        if around.cancel is not None and around.cancel.is_set():
            break
        if seconds:
            (run.services.pause or time.sleep)(seconds)
        # The remediation may have changed files that the check itself uses.
        verified = check(one.monitor, run.decide(one.ask), around)
        if verified.state == "healthy":
            run.ledger.end_remedy(count)
            break
    helped = verified is not None and verified.state == "healthy"
    stopped = not helped and _is_useless(run.ledger.remedies(key), outage, now)
    return Repair(True, decision.text, finished.trouble, verified, stopped=stopped)
