"""What follows from results: alerts, remediation, journal entries and messages."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING

from memory.monitoring import words
from memory.monitoring.alerts.channels import AlertRoute, read_route
from memory.monitoring.alerts.deliver import Delivery, Message, Messenger
from memory.monitoring.alerts.options import AlertOptions, ancestors, in_order, read_options
from memory.monitoring.alerts.state import AlertState, Happening, advance, held, told
from memory.monitoring.alerts.windows import ends_at

from .ledger import key_of
from .report import WatchedMonitor
from .writing import JournalNote

if TYPE_CHECKING:
    from memory.files.monitors import Monitor
    from memory.files.snapshot import Snapshot
    from memory.monitoring.checks.result import Result
    from memory.trust.consent import Ask

    from .repair import Repair
    from .run import _Run

APIECE = 20
"""More entries than this in one run are written as one."""
REPAIRS = 8
"""So many remediations run beside each other."""


@dataclass(frozen=True, slots=True)
class _Story:
    """What happened to one monitor in this run."""

    monitor: Monitor
    result: Result
    due: datetime | None
    happenings: tuple[Happening, ...] = ()
    first: Result | None = None
    silenced: str = ""
    repair: Repair | None = None

    @property
    def last(self) -> Result:
        """The newest look at it: the second check where there was one."""
        return self.repair.verified if self.repair is not None and self.repair.verified is not None else self.result

    @property
    def kinds(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(one.kind for one in self.happenings))

    @property
    def news(self) -> bool:
        """Whether it belongs into the journal."""
        return any(one.first for one in self.happenings) or (self.repair is not None and self.repair.ran)


class Telling:
    """Follows the results of one run; `states` are those that changed, `notes` the journal entries to be written."""

    def __init__(self, run: _Run, snapshot: Snapshot, chosen: Mapping[str, tuple[Monitor, Ask | None]]) -> None:
        """`chosen` are the monitors of this run, by name."""
        self._run = run
        self._snapshot = snapshot
        self._known = {key: AlertState.read(values) for key, values in run.ledger.alerts().items()}
        self._mutes = run.ledger.mutes()
        self._options: dict[str, AlertOptions] = {}
        self.states: dict[str, AlertState] = {}
        self.notes: list[JournalNote] = []
        self._chosen = chosen
        self._parents = {monitor.name: self._of(monitor).depends_on for monitor in snapshot.monitors.monitors}

    def _of(self, monitor: Monitor) -> AlertOptions:
        found = self._options.get(monitor.name)
        if found is None:
            found = self._options[monitor.name] = read_options(monitor)
        return found

    def state(self, name: str) -> AlertState:
        """Return how a monitor stands now."""
        return self.states.get(name) or self._known.get(key_of(name)) or AlertState()

    def follow(self, results: Sequence[tuple[Monitor, Result, datetime | None]]) -> list[WatchedMonitor]:
        """Advance, remediate, tell; return what is reported, in the order given."""
        run = self._run
        for monitor, _, _ in results:
            run.warnings += self._of(monitor).sentences
        by_name = {monitor.name: (monitor, result, due) for monitor, result, due in results}
        stories: dict[str, _Story] = {}
        for name in in_order(by_name, self._parents):
            stories[name] = self._advanced(*by_name[name])
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

    def _advanced(self, monitor: Monitor, result: Result, due: datetime | None) -> _Story:
        silenced = self._silenced(monitor)
        options = self._of(monitor)
        state, happenings = advance(
            self.state(monitor.name),
            result.state,
            self._run.now,
            options.settings,
            summary=result.summary,
            silenced=silenced,
        )
        self.states[monitor.name] = state
        return _Story(monitor, result, due, happenings, silenced=silenced)

    def _silenced(self, monitor: Monitor) -> str:
        """Say why nobody wants to hear of a monitor now; empty where somebody does."""
        now, zone = self._run.now, self._snapshot.zone
        for key in (key_of(monitor.name), "*"):
            if (until := self._mutes.get(key)) is not None and until > now:
                return "muted"
        if ends_at(self._of(monitor).maintenance, now, zone) is not None:
            return "maintenance window"
        for parent in ancestors(monitor.name, self._parents):
            if self.state(parent).alerting:
                return f"{words.plain(parent, 60)} is down"
        return ""

    # -- remediation ------------------------------------------------------------------------------------------

    def _repair(self, stories: dict[str, _Story]) -> None:
        """Remediate what fails, a few beside each other, and advance the alerts by the second checks."""
        from memory.trust.consent import remediations_of

        run = self._run
        remedies = remediations_of(run.asks(self._snapshot))
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
        from concurrent.futures import ThreadPoolExecutor

        from memory.monitoring.checks.check import check

        from .repair import repair

        around = run.around(self._snapshot)
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
                    # What it ran may have brought other files for the check itself.
                    lambda monitor=story.monitor, own=own: check(monitor, run.decide(own), around),  # type: ignore[misc]
                    now=run.now,
                    pause=run.ways.pause or time.sleep,
                )
                for story, ask, own in wanted
            ]
            done = [future.result() for future in futures]
        for (story, ask, _), outcome in zip(wanted, done, strict=True):
            if outcome.blocked is not None:
                run.block(ask, outcome.blocked)
            happenings = story.happenings
            if outcome.verified is not None and outcome.helped:
                options = self._of(story.monitor)
                state, after = advance(
                    self.state(story.monitor.name),
                    outcome.verified.state,
                    run.now,
                    options.settings,
                    summary=outcome.verified.summary,
                    silenced=story.silenced,
                )
                self.states[story.monitor.name] = state
                happenings = (*happenings, *after)
            stories[story.monitor.name] = replace(story, happenings=happenings, repair=outcome)

    # -- messages ---------------------------------------------------------------------------------------------

    def _tell(self, stories: Mapping[str, _Story]) -> dict[str, Delivery]:
        """Send what is to be told; a state counts as told only where a message went out."""
        run = self._run
        route = self._route()
        messenger = Messenger(run.ledger, route, run.now, self._snapshot.zone, run.ways.send)
        told_of, sent = messenger.digest()
        if sent is not None and not sent.ok:
            run.warnings.append(f"the digest was not sent: {words.plain(sent.detail)}")
        by_key = {key_of(monitor.name): monitor.name for monitor in self._snapshot.monitors.monitors}
        for one in told_of:
            name = by_key.get(one.monitor)
            if name is not None and one.kind == "alert" and self.state(name).told == "held":
                self.states[name] = told(self.state(name), "alert", run.now)
        messages: dict[str, tuple[Message, Happening]] = {}
        for name, story in stories.items():
            speaking = [one for one in story.happenings if not one.silenced]
            if speaking:
                # The last one is how it stands: a recovery by remediation says it all.
                happening = speaking[-1]
                messages[name] = (self._message(story, happening, route), happening)
        if messages:
            run.warnings += route.problems
        deliveries = messenger.deliver([message for message, _ in messages.values()])
        found: dict[str, Delivery] = {}
        for (name, (_, happening)), delivery in zip(messages.items(), deliveries, strict=True):
            found[name] = delivery
            if delivery.told == "yes":
                self.states[name] = told(self.state(name), happening.kind, run.now)
            elif delivery.told == "held":
                self.states[name] = held(self.state(name), happening.kind)
        return found

    def _route(self) -> AlertRoute:
        addresses = self._run.ways.addresses
        return AlertRoute() if addresses is None else read_route(self._snapshot, addresses)

    def _message(self, story: _Story, happening: Happening, route: AlertRoute) -> Message:
        monitor = story.monitor
        remediated = story.repair is not None and story.repair.ran and story.repair.helped
        result = story.last
        title = words.message_title(happening.kind, monitor, result, happening.occurrences, remediated=remediated)
        priority = self._of(monitor).priority or route.priority
        return Message(key_of(monitor.name), happening.kind, priority, title, "\n".join(self._lines(story)) or title)

    # -- the journal ------------------------------------------------------------------------------------------

    def _lines(self, story: _Story) -> list[str]:
        """Return what there is to say about one monitor, without the message."""
        lines: list[str] = []
        monitor, fix = story.monitor, story.repair
        kinds = {one.kind: one for one in story.happenings}
        fixed = fix is not None and fix.ran
        if "alert" in kinds or "reminder" in kinds or fixed:
            lines.append(words.alert_line(monitor, story.result, self._occurrences(story)))
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

    def _occurrences(self, story: _Story) -> int:
        """Return how many failures in a row there were, the one that was remediated just now too."""
        counts = [one.occurrences for one in story.happenings if one.occurrences]
        return max([*counts, self.state(story.monitor.name).failures, 1])

    def _note(self, stories: Mapping[str, _Story], deliveries: Mapping[str, Delivery]) -> None:
        """Make the journal entries: one for each monitor, or one for all where there are many."""
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
