"""The four rules: which entries leave a file, and why other candidates stay.

Everything here is pure: documents, settings, the time and the zone go in, places of entries come out. "More than" is
strict. Age is measured by the instant where a value has a time, by calendar days in the zone where it is a date alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from datetime import date, datetime, timedelta, tzinfo
from functools import lru_cache
from typing import NamedTuple

from memory.base.clock import BadMoment, Moment, read_moment
from memory.document import Document
from memory.document.nodes import Entry, Section, bare
from memory.files.journal.reading import read_date, split_heading
from memory.files.snapshot import ref_of

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
_LONGEST = 4_000_000  # days; more than the calendar has
_UNFINISHED = frozenset({"planning", "running", "blocked", "failed"})

Place = tuple[int, int]
"""The place of an entry in a document: the index of its section, and its own in there."""
Dated = Iterable[tuple[Place, "Moment | str"]]
"""Candidates of a rule in file order: the moment that counts for each, or why it stays."""
Closed = Callable[[date], "str | None"]
"""Returns why the archive of a date's month accepts no entries, None where it does."""
Kept = Callable[[Place], bool]
"""Returns whether an entry stays because a person restored it a short time ago."""


class RuleResult(NamedTuple):
    """What one rule removes from a document with `before` entries, each place with the date whose month names its
    archive, and the candidates that stay with the reason in words; both in file order.
    """

    before: int
    picks: Sequence[tuple[Place, date]] = ()
    left: Sequence[tuple[Place, str]] = ()


class Today(NamedTuple):
    """The time of a run: the instant, the zone, and the day in that zone."""

    now: datetime
    zone: tzinfo

    @property
    def date(self) -> date:
        """The day."""
        return self.now.astimezone(self.zone).date()

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


# -- candidates ---------------------------------------------------------------------------------------------------


def completed_tasks(document: Document, today: Today) -> Dated:
    """Yield the tasks of the Completed sections."""
    for index in document.find("completed"):
        for number, entry in enumerate(document.sections[index].entries):
            yield (index, number), _completed(entry, today)


def completed_plans(document: Document, today: Today) -> Dated:
    """Yield the plans under Completed Plans, and those under Active Plans with the status `completed`.

    A plan under Completed Plans whose status says that it still runs, or that it failed, stays, with that reason.
    """
    finished = document.find("completed plans")
    for index in sorted({*finished, *document.find("active plans")}):
        for number, entry in enumerate(document.sections[index].entries):
            status = (entry.fields.get("status") or "").strip().casefold()
            if index in finished or status == "completed":
                stays = status in _UNFINISHED
                yield (index, number), f"status is {status}" if stays else _completed(entry, today)


def _completed(entry: Entry, today: Today) -> Moment | str:
    """Return the moment of the field `completed`, or why it cannot be used."""
    try:
        moment = read_moment(entry.fields.get("completed") or "", today.zone)
    except BadMoment as error:
        return f"completed: {error.message}"
    if moment is None:
        return "no completed date"
    return "completed is in the future" if today.ahead(moment) else moment


def journal_entries(document: Document, today: Today) -> Dated:
    """Yield all journal entries: the date of the section with the time of the heading.

    Where the heading has no time, or an impossible one (`25:99`), it is the date alone.
    """
    for index, section in document.all_sections():
        day = section_date(section) if len(section) else ""
        for number, entry in enumerate(section.entries):
            if isinstance(day, str):
                yield (index, number), day
            else:
                moment = _moment_at(day, split_heading(entry.title)[0], today.zone)
                yield (index, number), "it is dated in the future" if today.ahead(moment) else moment


def section_date(section: Section) -> date | str:
    """Return the date of a journal section, or why it has none."""
    if not section.level:
        return "it is under no date"
    text = read_date(section.title)
    if text is None:
        return f"its section {section.title[:40]!r} is not a date"
    try:
        return date.fromisoformat(text)
    except ValueError:
        return f"its date {text} does not exist"


