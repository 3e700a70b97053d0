"""The four rules: which entries leave a file, and why other candidates stay.

Everything here is pure: documents, settings, the time and the zone go in, places of entries come out. "More than" is
strict. Age is measured by the instant where a value has a time, by calendar days in the zone where it is a date alone.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterable, Iterator, Sequence
from datetime import date, datetime, timedelta, tzinfo
from functools import lru_cache
from typing import NamedTuple

from memory.base.clock import BadMoment, Moment, read_moment
from memory.document import Document
from memory.document.nodes import Entry, Section
from memory.files.journal.reading import read_date, split_heading

ARCHIVE_TASKS = "archive-completed-tasks"
PRUNE_JOURNAL = "prune-old-journal"
CAP_JOURNAL = "cap-journal"
CLEAR_PLANS = "clear-completed-orchestration"

ALL_RULES = (ARCHIVE_TASKS, PRUNE_JOURNAL, CAP_JOURNAL, CLEAR_PLANS)
"""The rules of a whole run, in the order in which they apply."""
TASK_RULES = (ARCHIVE_TASKS,)
"""The rules of `memdeck archive`."""
JOURNAL_RULES = (PRUNE_JOURNAL, CAP_JOURNAL)
"""The rules of `memdeck prune`."""

TASKS = "tasks"
JOURNAL = "journal"
PLANS = "orchestration"
"""The kinds of files that lose entries, each with archives of its own: the names of the files without `.md`."""

PLAN_AGE = timedelta(hours=24)
"""How long a completed plan stays."""

_OPEN = "a code fence or HTML block in it is never closed"
_AHEAD = "it is dated in the future"
_LONGEST = 4_000_000  # days; more than the calendar has
_UNFINISHED = frozenset({"planning", "running", "blocked", "failed"})

Closed = Callable[[date], "str | None"]
"""Returns why the archive of a date's month accepts no entries, None where it does."""


class LeavingEntries(NamedTuple):
    """Entries of one section that leave, by ascending index, and the date whose month names their archive."""

    section: int
    entries: Sequence[int]
    date: date


class StayingEntry(NamedTuple):
    """A candidate that stays, and the reason in words."""

    section: int
    entry: int
    reason: str


class RuleResult(NamedTuple):
    """What one rule removes from a document with `before` entries, and the candidates that stay; both in file order."""

    before: int
    picks: tuple[LeavingEntries, ...] = ()
    left: tuple[StayingEntry, ...] = ()

    @property
    def moved(self) -> int:
        """The number of entries that leave."""
        return sum(len(pick.entries) for pick in self.picks)

    def without(self, places: Container[tuple[int, int]]) -> RuleResult:
        """Return it without the entries at some places: they stay like any that is young enough."""
        if places == frozenset():
            return self
        picks = [
            pick._replace(entries=[number for number in pick.entries if (pick.section, number) not in places])
            for pick in self.picks
        ]
        return self._replace(picks=tuple(pick for pick in picks if pick.entries))


class Today(NamedTuple):
    """The time of a run: the instant, the zone, and the day in that zone."""

    now: datetime
    zone: tzinfo
    date: date

    @classmethod
    def of(cls, now: datetime, zone: tzinfo) -> Today:
        """Return the aware time `now` in `zone`."""
        return cls(now, zone, now.astimezone(zone).date())

    def older(self, moment: Moment, age: timedelta) -> bool:
        """Return whether a moment is more than `age` ago."""
        if moment.instant is not None:
            return self.now - moment.instant > age
        return (self.date - moment.date).days > age.days

    def ahead(self, moment: Moment) -> bool:
        """Return whether a moment is in the future."""
        return moment.date > self.date if moment.instant is None else moment.instant > self.now


def days(number: int) -> timedelta:
    """Return a number of days as a time span, limited to `_LONGEST`."""
    return timedelta(days=min(number, _LONGEST))


@lru_cache(maxsize=1024)
def archive_name(kind: str, day: date) -> str:
    """Return the name of the archive file of a date's month, relative to the memory folder."""
    return f"archive/{kind}-{day.isoformat()[:7]}.md"


def count_entries(document: Document) -> int:
    """Return the number of entries of a document, in all sections."""
    return sum(len(section) for _, section in document.all_sections())


