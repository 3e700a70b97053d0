"""The four rules: which entries leave a file, why other candidates stay, and where they go in an archive.

Everything here is pure: documents, settings, the time and the zone go in, places of entries come out. "More than" is
strict. Age is measured by the instant where a value has a time, by calendar days in the zone where it is a date alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from datetime import date, datetime, timedelta, tzinfo
from functools import lru_cache
from typing import NamedTuple, TypeVar

from memory.base.clock import BadMoment, Moment, format_utc, read_moment
from memory.document import Document, parse
from memory.document.lines import blank_end, encode, ends_line, scan, with_line_end, without_blank_end
from memory.document.nodes import Entry, Section, bare
from memory.files import TYPES
from memory.files.fields.values import moment_or_none
from memory.files.journal.model import read_date, split_heading
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


T = TypeVar("T")


HEADINGS = {TASKS: "Completed", PLANS: "Completed Plans"}
"""The section that holds all entries of an archive file; a journal's has one for each date instead."""


def new_archive(kind: str, now: datetime, source: Document) -> Document:
    """Return an empty archive file, with line ends and blank lines in the style of its source file."""
    heading = HEADINGS.get(kind)
    lines = ["---", f"type: {TYPES[f'archive/{kind}']}", f"updated: {format_utc(now)}", "---"]
    if source.spaced:
        lines.append("")
    if heading:
        lines.append(f"## {heading}")
        if source.spaced:
            lines.append("")
    return parse(encode("".join(line + source.newline for line in lines)))


_Piece = tuple[bytes, bool]
"""A part of a file, a section's heading with its text or an entry, and whether it is new."""


def _pieces(section: Section, *, is_new: bool = False) -> list[_Piece]:
    return [(part, is_new) for part in section.parts]


class LeavingDay(NamedTuple):
    """Entries that leave one section of the journal, by index, and the section's date."""

    date: date
    section: Section
    numbers: Sequence[int]

    @property
    def whole(self) -> bool:
        """Whether only blank lines are left of the section."""
        return len(self.numbers) == len(self.section) and not self.section.lead.strip()

    @property
    def entries(self) -> list[Entry]:
        """The entries, cut out."""
        entries = self.section.entries
        return [entries[number] for number in self.numbers]


def add_completed(document: Document, kind: str, arrivals: Iterable[tuple[date, Entry]], zone: tzinfo) -> Document:
    """Return a tasks or orchestration archive with entries inserted by date.

    `arrivals` are in the order of their source file. New entries go above existing ones of the same date; one without
    a date keeps its place below its neighbour.
    """

    def date_of(entry: Entry) -> date | None:
        moment = moment_or_none(entry.fields.get("completed"), zone)
        return None if moment is None else moment.date

    incoming = sorted(arrivals, key=lambda arrival: arrival[0], reverse=True)
    sections = [_pieces(section) for _, section in document.all_sections()]
    found = document.find(HEADINGS[kind])
    if found:
        place = found[0] + 1
    else:
        place = len(sections)
        sections.append(_pieces(Section.compose(HEADINGS[kind], newline=document.newline), is_new=True))
    entries = document.section(found[0]).entries if found else ()
    sections[place][1:] = [(entry.raw, is_new) for entry, is_new in _inserted(entries, date_of, incoming)]
    return _joined(document, sections, spaced=document.spaced)


def add_days(document: Document, arrivals: Sequence[LeavingDay], like: Document | None = None) -> Document:
    """Return a journal archive with days added: at the top of the section with the same heading, or as new sections.

    New sections are inserted by date, newest first; of one date in the order of `arrivals`. Where the archive has no
    sections yet, blank lines follow `like`, the source file of the days.
    """
    old = [(section_date(section), _pieces(section)) for _, section in document.all_sections()]
    by_heading: dict[bytes, list[_Piece]] = {}
    for (_, section), (_, pieces) in zip(document.all_sections(), old, strict=True):
        by_heading.setdefault(section.heading.rstrip(b"\r\n"), pieces)
    new: list[tuple[date, tuple[date | str, list[_Piece]]]] = []
    filled: dict[int, int] = {}
    for day in arrivals:
        key = day.section.heading.rstrip(b"\r\n")
        pieces = by_heading.get(key, [])
        as_it_is = key not in by_heading and day.whole
        if key not in by_heading:
            pieces = by_heading[key] = _pieces(day.section, is_new=True) if as_it_is else [(day.section.heading, True)]
            new.append((day.date, (day.date, pieces)))
        at = filled.get(id(pieces), 1)
        if not as_it_is:
            pieces[at:at] = [(entry.raw, True) for entry in day.entries]
        filled[id(pieces)] = at + len(day.numbers)
    new.sort(key=lambda one: one[0], reverse=True)
    spaced = (document if like is None or document.sections else like).spaced
    last = max((index for index, (day, _) in enumerate(old) if isinstance(day, date)), default=-1)
    merged = _inserted(old, lambda one: one[0] if isinstance(one[0], date) else None, new, last)
    return _joined(document, [pieces for (_, pieces), _ in merged], spaced=spaced)


def _inserted(
    items: Sequence[T], date_of: Callable[[T], date | None], new: Sequence[tuple[date, T]], behind: int = -1
) -> list[tuple[T, bool]]:
    """Return the items, with new ones before the first that is not newer, and whether each is new.

    `new` are sorted, newest first. Those older than all items go after the item of the index `behind`, else to the end.
    """
    merged: list[tuple[T, bool]] = []
    at = 0
    for index, item in enumerate(items):
        day = date_of(item) if at < len(new) else None
        while day is not None and at < len(new) and new[at][0] >= day:
            merged.append((new[at][1], True))
            at += 1
        merged.append((item, False))
        if index == behind:
            merged += [(one, True) for _, one in new[at:]]
            at = len(new)
    return merged + [(one, True) for _, one in new[at:]]


def _joined(document: Document, sections: Sequence[Sequence[_Piece]], *, spaced: bool) -> Document:
    """Return the document of these parts; one that is new, or before a new one, gets its line end and, if `spaced`, a
    blank line.
    """
    pieces = [piece for section in sections for piece in section]
    pieces[0] = (document.bom + document.front_raw + pieces[0][0], pieces[0][1])
    written = []
    for number, (raw, is_new) in enumerate(pieces):
        last = number + 1 == len(pieces)
        if is_new or (not last and pieces[number + 1][1]):
            raw = _ended(raw, document.newline, spaced, last=last)
        written.append(raw)
    return parse(b"".join(written))


def _ended(raw: bytes, newline: str, spaced: bool, *, last: bool) -> bytes:
    """Return a source with the line ends needed before more text; at the end of the file, without blank lines."""
    if not raw or (spaced and not last and raw.endswith(b"\n\n")):
        return raw
    if not ends_line(raw):
        raw += newline.encode()
    if last:
        bare = without_blank_end(raw)
        # The blank line may end an HTML block.
        return bare if bare == raw or not scan(bare).open_end else raw
    return with_line_end(raw, newline) if spaced and not blank_end(raw) else raw