@lru_cache(4096)
def _moment_at(day: date, clock: str | None, zone: tzinfo) -> Moment:
    """Return the moment of a day at `HH:MM`, `H:MM` or with seconds; the date alone without a possible time."""
    moment = None
    if clock is not None:
        with suppress(BadMoment):
            moment = read_moment(f"{day.isoformat()} {clock:0>{len(clock) + (clock[1] == ':')}}", zone)
    return moment or Moment(day.isoformat(), day)


# -- choosing -----------------------------------------------------------------------------------------------------


def choose_old(
    document: Document, dated: Dated, today: Today, age: timedelta, closed: Closed, kept: Kept
) -> RuleResult:
    """Choose the candidates that are more than `age` old."""
    found: list[tuple[Place, Moment | str]] = [
        (place, moment)
        for place, moment in dated
        if isinstance(moment, str) or (today.older(moment, age) and not kept(place))
    ]
    movable, left = _apart(document, found, closed)
    return RuleResult(count_entries(document), [(place, moment.date) for place, moment in movable], left)


def choose_surplus(document: Document, dated: Dated, most: int, closed: Closed, kept: Kept) -> RuleResult:
    """Choose the oldest candidates over `most`; equally old ones from the bottom of the file.

    A heading without a time counts as the beginning of its day. Entries without a usable date, in the future, or that
    cannot move count towards the number and stay.
    """
    found = list(dated)
    over = len(found) - most
    if over <= 0:
        return RuleResult(len(found))
    movable, left = _apart(document, [one for one in found if not kept(one[0])], closed)
    # A date alone sorts before every time of its day, because its text is their prefix.
    movable.reverse()
    oldest = sorted(movable, key=lambda one: one[1].text)[:over]
    return RuleResult(len(found), sorted((place, moment.date) for place, moment in oldest), left)


def _apart(
    document: Document, found: Dated, closed: Closed
) -> tuple[list[tuple[Place, Moment]], list[tuple[Place, str]]]:
    """Return the candidates that can move, and those that cannot with the reason."""
    last = len(document.sections) - 1
    # The entry that an unclosed fence or HTML block ends in would swallow what follows it in the archive.
    open_place = (last, len(document.section(last)) - 1) if document.open_end else None
    movable: list[tuple[Place, Moment]] = []
    left: list[tuple[Place, str]] = []
    for place, moment in found:
        if isinstance(moment, str):
            left.append((place, moment))
        elif reason := _OPEN if place == open_place else closed(moment.date):
            left.append((place, reason))
        else:
            movable.append((place, moment))
    return movable, left


# -- entries that a person restored: the day of the restore counts as their date ------------------------------------


class Restored(NamedTuple):
    """One restored entry: the time of the restore, its source without the blank lines at its end, and its ref."""

    time: datetime
    source: bytes
    ref: str | None


RestoredIn = Callable[[str], Sequence[Restored]]
"""Returns the entries restored into a memory file, by its name in the memory folder; newest first."""


def staying(
    name: str, document: Document, restored: Sequence[Restored], today: Today, age: timedelta
) -> frozenset[tuple[int, int]]:
    """Return the places (section, entry) of entries restored at most `age` ago, even if their fields changed since.

    An entry that is no longer as it was restored is found by its ref.
    """
    fresh = [
        one for one in restored if not today.older(Moment("", one.time.astimezone(today.zone).date(), one.time), age)
    ]
    if not fresh:
        return frozenset()

    by_source: dict[bytes, set[tuple[int, int]]] = {}
    by_ref: dict[str, set[tuple[int, int]]] = {}
    sources, refs = {one.source for one in fresh}, {one.ref for one in fresh if one.ref}
    for index, section in document.all_sections():
        for number, entry in enumerate(section.entries):
            if (source := bare(entry)) in sources:
                by_source.setdefault(source, set()).add((index, number))
            elif refs and (ref := ref_of(name, section.title or None, entry)) in refs and ref is not None:
                by_ref.setdefault(ref, set()).add((index, number))
    found: set[tuple[int, int]] = set()
    for one in fresh:
        found |= by_source.get(one.source) or by_ref.get(one.ref or "", set())
    return frozenset(found)
