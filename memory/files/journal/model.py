"""The journal: entries by day, read newest first, cut out and hashed only when they are asked for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import date as calendar_date
from datetime import timedelta
from itertools import groupby
from operator import attrgetter
from textwrap import dedent
from typing import TYPE_CHECKING, NamedTuple

from memory.base.values import folded
from memory.document.lines import hidden_lines, split_lines
from memory.errors import UsageError
from memory.files.refs import FileView, Place, PlacedEntry, groups_of, identity_hex

from .reading import plain_day, plain_entry, split_heading

if TYPE_CHECKING:
    from typing import Any

    from memory.document import Document, Entry


KIND = "journal"


class Day(NamedTuple):
    """One section of the journal: its date as it stands (None: no date in the heading), index and entry count."""

    date: str | None
    section: int
    size: int


class JournalEntry(PlacedEntry):
    """One entry; every property reads the source when it is asked for.

    `date` is that of its section (None: it has none), `at` (section index, entry index), `raw` the entry as written.
    """

    __slots__ = ("date",)

    def __init__(
        self, of: Journal, date: str | None, at: tuple[int, int], raw: Entry, listed: int | None = None
    ) -> None:
        """Store where the entry is."""
        super().__init__(of, at, raw, listed)
        self.date = date

    @property
    def entry(self) -> Entry:
        """The entry in the plain form."""
        return self.raw.memo(plain_entry)

    @property
    def head(self) -> tuple[str | None, str]:
        """Time and title."""
        return split_heading(self.entry.title)

    @property
    def time(self) -> str | None:
        """The time as it stands, `HH:MM` or `HH:MM:SS`; None for a heading without one."""
        return self.head[0]

    @property
    def clock(self) -> str | None:
        """The time with two digits each; None for a heading without one, or with one that does not exist."""
        return clock_of(self.time)

    @property
    def title(self) -> str:
        """The heading without the time."""
        return self.head[1]

    @property
    def day(self) -> calendar_date | None:
        """The date as a date; None where there is none or it does not exist."""
        return date_of(self.date)

    @property
    def lines(self) -> tuple[str, ...]:
        """What the entry says: bullets without their marker, paragraphs and blocks of code as they are."""
        return tuple(line.text for line in read_lines(self.entry.body))

    @property
    def identity(self) -> str:
        """Ten hex digits made of date, time and title; twins have the same."""
        return identity_of(self.date, self.head)

    def json(self) -> dict[str, Any]:
        """Return the entry under the keys of the interface; absent values are None, lines count from 1."""
        values = {key: getattr(self, key) for key in ("ref", "date", "time", "title")}
        return {**values, "lines": list(self.lines), "line": self.line + 1}


def date_of(text: str | None) -> calendar_date | None:
    """Return the date of a text; None where it is none, or does not exist."""
    try:
        return None if text is None else calendar_date.fromisoformat(text)
    except ValueError:
        return None


def clock_of(time: str | None) -> str | None:
    """Return a time, with or without seconds, with two digits each; None for none and one that does not exist."""
    if time is None:
        return None
    clock = time.rjust(5 if len(time) < 6 else 8, "0")
    return clock if clock[:2] < "24" and clock[3:5] < "60" and clock[6:] < "60" else None


class Journal(FileView[JournalEntry]):
    """The entries of one journal file; entries before any section and in sections without a date have no date.

    Twins have the same date: so the entries of one day are all that is read to name one.
    """

    kind = KIND

    def __init__(self, file: str, document: Document) -> None:
        """Look at the sections; no entry is cut out."""
        super().__init__(file, document)
        read = [(index, section.memo(plain_day), len(section)) for index, section in document.all_sections()]
        self.days: tuple[Day, ...] = tuple(
            [Day(day.name, index, size + len(day.items)) for index, day, size in read if size or day.name]
        )
        self._wrapped: dict[int, tuple[JournalEntry, ...]] = {}
        self._by_date: dict[str | None, dict[str, list[JournalEntry]]] = {}
        self._hexes: dict[Place, str] = {}

    def __iter__(self) -> Iterator[JournalEntry]:
        """Iterate in file order."""
        return (entry for day in self.days for entry in self.of_day(day))

    def twins(self, item: JournalEntry) -> Sequence[JournalEntry]:
        """Return the entries of the same date, time and title."""
        return self._of_date(item.date)[item.identity]

    def hex_of(self, item: JournalEntry) -> str:
        """Return the digits of an entry's ref."""
        groups = self._of_date(item.date)
        if item.at not in self._hexes:
            self._hexes.update(self.short_hexes(groups))
        return self._hexes[item.at]

    def _of_date(self, date: str | None) -> dict[str, list[JournalEntry]]:
        if date not in self._by_date:
            self._by_date[date] = groups_of(
                entry for day in self.days if day.date == date for entry in self.of_day(day)
            )
        return self._by_date[date]

    @property
    def count(self) -> int:
        """The number of entries."""
        return sum([day.size for day in self.days])

    def of_day(self, day: Day) -> tuple[JournalEntry, ...]:
        """Return the entries of one section in file order."""
        known = self._wrapped.get(day.section)
        if known is None:
            section, date, index = self.document.section(day.section), day.date, day.section
            above = section.memo(plain_day).items
            items = enumerate(above, -len(above))
            found = [JournalEntry(self, date, (index, number), one.entry, one.line) for number, one in items]
            found += [JournalEntry(self, date, (index, number), raw) for number, raw in enumerate(section.entries)]
            known = self._wrapped[day.section] = tuple(found)
        return known

    def newest_first(self) -> Iterator[JournalEntry]:
        """Iterate by date and time, newest first; entries of one time in file order, those without a date last.

        Within a day entries without a time come last. Where agents write downwards this is not the order of the file.
        A time that does not exist counts as none.
        """
        dates = [day.date or "" for day in self.days]
        newest = [self.days[place] for place in sorted(range(len(dates)), key=dates.__getitem__, reverse=True)]
        for date, sections in groupby(newest, key=attrgetter("date")):
            entries = [entry for day in sections for entry in self.of_day(day)]
            # Equal times keep their order.
            yield from entries if date is None else sorted(entries, key=lambda entry: entry.clock or "", reverse=True)

    def entries(
        self, limit: int = 0, since: str | None = None, until: str | None = None, match: str | None = None
    ) -> list[JournalEntry]:
        """Return entries in the order of `newest_first`.

        `limit` 0 is all; `since` and `until` are dates `YYYY-MM-DD`, both inclusive, and leave out what has no
        date; `match` is a text that stands somewhere in the entry, in any case.
        """
        part = folded(match) if match else None
        found: list[JournalEntry] = []
        for entry in self.newest_first():
            date = entry.date
            if (since and (date is None or date < since)) or (until and (date is None or date > until)):
                continue
            if part is None or part in folded(entry.entry.text):
                found.append(entry)
                if len(found) == limit:
                    break
        return found

    def at(self, *place: int | None) -> JournalEntry:
        """Return the entry at a place of the document; KeyError where there is none."""
        for day in self.days:
            for one in self.of_day(day) if day.section == place[0] else ():
                if one.at == place:
                    return one
        raise KeyError(place)