def choose_tasks(document: Document, today: Today, age: timedelta, closed: Closed) -> RuleResult:
    """Choose the tasks of the Completed sections that were completed more than `age` ago."""
    candidates = (
        (index, number, entry, "completed")
        for index in document.find("completed")
        for number, entry in enumerate(document.sections[index].entries)
    )
    return _choose_dated(document, candidates, today, age, closed)


def choose_plans(document: Document, today: Today, closed: Closed) -> RuleResult:
    """Choose the completed plans whose `completed` is more than 24 hours ago.

    A plan is completed if it is under Completed Plans, or under Active Plans with the status `completed`. A plan under
    Completed Plans whose status says that it still runs, or that it failed, stays, with that reason.
    """
    return _choose_dated(document, _finished_plans(document), today, PLAN_AGE, closed)


def _finished_plans(document: Document) -> Iterator[tuple[int, int, Entry, str]]:
    finished = document.find("completed plans")
    for index in sorted({*finished, *document.find("active plans")}):
        for number, entry in enumerate(document.sections[index].entries):
            status = (entry.fields.get("status") or "").strip().casefold()
            if index not in finished and status != "completed":
                continue
            yield index, number, entry, f"status is {status}" if status in _UNFINISHED else "completed"


def _choose_dated(
    document: Document,
    candidates: Iterator[tuple[int, int, Entry, str]],
    today: Today,
    age: timedelta,
    closed: Closed,
) -> RuleResult:
    """Choose among (section, entry, Entry, "completed" or a reason to stay) by the field `completed`."""
    swallowing = open_place(document)
    picks: list[LeavingEntries] = []
    left: list[StayingEntry] = []
    numbers: list[int] = []
    for section, number, entry, word in candidates:
        if word != "completed":
            left.append(StayingEntry(section, number, word))
            continue
        moment = _moment(entry.fields.get("completed"), today)
        if isinstance(moment, str):
            left.append(StayingEntry(section, number, moment))
            continue
        if not today.older(moment, age):
            continue
        day = moment.date
        reason = _OPEN if (section, number) == swallowing else closed(day)
        if reason is None:
            if not picks or (picks[-1].section, picks[-1].date) != (section, day):
                # Most entries of one day are adjacent: they become one pick.
                numbers = []
                picks.append(LeavingEntries(section, numbers, day))
            numbers.append(number)
        else:
            left.append(StayingEntry(section, number, reason))
    return RuleResult(count_entries(document), tuple(picks), tuple(left))


def _moment(text: str | None, today: Today) -> Moment | str:
    """Read a `completed` value: the moment, or why it cannot be used."""
    try:
        moment = read_moment(text or "", today.zone)
    except BadMoment as error:
        return f"completed: {error.message}"
    if moment is None:
        return "no completed date"
    return "completed is in the future" if today.ahead(moment) else moment


def open_place(document: Document) -> tuple[int, int] | None:
    """Return (section, entry) of the entry that an unclosed fence or HTML block ends in, None without one."""
    if not document.open_end:
        return None
    last = len(document.sections) - 1
    part = document.section(last)
    return (last, len(part) - 1) if len(part) else None


# -- journal ----------------------------------------------------------------------------------------------------


def section_date(section: Section) -> date | str:
    """Return the date of a journal section, or why it has none."""
    if not section.level:
        return "it is under no date"
    text = read_date(section.title)
    if text is None:
        return f"its section {section.title[:40]!r} is no date"
    try:
        return date.fromisoformat(text)
    except ValueError:
        return f"its date {text} does not exist"


def entry_moment(day: date, entry: Entry, zone: tzinfo) -> Moment:
    """Return the moment of a journal entry: its section's date with the time of its heading.

    Where the heading has no time, or an impossible one (`25:99`), it is the date alone.
    """
    return _moment_at(day, split_heading(entry.title)[0], zone)


@lru_cache(4096)
def _moment_at(day: date, clock: str | None, zone: tzinfo) -> Moment:
    """Return the moment of a day at `HH:MM`, `H:MM` or with seconds; the date alone without a possible time."""
    if clock is not None:
        try:
            moment = read_moment(f"{day.isoformat()} {clock:0>{len(clock) + (clock[1] == ':')}}", zone)
        except BadMoment:
            moment = None
        if moment is not None:
            return moment
    return Moment(day.isoformat(), day)


