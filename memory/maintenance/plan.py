"""The plan of a run: the rules applied to a snapshot, and the files as they would be, archives first."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime, timedelta
from itertools import islice
from typing import TYPE_CHECKING, overload

from memory.base.clock import BadMoment, read_moment
from memory.named_tuple import NamedTuple

from . import archive
from .archive import LeavingDay, archive_name
from .report import Move, NamedEntry, RuleReport, Skip
from .returned import LeftBy, RestoredIn, Returned, staying, without
from .rules import (
    ALL_RULES,
    ARCHIVE_TASKS,
    CAP_JOURNAL,
    CLEAR_PLANS,
    PLAN_AGE,
    PRUNE_JOURNAL,
    LeavingEntries,
    RuleResult,
    Today,
    choose_old_journal,
    choose_plans,
    choose_surplus,
    choose_tasks,
    completed_text,
    days,
)

if TYPE_CHECKING:
    from memory.document import Document
    from memory.document.nodes import Entry
    from memory.files.journal.model import Day as JournalDay
    from memory.files.snapshot import Snapshot


class MaintenancePlan(NamedTuple):
    """What a run would do. `documents` maps file names to new content in the order of writing; empty: nothing to do.

    `before` holds every file that the plan looked at as it was, None where there is none. The documents are not
    stamped with `updated` yet, new archives apart.
    """

    rules: tuple[RuleReport, ...]
    documents: Mapping[str, Document]
    before: Mapping[str, Document | None]
    warnings: tuple[str, ...] = ()

    def fits(self, snapshot: Snapshot) -> bool:
        """Tell whether the files are still those that the plan was made from."""
        return all(
            snapshot.document(name) is document if document is not None else not snapshot.exists(name)
            for name, document in self.before.items()
        )


def plan_maintenance(
    snapshot: Snapshot,
    now: datetime,
    rules: Collection[str] = ALL_RULES,
    left: LeftBy = lambda _: None,
    restored: RestoredIn = lambda _: (),
) -> MaintenancePlan:
    """Apply the rules to a snapshot and return what would be written; nothing is written.

    `left` returns the bytes in which the last maintenance left a file: journal entries that came back since and stand
    in their archive are told from others by it. `restored` returns what a person brought back into a file: the time of
    that counts as its date.

    Raises ConfigError (`config.value`, with file and line) for a setting that is no number or an unknown zone,
    ValueError for an unknown rule, and what the file system refuses to read.
    """
    unknown = set(rules) - set(ALL_RULES)
    if unknown:
        raise ValueError(f"no such rule: {', '.join(sorted(unknown))}")
    settings = snapshot.config.maintenance()
    # A name that nobody knows would move entries by the days of another zone.
    zone = snapshot.config.require_zone(lambda: snapshot.zone)
    planner = _Planner(snapshot, now, Today.of(now, zone), left, restored)
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
    """Collects rule after rule."""

    def __init__(self, snapshot: Snapshot, now: datetime, today: Today, left: LeftBy, restored: RestoredIn) -> None:
        self._snapshot = snapshot
        self._now = now
        self._today = today
        self._left = left
        self._restored = restored
        self._reports: list[RuleReport] = []
        self._archives: dict[str, Document] = {}
        self._new: dict[str, Document] = {}  # An archive without entries, by its kind: each month's begins as one.
        self._sources: dict[str, Document] = {}
        self._before: dict[str, Document | None] = {"config.md": self._look("config.md")}
        self._closed: dict[str, str | None] = {}
        self._warnings: list[str] = []

    def plan(self) -> MaintenancePlan:
        """Return what was collected; archives stand before the files that lose entries to them."""
        documents = {**self._archives, **self._sources}
        return MaintenancePlan(tuple(self._reports), documents, self._before, tuple(self._warnings))

    def tasks(self, age: int) -> None:
        """Apply archive-completed-tasks."""
        document = self._source("tasks.md")
        choice = choose_tasks(document, self._today, days(age), self._closed_for(archive.TASKS))
        choice = without(choice, self._staying("tasks.md", document, choice, days(age)))
        picks, back = self._returned(archive.TASKS, document).split(choice.picks)
        why = f"completed more than {_days(age)} ago"
        self._report(ARCHIVE_TASKS, "tasks.md", document, archive.TASKS, choice, picks, back, why)
        self._move(archive.TASKS, "tasks.md", document, picks, back)

    def plans(self) -> None:
        """Apply clear-completed-orchestration."""
        document = self._source("orchestration.md")
        choice = choose_plans(document, self._today, self._closed_for(archive.PLANS))
        choice = without(choice, self._staying("orchestration.md", document, choice, PLAN_AGE))
        picks, back = self._returned(archive.PLANS, document).split(choice.picks)
        why = "completed more than 24 hours ago"
        self._report(CLEAR_PLANS, "orchestration.md", document, archive.PLANS, choice, picks, back, why)
        self._move(archive.PLANS, "orchestration.md", document, picks, back)

    def journal(self, age: int | None, most: int | None) -> None:
        """Apply prune-old-journal (an age in days) and cap-journal (a number of entries); None: not that rule."""
        document = self._source("journal.md")
        closed = self._closed_for(archive.JOURNAL)
        returned = self._returned(archive.JOURNAL, document)
        picks: tuple[LeavingEntries, ...] = ()
        away: tuple[LeavingEntries, ...] = ()
        back: tuple[LeavingEntries, ...] = ()
        if age is not None:
            choice = choose_old_journal(document, self._today, days(age), closed)
            choice = without(choice, self._staying("journal.md", document, choice, days(age)))
            picks = choice.picks
            why = f"dated more than {_days(age)} ago"
            away, back = returned.split(picks)
            self._report(PRUNE_JOURNAL, "journal.md", document, archive.JOURNAL, choice, away, back, why)
        if most is not None:
            stay = days(self._snapshot.config.maintenance().prune_days)
            choice = choose_surplus(document, self._today, most, picks, closed)
            if kept_places := self._staying("journal.md", document, choice, stay):
                choice = choose_surplus(document, self._today, most, picks, closed, kept_places)
            why = f"the oldest over {most:,} {'entry' if most == 1 else 'entries'}"
            more, again = returned.split(choice.picks)
            self._report(CAP_JOURNAL, "journal.md", document, archive.JOURNAL, choice, more, again, why)
            away, back = (*away, *more), (*back, *again)
            kept = choice.before - choice.moved
            if kept > most:
                self._warnings.append(
                    f"journal.md keeps {kept:,} entries, more than {most:,}: {len(choice.left):,} cannot be moved"
                )
        self._move_days(document, away, back)

    def _staying(self, name: str, document: Document, choice: RuleResult, age: timedelta) -> frozenset[tuple[int, int]]:
        """Return the places of what was brought back lately; the log is asked only where something would move."""
        if not choice.picks:
            return frozenset()
        return staying(name, document, self._restored(name), self._today, age)

    # -- files ------------------------------------------------------------------------------------------------

    def _look(self, name: str) -> Document | None:
        return self._snapshot.document(name) if self._snapshot.exists(name) else None

    def _source(self, name: str) -> Document:
        self._before[name] = self._look(name)
        return self._snapshot.document(name)

    def _standing(self, name: str) -> Document | None:
        """Return an archive as it is; the plan holds only while it stays so."""
        if name not in self._before:
            self._before[name] = self._look(name)
        return self._before[name]

    def _archive(self, kind: str, name: str, source: Document) -> Document:
        """Return an archive as it is, or a new one."""
        found = self._before[name]
        if found is None or not found.dump().strip():
            if kind not in self._new:
                self._new[kind] = archive.new_archive(kind, self._now, source)
            return self._new[kind]
        return found

    def _closed_for(self, kind: str) -> Callable[[date], str | None]:
        """Return a function that tells why the archive of a date's month takes nothing (None: it does)."""

        def closed(day: date) -> str | None:
            name = archive_name(kind, day)
            if name not in self._closed:
                self._before[name] = found = self._look(name)
                reason = None
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
        file: str,
        document: Document,
        kind: str,
        choice: RuleResult,
        away: Sequence[LeavingEntries],
        back: Sequence[LeavingEntries],
        why: str,
    ) -> None:
        views = _Views(self._snapshot, file)
        moves, returns = (_Moves(document, kind, picks, views) for picks in (away, back))
        moved = len(moves)
        cleared = moved if rule == CLEAR_PLANS else 0
        self._reports.append(
            RuleReport(
                rule,
                file,
                choice.before,
                choice.before - moved - len(returns),
                moved - cleared,
                cleared,
                moves,
                tuple(
                    Skip(document.section(left.section).entries[left.entry], left[:2], views.of, left.reason)
                    for left in choice.left
                ),
                why=why,
                returned=len(returns),
                returns=returns,
            )
        )

    # -- moving -----------------------------------------------------------------------------------------------

    def _returned(self, kind: str, document: Document) -> Returned:
        return Returned(kind, document, self._standing, self._left)

    def _move(
        self, kind: str, file: str, document: Document, picks: Sequence[LeavingEntries], back: Sequence[LeavingEntries]
    ) -> None:
        """Move picked entries into the one section of their archives; those that came back only leave."""
        self._stay_as_they_are(kind, back)
        arrivals: dict[str, list[tuple[date, Entry]]] = {}
        for section, numbers, day in picks:
            entries = document.section(section).entries
            arrivals.setdefault(archive_name(kind, day), []).extend((day, entries[number]) for number in numbers)
        for name in sorted(arrivals):
            base = self._archive(kind, name, document)
            self._archives[name] = archive.add_completed(base, kind, arrivals[name], self._completed)
        if picks or back:
            self._sources[file] = _without(document, (*picks, *back), drop=())

    def _stay_as_they_are(self, kind: str, back: Iterable[LeavingEntries]) -> None:
        """Take archives into the change that hold what came back, so that nobody can take those away meanwhile."""
        for name in sorted({archive_name(kind, pick.date) for pick in back}):
            found = self._before[name]
            assert found is not None
            self._archives[name] = found

    def _completed(self, entry: Entry) -> date | None:
        try:
            moment = read_moment(completed_text(entry) or "", self._today.zone)
        except BadMoment:
            return None
        return moment.date if moment is not None else None

    def _move_days(self, document: Document, picks: Sequence[LeavingEntries], back: Sequence[LeavingEntries]) -> None:
        """Move picked journal entries to the sections of their dates, and drop sections that nothing is left in.

        Those that came back only leave.
        """
        self._stay_as_they_are(archive.JOURNAL, back)
        arrivals: dict[str, list[LeavingDay]] = {}
        emptied = set()
        for pick in _by_section(picks):
            day = LeavingDay(pick.date, document.section(pick.section), pick.entries)
            arrivals.setdefault(archive_name(archive.JOURNAL, pick.date), []).append(day)
        for pick in _by_section((*picks, *back)):
            if LeavingDay(pick.date, document.section(pick.section), pick.entries).whole:
                emptied.add(pick.section)
        for name in sorted(arrivals):
            base = self._archive(archive.JOURNAL, name, document)
            self._archives[name] = archive.add_days(base, arrivals[name], like=document)
        if picks or back:
            self._sources["journal.md"] = _without(document, (*picks, *back), drop=emptied)


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