def identity_of(date: str | None, head: tuple[str | None, str]) -> str:
    """Return the ten hex digits made of an entry's date, and of the time and title in its heading."""
    time, title = head
    return identity_hex(KIND, date or "", time or "", title)


# -- the lines of an entry, written so that no line can become anything else ---------------------------------------

_BULLET = re.compile(r"[-*+](?:[ \t]+|$)")


class EntryLine(NamedTuple):
    """One line of an entry: its text without the marker, and the lines of the body that it takes (from, behind)."""

    text: str
    start: int
    stop: int


def read_lines(body: str) -> list[EntryLine]:
    """Return the lines of a body: each bullet with what is indented below it, each paragraph, each block of code.

    Further lines of one are joined with a line feed, dedented by what they share.
    """
    lines = [text for text, _ in split_lines(body)]
    hidden = hidden_lines(body)
    found: list[EntryLine] = []
    start = 0
    bullet = False  # the part that begins at `start` is a bullet

    def close(stop: int) -> None:
        first, last = start, stop
        while last > first and not lines[last - 1].strip():
            last -= 1
        while first < last and not lines[first].strip():
            first += 1
        if last > first:
            found.append(EntryLine(_join(lines[first:last], bullet), first, last))

    for number, line in enumerate(lines):
        inside = hidden[number]
        if inside and number and hidden[number - 1]:
            continue
        opens = _BULLET.match(line) is not None
        blank = not line.strip()
        ends = not bullet and (inside or blank or (number and hidden[number - 1]))
        leaves = bullet and not blank and not line.startswith((" ", "\t"))
        if opens or ends or leaves:
            close(number)
            start, bullet = number, opens
    close(len(lines))
    return found


