"""The plan of a run: the rules applied to a snapshot, and the resulting files, archives first."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import date, datetime, timedelta
from functools import cache
from typing import NamedTuple

from memory.base.safe_text import plural
from memory.document import Document
from memory.document.nodes import Entry
from memory.files.journal.model import JournalEntry
from memory.files.plans.model import Plan
from memory.files.snapshot import Snapshot
from memory.files.tasks.model import Task

from .report import Gone, RuleReport, Stays
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
    Closed,
    Dated,
    Kept,
    LeavingDay,
    Place,
    RestoredIn,
    RuleResult,
    Today,
    add_completed,
    add_days,
    archive_name,
    choose_old,
    choose_surplus,
    completed_plans,
    completed_tasks,
    days,
    journal_entries,
    new_archive,
    staying,
)


class MaintenancePlan(NamedTuple):
    """What a run would do. `documents` maps file names to new content in the order of writing; empty: nothing to do.

    `before` holds the same files as they are, None where there is none. The documents are not stamped with `updated`
    yet, except new archives.
    """

    rules: tuple[RuleReport, ...]
    documents: Mapping[str, Document]
    before: Mapping[str, Document | None]
    warnings: tuple[str, ...] = ()


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
    planner = _Planner(snapshot, now, Today(now, zone), restored)
    if ARCHIVE_TASKS in rules:
        age = settings.archive_days
        planner.completed(
            ARCHIVE_TASKS, TASKS, completed_tasks, days(age), f"completed more than {plural(age, 'day')} ago"
        )
    if PRUNE_JOURNAL in rules or CAP_JOURNAL in rules:
        planner.journal(
            settings.prune_days if PRUNE_JOURNAL in rules else None,
            settings.max_entries if CAP_JOURNAL in rules else None,
        )
    if CLEAR_PLANS in rules:
        planner.completed(CLEAR_PLANS, PLANS, completed_plans, PLAN_AGE, "completed more than 24 hours ago")
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
        self._warnings: list[str] = []

    def plan(self) -> MaintenancePlan:
        """Return the collected plan; archives come before the files that lose entries to them."""
        documents = {**self._archives, **self._sources}
        before = {name: self._snapshot.found(name) for name in documents}
        return MaintenancePlan(tuple(self._reports), documents, before, tuple(self._warnings))

    def completed(
        self, rule: str, kind: str, candidates: Callable[[Document, Today], Dated], age: timedelta, why: str
    ) -> None:
        """Apply the rule of completed tasks or of completed plans."""
        document = self._snapshot.document(f"{kind}.md")
        kept = self._kept(kind, document, age)
        dated = candidates(document, self._today)
        choice = choose_old(document, dated, self._today, age, self._closed(kind), kept)
        self._report(rule, kind, document, choice, why)
        arrivals: dict[str, list[tuple[date, Entry]]] = {}
        for (section, number), day in choice.picks:
            entry = document.section(section).entries[number]
            arrivals.setdefault(archive_name(kind, day), []).append((day, entry))
        for name in sorted(arrivals):
            base = self._archive(kind, name, document)
            self._archives[name] = add_completed(base, kind, arrivals[name], self._today.zone)
        if choice.picks:
            self._sources[f"{kind}.md"] = _without(document, choice.picks, drop=())

    def journal(self, age: int | None, most: int | None) -> None:
        """Apply prune-old-journal (an age in days) and cap-journal (a number of entries); None: not that rule."""
        document = self._snapshot.document(f"{JOURNAL}.md")
        closed = self._closed(JOURNAL)
        kept = self._kept(JOURNAL, document, days(self._snapshot.config.maintenance().prune_days))
        dated = list(journal_entries(document, self._today))
        picks: list[tuple[Place, date]] = []
        if age is not None:
            choice = choose_old(document, dated, self._today, days(age), closed, kept)
            self._report(PRUNE_JOURNAL, JOURNAL, document, choice, f"dated more than {plural(age, 'day')} ago")
            picks += choice.picks
        if most is not None:
            gone = {place for place, _ in picks}
            choice = choose_surplus(document, [one for one in dated if one[0] not in gone], most, closed, kept)
            why = f"the oldest over {plural(most, 'entry')}"
            self._report(CAP_JOURNAL, JOURNAL, document, choice, why)
            picks += choice.picks
            left = choice.before - len(choice.picks)
            if left > most:
                self._warnings.append(
                    f"journal.md keeps {left:,} entries, more than {most:,}: {len(choice.left):,} cannot be moved"
                )
        if picks:
            self._move_days(document, picks)

    def _move_days(self, document: Document, picks: Sequence[tuple[Place, date]]) -> None:
        """Move picked journal entries to the sections of their dates, and drop sections that become empty."""
        numbers: dict[tuple[int, date], list[int]] = {}
        for (section, number), day in sorted(picks):
            numbers.setdefault((section, day), []).append(number)
        arrivals: dict[str, list[LeavingDay]] = {}
        emptied = set()
        for (section, day), chosen in numbers.items():
            leaving = LeavingDay(day, document.section(section), chosen)
            arrivals.setdefault(archive_name(JOURNAL, day), []).append(leaving)
            if leaving.whole:
                emptied.add(section)
        for name in sorted(arrivals):
            self._archives[name] = add_days(self._archive(JOURNAL, name, document), arrivals[name], like=document)
        self._sources["journal.md"] = _without(document, picks, drop=emptied)

    def _kept(self, kind: str, document: Document, age: timedelta) -> Kept:
        """Return whether an entry was restored a short time ago; the log is read only where something would move."""
        name = f"{kind}.md"

        @cache
        def places() -> Collection[Place]:
            return staying(name, document, self._restored(name), self._today, age)

        return lambda place: place in places()

    def _archive(self, kind: str, name: str, source: Document) -> Document:
        """Return an archive as it is, or a new one."""
        found = self._snapshot.found(name)
        return found if found is not None and found.dump().strip() else new_archive(kind, self._now, source)

    def _closed(self, kind: str) -> Closed:
        """Return a function that returns why the archive of a date's month accepts no entries (None: it does)."""

        @cache
        def reason(name: str) -> str | None:
            found = self._snapshot.found(name)
            if found is None or not found.open_end:
                return None
            words = f"{name} ends inside a code fence or HTML block that is never closed"
            self._warnings.append(f"{words}; entries of that month stay until it is")
            return words

        return lambda day: reason(archive_name(kind, day))

    def _report(self, rule: str, kind: str, document: Document, choice: RuleResult, why: str) -> None:
        view_of = _views(self._snapshot, kind) if choice.picks or choice.left else lambda _: None

        def named(place: Place) -> tuple[str | None, str]:
            """Return the ref (None for an entry in no view) and the title of an entry."""
            view = view_of(place)
            if view is not None:
                return view.ref, view.title
            return None, document.section(place[0]).entries[place[1]].title

        moves = tuple(Gone(*named(place), archive_name(kind, day), day.isoformat()) for place, day in choice.picks)
        left = tuple(Stays(*named(place), reason) for place, reason in choice.left)
        moved = len(moves)
        cleared = moved if rule == CLEAR_PLANS else 0
        before = choice.before
        self._reports.append(
            RuleReport(rule, f"{kind}.md", before, before - moved, moved - cleared, cleared, moves, left, why=why)
        )


def _without(document: Document, picks: Iterable[tuple[Place, date]], drop: Collection[int]) -> Document:
    """Return the document without the picked entries and without the sections to drop."""
    gone: dict[int, set[int]] = {}
    for place, _ in picks:
        gone.setdefault(place[0], set()).add(place[1])
    sections = []
    for index, section in enumerate(document.sections):
        if index in drop:
            continue
        if out := gone.get(index):
            section = section.with_entries(entry for at, entry in enumerate(section.entries) if at not in out)
        sections.append(section)
    return document.replaced(sections=tuple(sections))


def _views(snapshot: Snapshot, kind: str) -> Callable[[Place], Task | JournalEntry | Plan | None]:
    """Return a function that returns the typed view of the entry at a place; None for one in no view."""
    if kind == TASKS:
        return {task.at: task for task in snapshot.tasks}.get
    if kind == PLANS:
        return {plan.at: plan for plan in snapshot.plans.items}.get
    journal = snapshot.journal
    return {entry.at: entry for day in journal.days for entry in journal.of_day(day)}.get
