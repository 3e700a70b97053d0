"""The journal: entries by day, read newest first, cut out and hashed only when they are asked for.

Days, times, and lists below a day are read in the forms in which agents and people write them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import date as calendar_date
from datetime import timedelta
from functools import lru_cache
from itertools import groupby, pairwise
from operator import attrgetter
from textwrap import dedent
from typing import Any, NamedTuple

from memory.base.clock import SHORT_MONTHS
from memory.base.values import folded
from memory.document.lines import hidden_lines, split_lines
from memory.document.model import Document
from memory.document.nodes import Entry, Section
from memory.errors import UsageError
from memory.files.fields import dress
from memory.files.fields.dress import Item, Lead, LineFinding, PlainFile, PlainSection, regex
from memory.files.refs import FileView, PlacedEntry, identity_hex

_DATE = re.compile(r"(\d{4}-\d{2}-\d{2})(?![\w-])", re.ASCII)
_HEADING = re.compile(r"(\d{1,2}:\d{2}(?::\d{2})?)(?:[ \t]*(?:[—–-]+)[ \t]*|\Z)(.*)", re.ASCII | re.DOTALL)
_MONTH = rf"(?P<month>(?:{'|'.join(SHORT_MONTHS)})[a-z]*)\.?"
_DAY_FORMS = (
    r"(?P<y>[0-9]{4})(?P<sign>[-/.])(?P<m>[0-9]{1,2})(?P=sign)(?P<d>[0-9]{1,2})",
    rf"(?i){_MONTH} (?P<d>[0-9]{{1,2}})(?:st|nd|rd|th)?,? (?P<y>[0-9]{{4}})",
    rf"(?i)(?P<d>[0-9]{{1,2}})(?:st|nd|rd|th)?\.? {_MONTH},? (?P<y>[0-9]{{4}})",
)
_WEEKDAY = r"(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*"
_AROUND = rf"(?i)[^\w]*(?:{_WEEKDAY}[,.]?[^\w]+)?{{}}[^\w(]*(?:\(.*\)|{_WEEKDAY})?[^\w]*"
_LIKE_DAY = (
    rf"(?i)[^\w]*(?:{_WEEKDAY}[,.]?[^\w]+)?(?:[0-9]{{4}}[-/.]?[0-9]{{1,2}}[-/.]?[0-9]"
    r"|[0-9]{1,2}[-/.][0-9]{1,2}[-/.][0-9]{2}|[0-9]{1,2}/[0-9]"
    rf"|[0-9]{{1,2}}(?:st|nd|rd|th)?\.? {_MONTH.replace('?P<month>', '?:')}|{_MONTH} [0-9])"
)
"""How a heading begins that was likely meant as a day."""
_INSTANT = (
    r"(?P<date>[0-9]{4}-[0-9]{2}-[0-9]{2})[T ,]+(?:at )?(?P<time>[0-9]{1,2}:[0-9]{2}(?::[0-9]{2})?)(?:\.[0-9]+)?"
    r"(?P<zone>Z|[+-][0-9]{2}:?[0-9]{2}| ?UTC)?[ \t]*[—–:|-]*[ \t]*(?P<rest>.*)"
)
_TIME = (
    r"[^\w\n]*(?P<hour>[0-9]{1,2})(?:[:：h](?P<minute>[0-9]{2})(?::(?P<second>[0-9]{2}))?)?[ \t]*"
    r"(?P<half>[AaPp]\.?[Mm]\b\.?)?"
    r"[\])*_`]*[ \t]*(?:[—–:：|-]+[*_`]*)?[ \t]*(?P<rest>.*)"
)
_ITEM = r"(?:[-*+•‣]|[0-9]{1,3}[.)])[ \t\u00a0]+(?:\[[ xX]\][ \t]+)?(?P<title>\S.*)"
_DATED = r"(?:[-*+•‣][ \t]+)?[*_`\[(]{0,3}[0-9]{4}-[0-9]{2}-[0-9]{2}(?![0-9])"
_DEEPER = r"#{4,6}[ \t]+(?P<title>\S.*?)[ \t]*#*"


@lru_cache(4096)
def read_date(title: str) -> str | None:
    """Return the date that a section's heading begins with in the plain form, also one that does not exist."""
    found = _DATE.match(title)
    return found[1] if found else None


def split_heading(title: str) -> tuple[str | None, str]:
    """Split a heading `HH:MM — title` into time and title; hyphen, en dash and seconds are understood."""
    found = _HEADING.fullmatch(title)
    return (found[1], found[2]) if found else (None, title)