def _join(lines: Sequence[str], bullet: bool) -> str:
    if bullet:
        return clean_line("\n".join([_BULLET.sub("", lines[0], count=1), *lines[1:]]))
    return "\n".join(line.rstrip(" \t") for line in lines)


def clean_line(text: str) -> str:
    """Return a line as it will read: no space around it, no blank lines at its ends; empty for nothing."""
    lines = "\n".join(line.rstrip(" \t") for line, _ in split_lines(text)).strip("\n")
    first, more, rest = lines.partition("\n")
    return first.lstrip(" \t") + more + dedent(rest)


def write_line(text: str, newline: str) -> str:
    """Return a clean line as a bullet, further lines of it indented below, so that none of them is a heading."""
    first, *rest = text.split("\n")
    return newline.join([f"- {first}", *[f"  {line}" if line else "" for line in rest], ""])


def write_lines(lines: Sequence[str], newline: str) -> str:
    """Return the body that says these lines; raises UsageError `journal.line` for what cannot be said in one."""
    wanted = [line for line in map(clean_line, lines) if line]
    body = "".join([write_line(line, newline) for line in wanted])
    check_lines(body, wanted)
    return body


def check_lines(body: str, wanted: Sequence[str]) -> None:
    """Raise UsageError `journal.line` unless a body reads as the wanted lines."""
    read = [line.text for line in read_lines(body)]
    if read != list(wanted):
        wrong = next((line for line, other in zip(wanted, read, strict=False) if line != other), "".join(wanted[-1:]))
        raise UsageError(
            "journal.line",
            f"the line {wrong!r} would not stay one line of the entry",
            "write code into a line of its own, with its fence closed",
        )


# -- how busy each day is --------------------------------------------------------------------------------------------

WEEKS = 53
"""Weeks that touch a year."""


def entries_by_day(journals: Iterable[Journal]) -> dict[calendar_date, int]:
    """Return how many entries stand under each day; headings without a date that exists are left out.

    No entry is cut out for it: this costs as much as there are days.
    """
    counts: dict[calendar_date, int] = {}
    for journal in journals:
        for day in journal.days:
            if day.size and (found := date_of(day.date)) is not None:
                counts[found] = counts.get(found, 0) + day.size
    return counts


def weeks_until(last: calendar_date, weeks: int = WEEKS) -> list[list[calendar_date]]:
    """Return so many weeks, Monday first, of which the last one holds `last`; fewer where time began."""
    monday = last - timedelta(days=last.weekday())
    found = []
    for number in range(weeks - 1, -1, -1):
        days = monday.toordinal() - 7 * number
        if days >= 1 and days + 6 <= calendar_date.max.toordinal():
            found.append([calendar_date.fromordinal(days + day) for day in range(7)])
    return found


TOPS = (1, 3, 7)
"""The most entries of a day of each step from 1; the last step has more."""


def step_of(count: int) -> int:
    """Return how busy a day with so many entries is, from 0 for none."""
    return 0 if count <= 0 else next((step for step, top in enumerate(TOPS, 1) if count <= top), len(TOPS) + 1)