class _Moves(Sequence[Move]):
    """The moves of a rule, made one by one when somebody looks at them."""

    def __init__(self, document: Document, kind: str, picks: Sequence[LeavingEntries], views: _Views) -> None:
        self._document = document
        self._kind = kind
        self._picks = picks
        self._views = views
        self._size = sum(len(pick.entries) for pick in picks)

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Move]:
        for section, numbers, day in self._picks:
            entries = self._document.section(section).entries
            to = archive_name(self._kind, day)
            for number in numbers:
                yield Move(entries[number], (section, number), self._views.of, to, day.isoformat())

    @overload
    def __getitem__(self, index: int) -> Move: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Move]: ...

    def __getitem__(self, index: int | slice) -> Move | Sequence[Move]:
        if isinstance(index, slice) and index.start is None and index.step is None and (index.stop or 0) >= 0:
            return tuple(islice(self, index.stop))
        return tuple(self)[index]


class _TaskName:
    """What a task is called: its title is in its heading, and for its ref alone all tasks of the file are looked at."""

    def __init__(self, snapshot: Snapshot, at: tuple[int, int]) -> None:
        self._snapshot = snapshot
        self.at = at

    @property
    def title(self) -> str:
        from memory.files.tasks.values import Head

        section, number = self.at
        return self._snapshot.document("tasks.md").section(section).entries[number].memo(Head).title

    @property
    def ref(self) -> str:
        return self._snapshot.tasks.ref_at(*self.at)


class _Views:
    """The typed views of a file's entries by their place; only the sections that somebody asks about are looked at."""

    def __init__(self, snapshot: Snapshot, file: str) -> None:
        self._snapshot = snapshot
        self._file = file
        self._known: dict[int, Mapping[int, NamedEntry]] = {}  # Of a section of the journal or of the plans.
        self._days: dict[int, JournalDay] | None = None

    def of(self, place: tuple[int, int]) -> NamedEntry | None:
        """Return the view of the entry at (section, entry), None for one that is in no view."""
        section, number = place
        if self._file == "tasks.md":
            return _TaskName(self._snapshot, place)
        if section not in self._known:
            self._known[section] = {item.at[1]: item for item in self._items(section) if item.at[0] == section}
        return self._known[section].get(number)

    def _items(self, section: int) -> Iterable[NamedEntry]:
        if self._file == "orchestration.md":
            return self._snapshot.plans.plans
        journal = self._snapshot.journal
        if self._days is None:
            self._days = {day.section: day for day in journal.days}
        return journal.of_day(self._days[section]) if section in self._days else ()
