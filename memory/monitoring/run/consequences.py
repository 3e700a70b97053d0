"""The consequences of results: alerts, remediation, messages, and entries in the memory files."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING

from memory.base.clock import format_utc
from memory.errors import UsageError
from memory.files.edit import Edit
from memory.files.journal.edits import with_notes
from memory.monitoring import words
from memory.monitoring.alerts.channels import AlertRoute, read_route
from memory.monitoring.alerts.deliver import Messenger
from memory.monitoring.alerts.options import ancestors, read_options
from memory.monitoring.alerts.state import AlertState, Happening, advance, held, told
from memory.monitoring.alerts.windows import ends_at
from memory.monitoring.checks.check import check
from memory.storage.own_folders import host_name
from memory.trust.consent import remediations_of

from .ledger import JournalNote, Message, key_of
from .repair import repair
from .report import WatchedMonitor
from .watching import Watching

if TYPE_CHECKING:
    from memory.document import Document, Entry
    from memory.files.monitors import Monitor
    from memory.files.snapshot import Snapshot
    from memory.monitoring.checks.result import Result
    from memory.trust.consent import Ask

APIECE = 20
"""More entries than this in one run are written as one."""
REPAIRS = 8
"""How many remediations run in parallel."""
MONITORS, JOURNAL = "monitors.md", "journal.md"


class Telling:
    """Processes the results of one run; `states` are those that changed, `notes` the journal entries to be written."""

    def __init__(self, run: Watching, chosen: Mapping[str, tuple[Monitor, Ask | None]]) -> None:
        """`chosen` are the monitors of this run, by name."""
        self._run = run
        self._known = {key: AlertState.read(values) for key, values in run.ledger.kept("alert").items()}
        self._mutes = run.ledger.times("mute")
        self.states: dict[str, AlertState] = {}
        self.notes: list[JournalNote] = []
        self._chosen = chosen
        # Of monitors with the same name the first counts.
        self._options = {monitor.name: read_options(monitor) for monitor in reversed(run.snapshot.monitors.monitors)}
        self._parents = {name: options.depends_on for name, options in self._options.items()}

    def state(self, name: str) -> AlertState:
        """Return the current alert state of a monitor."""
        return self.states.get(name) or self._known.get(key_of(name)) or AlertState()

    def follow(self, results: Sequence[tuple[Monitor, Result, datetime | None]]) -> list[WatchedMonitor]:
        """Advance the states, remediate, send messages; return the report of each monitor, in the given order."""
        for monitor, _, _ in results:
            self._run.warnings += [f"{one.place}: {one.message}" for one in self._options[monitor.name].problems]
        watched = {
            monitor.name: WatchedMonitor(monitor, result, due, self._advance(monitor.name, result))
            for monitor, result, due in results
        }
        # After all of them: a monitor is silent while one that it depends on alerts.
        for name, one in watched.items():
            silenced = self._silenced(one.monitor)
            watched[name] = replace(one, silenced=silenced, events=_silent(one.events, silenced))
        self._repair(watched)
        self._tell(watched)
        watched = {name: replace(one, failures=self.state(name).failures) for name, one in watched.items()}
        self._note([one for one in watched.values() if one.news])
        return [watched[monitor.name] for monitor, _, _ in results]

    # -- alerts -----------------------------------------------------------------------------------------------

    def _advance(self, name: str, result: Result) -> tuple[Happening, ...]:
        """Advance the state of a monitor by a result; return the events."""
        settings, now = self._options[name].settings, self._run.now
        self.states[name], happenings = advance(self.state(name), result.state, now, settings, summary=result.summary)
        return happenings

    def _silenced(self, monitor: Monitor) -> str:
        """Return why messages about a monitor are silenced now; empty if they are not."""
        now, zone = self._run.now, self._run.snapshot.zone
        for key in (key_of(monitor.name), "*"):
            if (until := self._mutes.get(key)) is not None and until > now:
                return "muted"
        if ends_at(self._options[monitor.name].maintenance, now, zone) is not None:
            return "maintenance window"
        for parent in ancestors(monitor.name, self._parents):
            if self.state(parent).alerting:
                return f"{words.plain(parent, 60)} is down"
        return ""

    # -- remediation ------------------------------------------------------------------------------------------

    def _repair(self, watched: dict[str, WatchedMonitor]) -> None:
        """Remediate failing monitors, a few in parallel, and advance the alerts by the second checks."""
        run = self._run
        remedies = remediations_of(run.asks)
        wanted = [
            (one, remedies[name], self._chosen[name][1])
            for name, one in watched.items()
            if name in remedies
            and one.checked.state in ("failing", "error")
            and one.silenced in ("", "muted")
            and self.state(name).alerting
        ]
        if not wanted:
            return
        around = run.around()
        with ThreadPoolExecutor(max_workers=min(REPAIRS, len(wanted))) as pool:
            futures = [
                pool.submit(
                    repair,
                    one.monitor,
                    ask,
                    partial(run.decide, ask),
                    self.state(one.monitor.name),
                    run.ledger,
                    around,
                    # The remediation may have changed files that the check itself uses.
                    lambda monitor=one.monitor, own=own: check(monitor, run.decide(own), around),  # type: ignore[misc]
                    now=run.now,
                    pause=run.services.pause or time.sleep,
                )
                for one, ask, own in wanted
            ]
            done = [future.result() for future in futures]
        for (one, ask, _), outcome in zip(wanted, done, strict=True):
            name, events = one.monitor.name, one.events
            if outcome.blocked is not None:
                run.block(ask, outcome.blocked)
            if outcome.verified is not None and outcome.helped:
                events += _silent(self._advance(name, outcome.verified), one.silenced)
            watched[name] = replace(one, events=events, repair=outcome)

    # -- messages ---------------------------------------------------------------------------------------------

    def _tell(self, watched: dict[str, WatchedMonitor]) -> None:
        """Send the messages; a state counts as reported only if a message was sent."""
        run = self._run
        addresses = run.services.addresses
        route = AlertRoute() if addresses is None else read_route(run.snapshot, addresses)
        place = f"{host_name(run.services.environ)}: {run.workspace.root}"
        messenger = Messenger(run.ledger, route, run.now, run.snapshot.zone, run.services.send, words.plain(place, 200))
        told_of, sent = messenger.digest()
        if sent is not None and not sent.ok:
            run.warnings.append(f"the digest was not sent: {words.plain(sent.detail)}")
        by_key = {key_of(monitor.name): monitor.name for monitor in run.snapshot.monitors.monitors}
        for one in told_of:
            name = by_key.get(one.message.monitor)
            if name is not None and one.message.kind == "alert" and self.state(name).told == "held":
                self.states[name] = told(self.state(name), "alert", run.now)
        speaking = {name: [event for event in one.events if not event.silenced] for name, one in watched.items()}
        # The last event is the current state: a recovery by remediation covers the alert before it.
        news = {name: events[-1] for name, events in speaking.items() if events}
        if news:
            run.warnings += route.problems
        messages = [self._message(watched[name], event, route) for name, event in news.items()]
        for (name, event), delivery in zip(news.items(), messenger.deliver(messages), strict=True):
            watched[name] = replace(watched[name], delivery=delivery)
            if delivery.told in ("yes", "held"):
                settle = told if delivery.told == "yes" else held
                self.states[name] = settle(self.state(name), event.kind, run.now)

    def _message(self, one: WatchedMonitor, event: Happening, route: AlertRoute) -> Message:
        monitor = one.monitor
        remediated = one.repair is not None and one.repair.ran and one.repair.helped
        title = words.message_title(event.kind, monitor, one.result, event.occurrences, remediated=remediated)
        priority = self._options[monitor.name].priority or route.priority
        return Message(key_of(monitor.name), event.kind, priority, title, "\n".join(self._lines(one)) or title)

    # -- the journal ------------------------------------------------------------------------------------------

    def _lines(self, one: WatchedMonitor) -> list[str]:
        """Return the lines about one monitor, without the message."""
        lines: list[str] = []
        monitor, fix = one.monitor, one.repair
        kinds = {event.kind: event for event in one.events}
        if "alert" in kinds or "reminder" in kinds or (fix is not None and fix.ran):
            occurrences = max(one.occurrences, self.state(monitor.name).failures, 1)
            lines.append(words.alert_line(monitor, one.checked, occurrences))
        if "flapping" in kinds:
            lines.append(words.flapping_line(monitor))
        if fix is not None and fix.ran:
            lines.append(words.remediation_line(fix.command, fix.failure))
            if fix.verified is not None:
                lines.append(words.verified_line(monitor, fix.verified))
            if fix.stopped:
                lines.append(words.no_remediation_line("stopped, for the last two did not help"))
        elif "recovered" in kinds:
            lines.append(words.recovered_line(monitor, one.checked, kinds["recovered"].lasted))
        if fix is not None and fix.blocked:
            lines.append(words.no_remediation_line("not run, it needs approval"))
        return lines

    def _note(self, news: Sequence[WatchedMonitor]) -> None:
        """Create the journal entries: one for each monitor, or one for all if there are many."""
        if len(news) > APIECE:
            lines = [line for one in news for line in self._lines(one)[:1]]
            sent = sum(one.delivery is not None and one.delivery.told == "yes" for one in news)
            if sent:
                lines.append(f"Notification sent for {words.plural(sent, 'monitor')}")
            self.notes.append(JournalNote(self._run.now, words.ALERT, tuple(lines)))
            return
        for one in news:
            said = one.told or (f"No notification: {one.silenced}" if one.silenced else "")
            only_recovered = one.happenings == ("recovered",) and one.repair is None
            title = words.RECOVERED if only_recovered else words.ALERT
            lines = [line for line in (*self._lines(one), said) if line]
            self.notes.append(JournalNote(self._run.now, title, tuple(lines)))


def _silent(events: Sequence[Happening], why: str) -> tuple[Happening, ...]:
    """Return events for which no message is sent, if there is a reason."""
    return tuple(replace(event, silenced=why or event.silenced) for event in events)


def write_back(snapshot: Snapshot, statuses: Mapping[str, str], notes: Sequence[JournalNote], now: datetime) -> Edit:
    """Return the edit of one run: `statuses` maps names of monitors to their `lastStatus`.

    Monitors that no longer exist are left out.
    """
    documents: dict[str, Document] = {}
    if statuses:
        documents[MONITORS] = _with_statuses(snapshot, statuses, format_utc(now))
    if notes:
        documents[JOURNAL] = _with_notes(snapshot, notes, now)
    parts = [f"checked {len(statuses):,} monitor{'' if len(statuses) == 1 else 's'}"] if statuses else []
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


def _with_notes(snapshot: Snapshot, notes: Iterable[JournalNote], now: datetime) -> Document:

    wanted = [(note.at, note.title, note.lines) for note in notes]
    try:
        return with_notes(snapshot, wanted, now)
    except UsageError:
        # A name or an output that Markdown would not read as a plain line: its signs are removed, the words stay.
        return with_notes(snapshot, [(at, title, [_tame(line) for line in lines]) for at, title, lines in wanted], now)


def _tame(line: str) -> str:
    words = " ".join("".join(" " if char in "`~<>#|*_+-=[]" else char for char in line).split())
    return words if words[:1].isalpha() else f"Monitor {words}"