def plain_heading(title: str) -> str:
    """Return the heading of an entry with its time in the plain form; as it is where it has none."""
    if _HEADING.fullmatch(title):
        return title
    found = regex(_TIME).fullmatch(title)
    if found is None or not (found["minute"] or found["half"]):
        return title
    hour, half = int(found["hour"]), (found["half"] or "").lower()[:1]
    minute, second = found["minute"] or "00", found["second"]
    if half and not 1 <= hour <= 12:
        return title
    hour = hour % 12 + 12 * (half == "p") if half else hour
    if hour > 23 or int(minute) > 59:
        return title
    rest = found["rest"].strip()
    if re.match(r"(?:UTC|GMT|Z|[+-][0-9])(?![a-z])", rest):
        return title
    return f"{hour:02}:{minute}" + (f":{second}" if second else "") + (f" — {rest}" if rest else "")


def plain_day(section: Section) -> PlainSection[str]:
    """Return a section of the journal in the plain form: its date, and the entries above its first one."""
    title, lead = section.title, section.body
    day = read_date(title)
    if title == day and not lead.strip():
        return PlainSection(day, title)
    findings: list[LineFinding] = []
    instant = regex(_INSTANT).fullmatch(title) if section.level == 2 else None
    if instant is not None and instant["zone"]:
        advice = f"write the day as `## {instant['date']}` and below `### HH:MM — title` in the workspace's zone"
        return PlainSection(None, title, (), (dress.unread(0, f"## {title}", advice),))
    if instant is not None:
        heading = plain_heading(f"{instant['time']} — {instant['rest']}".rstrip(" —"))
        below = lead.strip("\r\n").split("\n")
        item = Item(0, 1 + len(split_lines(lead)), dress.listed_entry(heading, below, section.newline))
        found = dress.read_as(0, f"## {title}", f"## {instant['date']} with ### {heading}")
        return PlainSection(instant["date"], instant["date"], (item,), (found,))
    if day is None and section.level == 2:
        day = _dressed_day(title)
        if day is not None:
            findings.append(dress.read_as(0, f"## {title}", f"## {day}"))
            title = day
    top = 1 if section.heading else 0
    if day is None:
        if lead.strip() and section.level == 2 and regex(_LIKE_DAY).match(title) and not len(section):
            findings.append(dress.unread(0, f"## {title}", "write a day as `## 2026-12-01`"))
        elif dated := [one for one in dress.visible_lines(lead) if regex(_DATED).match(one[1])]:
            advice = "write a day as `## 2026-12-01` and an entry below it as `### HH:MM — title`"
            findings.append(dress.unread(dated[0][0] + top, dated[0][1], advice, more=len(dated) - 1))
        elif section.level == 2 and not len(section):
            findings += dress.unread_section(section, "is not read: a day is written as `## 2026-12-01`")
        return PlainSection(None, title, (), tuple(findings))
    items, inside = _items(lead, top, section.newline)
    return PlainSection(day, title, items, (*findings, *(one.moved(top) for one in inside)))


def _dressed_day(title: str) -> str | None:
    for form in _DAY_FORMS:
        found = regex(_AROUND.format(form.removeprefix("(?i)"))).fullmatch(title)
        if found is None:
            continue
        words = found.groupdict()
        month = int(words["m"]) if words.get("m") else SHORT_MONTHS.index(words["month"][:3].lower()) + 1
        try:
            return calendar_date(int(words["y"]), month, int(words["d"])).isoformat()
        except ValueError:
            return None
    return None


def _items(body: str, top: int, newline: str) -> tuple[tuple[Item, ...], list[LineFinding]]:
    """Return the entries made of the lists and deeper headings below a day, and what was found there."""
    lead = Lead(body)

    def begins(line: str) -> re.Match[str] | None:
        return regex(_ITEM).fullmatch(line) or regex(_DEEPER).fullmatch(line)

    def belongs(line: str, first: re.Match[str]) -> bool:
        return regex(_DEEPER).fullmatch(line) is None if first[0].startswith("#") else line[0] in " \t"

    runs = lead.items(begins, belongs)
    items, found = [], [*lead.loose(dress.lines_of(runs), _loose)]
    for number, stop, first in runs:
        below = lead.lines[number + 1 : stop]
        deeper = first[0].startswith("#")
        indent = 0 if deeper else min((len(one) - len(one.lstrip()) for one in below if one.strip()), default=0)
        entry = dress.listed_entry(plain_heading(first["title"].strip()), [one[indent:] for one in below], newline)
        items.append(Item(top + number, top + stop, entry))
        found.append(dress.read_as(number, first[0], f"### {entry.title}"))
    return tuple(items), sorted(found)