def choose_old_journal(document: Document, today: Today, age: timedelta, closed: Closed) -> RuleResult:
    """Choose the journal entries that are dated more than `age` ago; those without a date stay, with the reason."""
    swallowing = open_place(document)
    picks: list[LeavingEntries] = []
    left: list[StayingEntry] = []
    for index, section in document.all_sections():
        day = section_date(section) if len(section) else ""
        if isinstance(day, str):
            left.extend(StayingEntry(index, number, day) for number in range(len(section)))
            continue
        if 0 < (today.date - day).days < age.days - 1:
            continue  # No time of that day is old enough, even if the clocks changed.
        old: list[int] = []
        for number, entry in enumerate(section.entries):
            moment = entry_moment(day, entry, today.zone)
            if today.ahead(moment):
                left.append(StayingEntry(index, number, _AHEAD))
            elif today.older(moment, age):
                reason = _OPEN if (index, number) == swallowing else closed(day)
                if reason is None:
                    old.append(number)
                else:
                    left.append(StayingEntry(index, number, reason))
        if old:
            picks.append(LeavingEntries(index, old, day))
    return RuleResult(count_entries(document), tuple(picks), tuple(left))


def choose_surplus(
    document: Document,
    today: Today,
    most: int,
    gone: Sequence[LeavingEntries],
    closed: Closed,
    staying: Container[tuple[int, int]] = frozenset(),
) -> RuleResult:
    """Choose the oldest entries over `most` of what `gone` left; equally old ones from the bottom of the file.

    Entries at the places `staying` are not chosen. A heading without a time counts as the beginning of its day. Entries
    without a usable date, in the future, or that cannot move count towards the number and stay.
    """
    before = count_entries(document) - sum(len(pick.entries) for pick in gone)
    over = before - most
    if over <= 0:
        return RuleResult(before)
    removed = {pick.section: pick.entries for pick in gone}
    swallowing = open_place(document)
    left: list[StayingEntry] = []
    by_day: dict[date, list[LeavingEntries]] = {}
    for index, section in document.all_sections():
        numbers = _others(len(section), removed.get(index, ()))
        if staying:
            numbers = [number for number in numbers if (index, number) not in staying]
        if not numbers:
            continue
        day = section_date(section)
        reason = day if isinstance(day, str) else closed(day)
        if reason is None and isinstance(day, date) and day > today.date:
            reason = _AHEAD
        if reason is not None:
            left.extend(StayingEntry(index, number, reason) for number in numbers)
            continue
        assert isinstance(day, date)
        if day == today.date or (swallowing is not None and swallowing[0] == index):
            stays = [
                StayingEntry(index, number, _OPEN if (index, number) == swallowing else _AHEAD)
                for number in numbers
                if (index, number) == swallowing or today.ahead(entry_moment(day, section.entries[number], today.zone))
            ]
            left.extend(stays)
            away = {one.entry for one in stays}
            numbers = [number for number in numbers if number not in away]
        if numbers:
            by_day.setdefault(day, []).append(LeavingEntries(index, numbers, day))
    picks: list[LeavingEntries] = []
    for day in sorted(by_day):
        found = by_day[day]
        size = sum(len(pick.entries) for pick in found)
        if size > over:
            found = _oldest(document, found, over, today.zone)
        picks.extend(found)
        over -= size
        if over <= 0:
            break
    return RuleResult(before, tuple(sorted(picks, key=lambda pick: pick.section)), tuple(left))


def _others(size: int, numbers: Collection[int]) -> Sequence[int]:
    """Return the indexes below `size` that are not among `numbers`."""
    if not numbers:
        return range(size)
    if len(numbers) == size:
        return ()
    out = set(numbers)
    return [number for number in range(size) if number not in out]


def _oldest(document: Document, picks: Iterable[LeavingEntries], most: int, zone: tzinfo) -> list[LeavingEntries]:
    """Return the `most` oldest entries of the picks of one day, equally old ones from the bottom of the file."""
    places = [(pick.section, number, pick.date) for pick in picks for number in pick.entries]
    places.reverse()

    def clock(place: tuple[int, int, date]) -> str:
        # A date alone sorts before every time of its day, because its text is their prefix.
        return entry_moment(place[2], document.section(place[0]).entries[place[1]], zone).text

    places.sort(key=clock)
    chosen: dict[tuple[int, date], list[int]] = {}
    for section, number, day in sorted(places[:most]):
        chosen.setdefault((section, day), []).append(number)
    return [LeavingEntries(section, numbers, day) for (section, day), numbers in chosen.items()]
