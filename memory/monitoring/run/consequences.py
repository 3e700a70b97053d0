"""The consequences of results: alerts, remediation, messages, and what is written into the memory files."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING

from memory.base.clock import format_utc
from memory.errors import UsageError
from memory.files.edit import Edit
from memory.files.journal.edits import with_notes
from memory.monitoring import words
from memory.monitoring.alerts.channels import AlertRoute, read_route
from memory.monitoring.alerts.deliver import Delivery, Messenger
from memory.monitoring.alerts.options import ancestors, in_order, read_options
from memory.monitoring.alerts.state import AlertState, Happening, advance, held, told
from memory.monitoring.alerts.windows import ends_at
from memory.monitoring.checks.check import check
from memory.storage.own_folders import host_name
from memory.trust.consent import remediations_of

from .ledger import JournalNote, Message, key_of
from .repair import repair
from .report import WatchedMonitor

if TYPE_CHECKING:
    from memory.document import Document
    from memory.files.monitors import Monitor
    from memory.files.snapshot import Snapshot
    from memory.monitoring.checks.result import Result
    from memory.trust.consent import Ask

    from .repair import Repair
    from .run import _Run

APIECE = 20
"""More entries than this in one run are written as one."""
REPAIRS = 8
"""How many remediations run in parallel."""
MONITORS, JOURNAL = "monitors.md", "journal.md"


@dataclass(frozen=True, slots=True)
class _Story:
    """The events of one monitor in this run."""

    monitor: Monitor
    result: Result
    due: datetime | None
    happenings: tuple[Happening, ...] = ()
    silenced: str = ""
    repair: Repair | None = None

    @property
    def last(self) -> Result:
        """The newest result: that of the second check if there was one."""
        return self.repair.verified if self.repair is not None and self.repair.verified is not None else self.result

    @property
    def kinds(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(one.kind for one in self.happenings))

    @property
    def news(self) -> bool:
        """Whether it belongs in the journal."""
        return any(one.first for one in self.happenings) or (self.repair is not None and self.repair.ran)


class Telling:
    """Processes the results of one run; `states` are those that changed, `notes` the journal entries to be written."""

    def __init__(self, run: _Run, chosen: Mapping[str, tuple[Monitor, Ask | None]]) -> None:
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
        run = self._run
        for monitor, _, _ in results:
            run.warnings += [f"{one.place}: {one.message}" for one in self._options[monitor.name].problems]
        by_name = {monitor.name: (monitor, result, due) for monitor, result, due in results}
        stories: dict[str, _Story] = {}
        for name in in_order(by_name, self._parents):
            monitor, result, due = by_name[name]
            silenced = self._silenced(monitor)
            happenings = self._advance(name, result, silenced)
            stories[name] = _Story(monitor, result, due, happenings, silenced)
        self._repair(stories)
        deliveries = self._tell(stories)
        self._note(stories, deliveries)
        watched = []
        for monitor, _, due in results:
            story = stories[monitor.name]
            delivery = deliveries.get(monitor.name)
            said = words.notified_line(delivery.told, delivery.message.title, delivery.detail) if delivery else ""
            occurrences = max((one.occurrences for one in story.happenings), default=self.state(monitor.name).failures)
            watched.append(
                WatchedMonitor(monitor, story.last, due, story.kinds, occurrences, story.silenced, said, story.repair)
            )
        return watched

    # -- alerts -----------------------------------------------------------------------------------------------

    def _advance(self, name: str, result: Result, silenced: str) -> tuple[Happening, ...]:
        """Advance the state of a monitor by a result; return the events."""
        settings, now = self._options[name].settings, self._run.now
        self.states[name], happenings = advance(
            self.state(name), result.state, now, settings, summary=result.summary, silenced=silenced
        )
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

    def _repair(self, stories: dict[str, _Story]) -> None:
        """Remediate failing monitors, a few in parallel, and advance the alerts by the second checks."""
        run = self._run
        remedies = remediations_of(run.asks)
        wanted = []
        for story in stories.values():
            failing = story.result.state in ("failing", "error")
            if not failing or story.monitor.auto_remediate is None or story.silenced not in ("", "muted"):
                continue
            if not self.state(story.monitor.name).alerting:
                continue
            ask = remedies.get(story.monitor.name)
            if ask is not None:
                wanted.append((story, ask, self._chosen[story.monitor.name][1]))
        if not wanted:
            return

        around = run.around()
        with ThreadPoolExecutor(max_workers=min(REPAIRS, len(wanted))) as pool:
            futures = [
                pool.submit(
                    repair,
                    story.monitor,
                    ask,
                    partial(run.decide, ask),
                    self.state(story.monitor.name),
                    run.ledger,
                    around,
                    # The remediation may have changed files that the check itself uses.
                    lambda monitor=story.monitor, own=own: check(monitor, run.decide(own), around),  # type: ignore[misc]
                    now=run.now,
                    pause=run.services.pause or time.sleep,
                )
                for story, ask, own in wanted
            ]
            done = [future.result() for future in futures]
        for (story, ask, _), outcome in zip(wanted, done, strict=True):
            if outcome.blocked is not None:
                run.block(ask, outcome.blocked)
            happenings = story.happenings
            if outcome.verified is not None and outcome.helped:
                happenings += self._advance(story.monitor.name, outcome.verified, story.silenced)
            stories[story.monitor.name] = replace(story, happenings=happenings, repair=outcome)

    # -- messages ---------------------------------------------------------------------------------------------

    def _tell(self, stories: Mapping[str, _Story]) -> dict[str, Delivery]:
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
        speaking = {name: [one for one in story.happenings if not one.silenced] for name, story in stories.items()}
        # The last event is the current state: a recovery by remediation covers the alert before it.
        news = {name: happenings[-1] for name, happenings in speaking.items() if happenings}
        if news:
            run.warnings += route.problems
        messages = [self._message(stories[name], happening, route) for name, happening in news.items()]
        deliveries = dict(zip(news, messenger.deliver(messages), strict=True))
        for name, delivery in deliveries.items():
            if delivery.told == "yes":
                self.states[name] = told(self.state(name), news[name].kind, run.now)
            elif delivery.told == "held":
                self.states[name] = held(self.state(name), news[name].kind, run.now)
        return deliveries

    def _message(self, story: _Story, happening: Happening, route: AlertRoute) -> Message:
        monitor = story.monitor
        remediated = story.repair is not None and story.repair.ran and story.repair.helped
        result = story.last
        title = words.message_title(happening.kind, monitor, result, happening.occurrences, remediated=remediated)
        priority = self._options[monitor.name].priority or route.priority
        return Message(key_of(monitor.name), happening.kind, priority, title, "\n".join(self._lines(story)) or title)

    # -- the journal ------------------------------------------------------------------------------------------

    def _lines(self, story: _Story) -> list[str]:
        """Return the lines about one monitor, without the message."""
        lines: list[str] = []
        monitor, fix = story.monitor, story.repair
        kinds = {one.kind: one for one in story.happenings}
        fixed = fix is not None and fix.ran
        if "alert" in kinds or "reminder" in kinds or fixed:
            # A remediation that helped set the state's number back, so that of the events counts too.
            counts = [one.occurrences for one in story.happenings]
            occurrences = max([*counts, self.state(monitor.name).failures, 1])
            lines.append(words.alert_line(monitor, story.result, occurrences))
        if "flapping" in kinds:
            lines.append(words.flapping_line(monitor))
        if fix is not None and fix.ran:
            lines.append(words.remediation_line(fix.command, fix.failure))
            if fix.verified is not None:
                lines.append(words.verified_line(monitor, fix.verified))
            if fix.stopped:
                lines.append(words.no_remediation_line("stopped, for the last two did not help"))
        elif "recovered" in kinds:
            lines.append(words.recovered_line(monitor, story.result, kinds["recovered"].lasted))
        if fix is not None and fix.blocked:
            lines.append(words.no_remediation_line("not run, it needs approval"))
        return lines

    def _note(self, stories: Mapping[str, _Story], deliveries: Mapping[str, Delivery]) -> None:
        """Create the journal entries: one for each monitor, or one for all if there are many."""
        news = [story for story in stories.values() if story.news]
        if len(news) > APIECE:
            lines = [line for story in news for line in self._lines(story)[:1]]
            sent = [d for d in deliveries.values() if d.told == "yes"]
            if sent:
                lines.append(f"Notification sent for {words.plural(len(sent), 'monitor')}")
            self.notes.append(JournalNote(self._run.now, words.ALERT, tuple(lines)))
            return
        for story in news:
            lines = self._lines(story)
            delivery = deliveries.get(story.monitor.name)
            if delivery is not None:
                lines.append(words.notified_line(delivery.told, delivery.message.title, delivery.detail))
            elif story.silenced:
                lines.append(f"No notification: {story.silenced}")
            only_recovered = story.kinds == ("recovered",) and story.repair is None
            title = words.RECOVERED if only_recovered else words.ALERT
            self.notes.append(JournalNote(self._run.now, title, tuple(line for line in lines if line)))


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
    monitors = snapshot.monitors
    document = monitors.document
    by_section: dict[int, dict[int, str]] = {}
    for monitor in monitors.monitors:
        status = statuses.get(monitor.name)
        if status is not None:
            section, number = monitor.at
            by_section.setdefault(section, {})[number] = status
    for index, changed in by_section.items():
        section_now = document.sections[index]
        entries = [
            entry
            if number not in changed
            else entry.set_field("lastCheck", checked).set_field("lastStatus", changed[number])
            for number, entry in enumerate(section_now.entries)
        ]
        document = document.with_section(index, section_now.with_entries(entries))
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
