"""The consequences of results: alerts, remediation, messages, and entries in the memory files.

A remediation runs from the approved text, within its limits, and is verified by a second check: it needs two failures
in a row, runs rarely, and stops itself if it does not help.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from urllib.parse import urlsplit

from memory.base.clock import format_utc, say_span
from memory.base.safe_text import plural
from memory.base.values import split_remark
from memory.document import Document, Entry
from memory.errors import MemdeckError, UsageError
from memory.files.edit import Edit
from memory.files.journal.edits import with_notes
from memory.files.monitors.model import Monitor
from memory.files.snapshot import Snapshot
from memory.monitoring.alerts import AlertState, Happening, advance, held, read_options, silenced, told
from memory.monitoring.checks import check
from memory.monitoring.command import run_placed
from memory.monitoring.ledger import JournalNote, Message, key_of
from memory.monitoring.messages import AlertRoute, Messenger, read_route, send_message
from memory.monitoring.result import Around, Result, plain
from memory.monitoring.settings import LONGEST, USUAL
from memory.monitoring.units import read_duration
from memory.monitoring.watch import Repair, RunContext, WatchedMonitor
from memory.storage.own_folders import host_name
from memory.trust.asks import Ask, remediations_of

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
MONITORS, JOURNAL = "monitors.md", "journal.md"
ALERT = "Monitor Alert"
RECOVERED = "Monitor Recovered"


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
        self._options = {monitor.name: read_options(monitor) for monitor in reversed(run.snapshot.monitors.monitors)}

    def follow(self) -> None:
        """Advance the alerts, remediate, send messages, and write down what is news."""
        run = self._run
        for one in self._watched:
            problems = self._options[one.monitor.name].problems
            run.warnings += [f"{problem.place}: {problem.message}" for problem in problems]
            self._advance(one, one.checked)
        # After all of them: a monitor is silent while one that it depends on alerts.
        for one in self._watched:
            one.silenced = self._silenced(one.monitor)
        remedies, around = remediations_of(run.asks), run.around()
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
        state, event = advance(self._state(name), result.state, now, self._options[name], summary=result.summary)
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
                lines.append("Auto-remediation: Stopped, for the last two did not help")
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


def write_back(snapshot: Snapshot, statuses: Mapping[str, str], notes: Sequence[JournalNote], now: datetime) -> Edit:
    """Return the edit of one run: `statuses` maps names of monitors to their `lastStatus`.

    Monitors that no longer exist are left out.
    """
    documents: dict[str, Document] = {}
    if statuses:
        documents[MONITORS] = _with_statuses(snapshot, statuses, format_utc(now))
    if notes:
        documents[JOURNAL] = _with_notes(snapshot, notes, now)
    parts = [f"checked {plural(len(statuses), 'monitor')}"] if statuses else []
    parts += [note.title for note in notes[:3]]
    if len(notes) > 3:
        parts.append(f"{len(notes) - 3:,} more entries")
    return Edit(documents, ", ".join(parts) or "nothing to write")


def _with_statuses(snapshot: Snapshot, statuses: Mapping[str, str], checked: str) -> Document:
    document = snapshot.monitors.document
    changed: dict[int, dict[int, Entry]] = {}
    for monitor in snapshot.monitors.monitors:
        if (status := statuses.get(monitor.name)) is not None:
            section, number = monitor.at
            entry = monitor.entry.set_field("lastCheck", checked).set_field("lastStatus", status)
            changed.setdefault(section, {})[number] = entry
    for index, entries in changed.items():
        section_now = document.sections[index]
        new = [entries.get(number, entry) for number, entry in enumerate(section_now.entries)]
        document = document.with_section(index, section_now.with_entries(new))
    return document


def _with_notes(snapshot: Snapshot, notes: Sequence[JournalNote], now: datetime) -> Document:
    try:
        return with_notes(snapshot, [(note.at, note.title, note.lines) for note in notes], now)
    except UsageError:
        # A name or an output that Markdown would not read as a plain line: its signs are removed, the words stay.
        return with_notes(snapshot, [(note.at, note.title, [*map(_tame, note.lines)]) for note in notes], now)


def _tame(line: str) -> str:
    plain = " ".join("".join(" " if char in "`~<>#|*_+-=[]" else char for char in line).split())
    return plain if plain[:1].isalpha() else f"Monitor {plain}"