def _loose(text: str) -> str | None:
    """Return how an entry is written, for a line below a day; None: it is prose."""
    prose = re.fullmatch(r"[-*_= \t]+|>.*|<.*|[*_(].*[*_)]", text)
    return None if prose else "write an entry as `### HH:MM — title` with its lines below, in no code fence"


def plain_entry(entry: Entry) -> Entry:
    """Return an entry of the journal with its heading in the plain form."""
    title = entry.title
    plain = plain_heading(title)
    return entry if plain == title else entry.with_title(plain)


def plain_journal(document: Document) -> PlainFile:
    """Return journal.md, or an archive of it, with everything that is read in another form written plainly."""
    return dress.plain_file(document, plain_day, lambda _, entry: (plain_entry(entry), _of_heading(entry.title)))


def _of_heading(title: str) -> Iterator[LineFinding]:
    """Yield how the heading of an entry is read, or why its time is not."""
    text = f"### {title}"
    if (plain := plain_heading(title)) != title:
        yield dress.read_as(0, text, f"### {plain}")
    elif dated := regex(_INSTANT).fullmatch(title):
        time = "HH:MM" if dated["zone"] else dated["time"]
        advice = f"write the day as `## {dated['date']}` above and the entry as `### {time} — {dated['rest'][:40]}`"
        yield dress.unread(0, text, advice + (" in the workspace's zone" if dated["zone"] else ""))
    elif _HEADING.fullmatch(title) is None and re.match(r"[0-9]{1,2}[:：h][0-9]{2}", title):
        yield dress.unread(0, text, "write the time as `### HH:MM — title` in the workspace's zone")


KIND = "journal"


class Day(NamedTuple):
    """One section of the journal: its date as written (None: no date in the heading), index and entry count."""

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
        """The time as written, `HH:MM` or `HH:MM:SS`; None for a heading without one."""
        return self.head[0]

    @property
    def clock(self) -> str | None:
        """The time with two digits each; None for a heading without one, or with one that does not exist."""
        if self.time is None:
            return None
        clock = self.time.rjust(5 if len(self.time) < 6 else 8, "0")
        return clock if clock[:2] < "24" and clock[3:5] < "60" and clock[6:] < "60" else None

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

    def __iter__(self) -> Iterator[JournalEntry]:
        """Iterate in file order."""
        return (entry for day in self.days for entry in self.of_day(day))

    def scope_of(self, item: JournalEntry) -> object:
        """Return the date: twins have the same."""
        return item.date

    def in_scope(self, scope: object) -> Iterator[JournalEntry]:
        """Iterate over the entries of a date."""
        return (entry for day in self.days if day.date == scope for entry in self.of_day(day))

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

    def listed(self) -> list[JournalEntry]:
        """Return all entries, the newest first."""
        return self.entries()

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
        date; `match` is a text somewhere in the entry, in any case.
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
    starts = [0]
    for number, line in enumerate(lines):
        behind = bool(number) and hidden[number - 1]
        if hidden[number] and behind:
            continue
        bullet, blank = _BULLET.match(lines[starts[-1]]), not line.strip()
        ends = not bullet and (hidden[number] or blank or behind)
        leaves = bullet and not blank and not line.startswith((" ", "\t"))
        if ends or leaves or _BULLET.match(line):
            starts.append(number)
    found = []
    for start, stop in pairwise([*starts, len(lines)]):
        said = [number for number in range(start, stop) if lines[number].strip()]
        if said:
            first, last = said[0], said[-1] + 1
            found.append(EntryLine(_join(lines[first:last], _BULLET.match(lines[first]) is not None), first, last))
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
        words = f"the line {wrong!r} would not stay one line of the entry"
        raise UsageError("journal.line", words, "write code into a line of its own, with its fence closed")


# -- how busy each day is --------------------------------------------------------------------------------------------

WEEKS = 53
"""Weeks that touch a year."""


def entries_by_day(journals: Iterable[Journal]) -> dict[calendar_date, int]:
    """Return how many entries are under each day; headings without a date that exists are left out.

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
