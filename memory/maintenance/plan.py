"""The plan of a run: the rules applied to a snapshot, and the resulting files, archives first."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import NamedTuple

from memory.base.clock import BadMoment, read_moment
from memory.document import Document
from memory.document.nodes import Entry
from memory.files.journal.model import JournalEntry
from memory.files.plans.model import Plan
from memory.files.snapshot import Snapshot
from memory.files.tasks.model import Task

from .archive import LeavingDay, add_completed, add_days, new_archive
from .report import Gone, RuleReport, Stays
from .restored import RestoredIn, staying
from .rules import (
    ALL_RULES,
    ARCHIVE_TASKS,
    CAP_JOURNAL,
    CLEAR_PLANS,
    JOURNAL,
    PLAN_AGE,
    PLANS,
    PRUNE_JOURNAL,
    TASKS,
    LeavingEntries,
    RuleResult,
    Today,
    archive_name,
    choose_old_journal,
    choose_plans,
    choose_surplus,
    choose_tasks,
    days,
)


class MaintenancePlan(NamedTuple):
    """What a run would do. `documents` maps file names to new content in the order of writing; empty: nothing to do.

    `before` holds every file that the plan read, None where there is none. The documents are not stamped with `updated`
    yet, except new archives.
    """

    rules: tuple[RuleReport, ...]
    documents: Mapping[str, Document]
    before: Mapping[str, Document | None]
    warnings: tuple[str, ...] = ()

    def fits(self, snapshot: Snapshot) -> bool:
        """Return whether the files are still those that the plan was made from."""
        return all(
            snapshot.document(name) is document if document is not None else not snapshot.exists(name)
            for name, document in self.before.items()
        )


def plan_maintenance(
    snapshot: Snapshot,
    now: datetime,
    rules: Collection[str] = ALL_RULES,
    restored: RestoredIn = lambda _: (),
) -> MaintenancePlan:
    """Apply the rules to a snapshot and return what would be written; nothing is written.

    `restored` returns the entries that a person restored into a file: the time of the restore counts as their date.

    Raises ConfigError (`config.value`, with file and line) for a setting that is not a number or an unknown zone,
    ValueError for an unknown rule, and the errors of reading files.
    """
    unknown = set(rules) - set(ALL_RULES)
    if unknown:
        raise ValueError(f"no such rule: {', '.join(sorted(unknown))}")
    settings = snapshot.config.maintenance()
    # With an unknown name, entries would be moved by the days of another zone.
    zone = snapshot.config.require_zone(lambda: snapshot.zone)
    planner = _Planner(snapshot, now, Today.of(now, zone), restored)
    if ARCHIVE_TASKS in rules:
        planner.tasks(settings.archive_days)
    if PRUNE_JOURNAL in rules or CAP_JOURNAL in rules:
        planner.journal(
            settings.prune_days if PRUNE_JOURNAL in rules else None,
            settings.max_entries if CAP_JOURNAL in rules else None,
        )
    if CLEAR_PLANS in rules:
        planner.plans()
    return planner.plan()


class _Planner:
    """Applies the rules one after the other and collects their results."""

    def __init__(self, snapshot: Snapshot, now: datetime, today: Today, restored: RestoredIn) -> None:
        self._snapshot = snapshot
        self._now = now
        self._today = today
        self._restored = restored
        self._reports: list[RuleReport] = []
        self._archives: dict[str, Document] = {}
        self._sources: dict[str, Document] = {}
        self._before: dict[str, Document | None] = {}
        self._closed: dict[str, str | None] = {}
        self._warnings: list[str] = []
        self._look("config.md")

    def plan(self) -> MaintenancePlan:
        """Return the collected plan; archives come before the files that lose entries to them."""
        documents = {**self._archives, **self._sources}
        return MaintenancePlan(tuple(self._reports), documents, self._before, tuple(self._warnings))

    def tasks(self, age: int) -> None:
        """Apply archive-completed-tasks."""
        document = self._source(TASKS)
        choice = choose_tasks(document, self._today, days(age), self._closed_for(TASKS))
        self._completed(ARCHIVE_TASKS, TASKS, document, choice, days(age), f"completed more than {_days(age)} ago")

    def plans(self) -> None:
        """Apply clear-completed-orchestration."""
        document = self._source(PLANS)
        choice = choose_plans(document, self._today, self._closed_for(PLANS))
        self._completed(CLEAR_PLANS, PLANS, document, choice, PLAN_AGE, "completed more than 24 hours ago")

    def _completed(
        self, rule: str, kind: str, document: Document, choice: RuleResult, age: timedelta, why: str
    ) -> None:
        """Report and move chosen tasks or plans."""
        choice = choice.without(self._staying(kind, document, choice, age))
        self._report(rule, kind, document, choice, why)
        if choice.picks:
            self._move(kind, document, choice.picks)

    def journal(self, age: int | None, most: int | None) -> None:
        """Apply prune-old-journal (an age in days) and cap-journal (a number of entries); None: not that rule."""
        document = self._source(JOURNAL)
        closed = self._closed_for(JOURNAL)
        picks: tuple[LeavingEntries, ...] = ()
        more: tuple[LeavingEntries, ...] = ()
        if age is not None:
            choice = choose_old_journal(document, self._today, days(age), closed)
            choice = choice.without(self._staying(JOURNAL, document, choice, days(age)))
            picks = choice.picks
            self._report(PRUNE_JOURNAL, JOURNAL, document, choice, f"dated more than {_days(age)} ago")
        if most is not None:
            stay = days(self._snapshot.config.maintenance().prune_days)
            choice = choose_surplus(document, self._today, most, picks, closed)
            if kept_places := self._staying(JOURNAL, document, choice, stay):
                choice = choose_surplus(document, self._today, most, picks, closed, kept_places)
            why = f"the oldest over {most:,} {'entry' if most == 1 else 'entries'}"
            self._report(CAP_JOURNAL, JOURNAL, document, choice, why)
            more = choice.picks
            kept = choice.before - choice.moved
            if kept > most:
                self._warnings.append(
                    f"journal.md keeps {kept:,} entries, more than {most:,}: {len(choice.left):,} cannot be moved"
                )
        if picks or more:
            self._move_days(document, (*picks, *more))

    def _staying(self, kind: str, document: Document, choice: RuleResult, age: timedelta) -> frozenset[tuple[int, int]]:
        """Return the places of recently restored entries; the log is read only where something would move."""
        if not choice.picks:
            return frozenset()

        name = f"{kind}.md"
        return staying(name, document, self._restored(name), self._today, age)

    # -- files ------------------------------------------------------------------------------------------------

    def _look(self, name: str) -> Document | None:
        """Return a file as it is, None where there is none; the plan is valid only while it stays unchanged."""
        if name not in self._before:
            self._before[name] = self._snapshot.found(name)
        return self._before[name]

    def _source(self, kind: str) -> Document:
        """Return the file that loses entries; an empty document where it is missing."""
        self._look(f"{kind}.md")
        return self._snapshot.document(f"{kind}.md")

    def _archive(self, kind: str, name: str, source: Document) -> Document:
        """Return an archive as it is, or a new one."""
        found = self._before[name]
        if found is not None and found.dump().strip():
            return found

        return new_archive(kind, self._now, source)

    def _closed_for(self, kind: str) -> Callable[[date], str | None]:
        """Return a function that returns why the archive of a date's month accepts no entries (None: it does)."""

        def closed(day: date) -> str | None:
            name = archive_name(kind, day)
            if name not in self._closed:
                found, reason = self._look(name), None
                if found is not None and found.open_end:
                    reason = f"{name} ends inside a code fence or HTML block that is never closed"
                    self._warnings.append(f"{reason}; entries of that month stay until it is")
                self._closed[name] = reason
            return self._closed[name]

        return closed

    # -- reports ----------------------------------------------------------------------------------------------

    def _report(
        self,
        rule: str,
        kind: str,
        document: Document,
        choice: RuleResult,
        why: str,
    ) -> None:
        view_of = _views(self._snapshot, kind)

        def named(section: int, number: int) -> tuple[str | None, str]:
            """Return the ref (None for an entry in no view) and the title of an entry."""
            view = view_of((section, number))
            if view is not None:
                return view.ref, view.title
            return None, document.section(section).entries[number].title

        moves = [
            Gone(*named(section, number), archive_name(kind, day), day.isoformat())
            for section, numbers, day in choice.picks
            for number in numbers
        ]
        left = [Stays(*named(section, number), reason) for section, number, reason in choice.left]
        moved = len(moves)
        cleared = moved if rule == CLEAR_PLANS else 0
        kept = choice.before - moved
        self._reports.append(
            RuleReport(
                rule, f"{kind}.md", choice.before, kept, moved - cleared, cleared, tuple(moves), tuple(left), why=why
            )
        )

    # -- moving -----------------------------------------------------------------------------------------------

    def _move(self, kind: str, document: Document, picks: Sequence[LeavingEntries]) -> None:
        """Move picked entries into the one section of their archives."""
        arrivals: dict[str, list[tuple[date, Entry]]] = {}
        for section, numbers, day in picks:
            entries = document.section(section).entries
            arrivals.setdefault(archive_name(kind, day), []).extend((day, entries[number]) for number in numbers)
        for name in sorted(arrivals):
            base = self._archive(kind, name, document)
            self._archives[name] = add_completed(base, kind, arrivals[name], self._completed_on)
        self._sources[f"{kind}.md"] = _without(document, picks, drop=())

    def _completed_on(self, entry: Entry) -> date | None:
        try:
            moment = read_moment(entry.fields.get("completed", ""), self._today.zone)
        except BadMoment:
            return None
        return moment.date if moment is not None else None

    def _move_days(self, document: Document, picks: Sequence[LeavingEntries]) -> None:
        """Move picked journal entries to the sections of their dates, and drop sections that become empty."""
        arrivals: dict[str, list[LeavingDay]] = {}
        for pick in _by_section(picks):
            day = LeavingDay(pick.date, document.section(pick.section), pick.entries)
            arrivals.setdefault(archive_name(JOURNAL, pick.date), []).append(day)
        emptied = {
            pick.section
            for pick in _by_section(picks)
            if LeavingDay(pick.date, document.section(pick.section), pick.entries).whole
        }
        for name in sorted(arrivals):
            base = self._archive(JOURNAL, name, document)
            self._archives[name] = add_days(base, arrivals[name], like=document)
        self._sources["journal.md"] = _without(document, picks, drop=emptied)


def _days(number: int) -> str:
    return "1 day" if number == 1 else f"{number:,} days"


def _by_section(picks: Iterable[LeavingEntries]) -> list[LeavingEntries]:
    """Return one pick for each section, in file order."""
    found: dict[int, LeavingEntries] = {}
    for pick in picks:
        known = found.get(pick.section)
        found[pick.section] = pick._replace(entries=sorted((*known.entries, *pick.entries))) if known else pick
    return [found[section] for section in sorted(found)]


def _without(document: Document, picks: Iterable[LeavingEntries], drop: Collection[int]) -> Document:
    """Return the document without the picked entries and without the sections to drop."""
    gone: dict[int, set[int]] = {}
    for pick in picks:
        if pick.section not in drop:
            gone.setdefault(pick.section, set()).update(pick.entries)
    sections = []
    for index, section in enumerate(document.sections):
        out = gone.get(index)
        if out:
            section = section.with_entries(entry for at, entry in enumerate(section.entries) if at not in out)
        if index not in drop:
            sections.append(section)
    return document.replaced(sections=tuple(sections))


def _views(snapshot: Snapshot, kind: str) -> Callable[[tuple[int, int]], Task | JournalEntry | Plan | None]:
    """Return a function that returns the typed view of the entry at (section, entry); None for one in no view."""
    if kind == TASKS:
        return lambda place: snapshot.tasks.at(*place)
    if kind == PLANS:
        return {plan.at: plan for plan in snapshot.plans.plans}.get
    journal = snapshot.journal
    days = {day.section: day for day in journal.days}
    return lambda place: journal.of_day(days[place[0]])[place[1]] if place[0] in days else None
