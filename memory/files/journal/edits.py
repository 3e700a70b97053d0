"""The operations on the journal, and its edits: one entry changes and nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, tzinfo
from itertools import groupby, pairwise
from operator import attrgetter

from memory.base.clock import BadMoment, format_local, read_moment
from memory.base.dates import parse_when
from memory.document import Document, Entry, Section
from memory.document.compare import differences
from memory.document.lines import split_lines
from memory.errors import UsageError
from memory.files.edit import Edit, EntryEdits, Step, beside_others, started_document
from memory.files.fields.values import Schema
from memory.files.find import ENTRIES, find_entry
from memory.files.operations import Call, EntryGroup, Part, in_words, outlined, something, whole_text
from memory.files.snapshot import Snapshot
from memory.operations import Context, Day, Lines, When, Whole, argument, option
from memory.operations.result import Paint, Result

from .model import JournalEntry, check_lines, clean_line, plain_day, read_lines, split_heading, write_line, write_lines

FILE = "journal.md"
_CLOCK = re.compile(r"(\d{1,2}):(\d{2})(?::(\d{2}))?", re.ASCII)
_DASH = re.compile(r"[ \t]*[—–-]+[ \t]*")
DEFAULT_LIMIT = 50
_DAY = "a date, or today, yesterday, -7d"


class _Time(When):
    """The time of an entry: `HH:MM` is today, every other form names its day; an empty one removes it."""

    def written(self, text: str, now: datetime, zone: tzinfo) -> str:
        """Return the time in the form of the file. BadMoment."""
        if not text.strip():
            return ""
        if _CLOCK.fullmatch(text.strip()):
            return text.strip()
        time = parse_when(text, now, zone, past=True)
        if len(time) == 10:
            raise BadMoment(f"{text!r} has no time of day", "write it like 14:30 or 'yesterday 14:30'")
        return time


AT = _Time(("yesterday 14:30",))
_LINES = option("--line", "lines", multiple=True, type=Lines(), metavar="L", help="A line; repeatable; - reads stdin.")

journal = EntryGroup(
    "journal", "List, add, show, edit and remove journal entries (journal.md and its archive).", ENTRIES, key="entry"
)


@journal.look("list", "--limit 10", "--since -7d --match deploy", "--date 2026-12-01 -o json")
@option("--date", metavar="D", type=Day(), help=f"Only entries of this day ({_DAY}).")
@option("--since", metavar="D", type=Day(), help="Only entries of this day and later.")
@option("--until", metavar="D", type=Day(), help="Only entries of this day and earlier.")
@option("--match", metavar="TEXT", help="Only entries that contain this text, in any case.")
@option("--limit", type=Whole(0), default=DEFAULT_LIMIT, metavar="N", help="The newest N (default: 50, 0 is all).")
def list_entries(
    context: Context, date: str | None, since: str | None, until: str | None, match: str | None, limit: int
) -> Result:
    """List entries, the newest first."""
    if date is not None:
        if since is not None or until is not None:
            raise UsageError("usage.arguments", "--date cannot be used with --since or --until", "give one of them")
        since = until = date
    found = context.snapshot.journal.entries(limit=limit, since=since, until=until, match=match)
    return outlined("entries", found, _days(found), "no entries")


def _days(entries: Iterable[JournalEntry]) -> Iterator[Part]:
    """Yield entries under their days."""
    for day, found in groupby(entries, key=attrgetter("date")):
        yield day or "no date", [(entry.ref_hex, entry.time or "--:--", entry.title) for entry in found], {}


@journal.look("show", "8c01f2e")
@journal.ref
def show(context: Context, ref: str) -> Result:
    """Show one entry. REF is a ref, its hex part, or a unique part of the title."""
    entry = find_entry(context.snapshot, ref, archived=True)

    def lines(paint: Paint) -> Iterator[str]:
        yield paint.line(f"{entry.date} {entry.time or ''}".rstrip() + f"  {entry.title}")
        for line in entry.lines:
            yield paint.line(f"- {line}", indent="  ")
        yield paint.line(entry.ref, indent="  ")

    return Result(lambda: {"entry": entry.json()}, lines)


@journal.changes(
    "add",
    "added",
    "'Deploy' --line 'v2.1 is live' --line 'Checked /health'",
    "git log --oneline -5 | memdeck journal add 'Merged today' --line -",
    "'Call with Alice' --at 14:30",
)
@argument("title", help="What happened.")
@_LINES
@option("--at", type=AT, metavar="TIME", help="When: 14:30, 'yesterday 14:30' or 2026-12-01 14:30 (default: now).")
def add_entry(call: Call, title: str, lines: Sequence[str] = (), at: str | None = None) -> Edit:
    """Add an entry on top of today's section."""
    # A missing section is created where its date belongs. BadMoment, UsageError `journal.title`, `journal.line`.
    call.after = lambda entry: "  " + in_words(f"{entry.date} {entry.time or ''}".strip(), call.now, call.zone)
    date, time = _when(at or "", call.now, call.zone)
    document = started_document(call.snapshot, FILE, call.now)
    return JOURNAL_EDITS.add(document, date, _composed(time, title, lines, document.newline), title.strip())


@journal.changes(
    "edit", "changed", "8c01f2e --title 'Deploy of v2.1'", "8c01f2e --line 'v2.1 is live' --line 'No errors since'"
)
@journal.ref
@option("--title", metavar="T", help="Another title.")
@_LINES
@option("--at", type=AT, metavar="HH:MM", help="Another time of the same day; empty for none.")
@whole_text("entry", "the other options")
def edit_entry(
    call: Call,
    ref: str,
    title: str | None = None,
    lines: Sequence[str] | None = None,
    at: str | None = None,
    text: str | None = None,
) -> Edit:
    """Change title or time of an entry; lines that are given replace the old ones."""
    # Lines that stay keep their bytes, and what others changed since `base` stays, lines beside ours as well.
    others = (title is not None, lines, at is not None)
    if text is not None:
        return JOURNAL_EDITS.rewrite(call.snapshot, ref, text, base=call.base, beside=others)
    something(others)

    def planned(entry: JournalEntry) -> Step[Entry]:
        new = call.base or entry.entry
        if title is not None or at is not None:
            old_time, old_title = split_heading(new.title)
            # The dash stays as it is written.
            dash = _DASH.match(new.title, len(old_time)) if old_time is not None else None
            time = old_time if at is None else _clock(AT.written(at, call.now, call.zone))
            words = old_title if title is None else title
            new = new.with_title(_heading(time, words, dash[0] if dash and dash[0].strip() else " — "))
        if lines:
            new = new.with_body(_changed_body(new, lines))
        return Step(beside_others(call.base, new, entry.entry, entry.title))

    return JOURNAL_EDITS.edit(call.snapshot, ref, planned)


def with_notes(snapshot: Snapshot, notes: Iterable[tuple[datetime, str, Sequence[str]]], now: datetime) -> Document:
    """Return the journal with entries, each (when it happened, title, lines), for edits of other files that leave them.

    Each comes on top of its day, the last one given first. Raises as `add_entry`.
    """
    document = started_document(snapshot, FILE, now)
    for at, title, lines in notes:
        date, time = _when("", at, snapshot.zone)
        document, _ = JOURNAL_EDITS.insert(document, date, _composed(time, title, lines, document.newline))
    return document


def without_entry(document: Document, at: tuple[int, int], date: str | None) -> Document:
    """Return the document without an entry of a date; the section of its day goes with the last one, if nothing but
    blank lines is left in it.
    """
    document = document.remove_entry(*at)
    left = document.section(at[0])
    if at[0] >= 0 and date is not None and not left.entries and not left.body.strip():
        return document.remove_section(at[0])
    return document


def _when(at: str, now: datetime, zone: tzinfo) -> tuple[str, str]:
    """Return the day and the time that a text means, those of now for an empty one. BadMoment."""
    text = AT.written(at, now, zone)
    if not text or _CLOCK.fullmatch(text):
        today, _, clock = format_local(now, zone).partition(" ")
        return today, _clock(text) or clock
    moment = read_moment(text, zone)
    assert moment is not None
    assert moment.instant is not None
    date, _, clock = format_local(moment.instant, zone).partition(" ")
    return date, clock


def _clock(text: str) -> str | None:
    """Return a time of day with two digits each, None for an empty text; BadMoment for any other."""
    if not text:
        return None
    found = _CLOCK.fullmatch(text)
    if found is None or int(found[1]) > 23 or int(found[2]) > 59 or int(found[3] or 0) > 59:
        raise BadMoment(f"{text[:40]!r} is not a time of day", "write HH:MM")
    return f"{int(found[1]):02}:{found[2]}" + (f":{found[3]}" if found[3] else "")


def _composed(time: str, title: str, lines: Sequence[str], newline: str) -> Entry:
    return Entry.compose(_heading(time, title), write_lines(lines, newline), newline)


def _heading(time: str | None, title: str, dash: str = " — ") -> str:
    """Return the heading of a time and a title; UsageError `journal.title` for a title that would not stay one."""
    title = title.strip()
    if not title:
        raise UsageError("journal.title", "a journal entry needs a title", "give it a title")
    heading = title if time is None else f"{time}{dash}{title}"
    if split_heading(heading) != (time, title):
        words = f"the title {title[:60]!r} would be read differently"
        raise UsageError("journal.title", words, "begin it with a word")
    return heading


def _changed_body(entry: Entry, lines: Sequence[str]) -> str:
    """Return the body with other lines; those that stay keep their bytes, and so does what is between them."""
    old, wanted = read_lines(entry.body), [line for line in map(clean_line, lines) if line]
    source = [text + end for text, end in split_lines(entry.body)]
    if source and not source[-1].endswith(("\n", "\r")):
        source[-1] += entry.newline
    starts = [*(line.start for line in old), old[-1].stop if old else 0]
    for start, stop, first, last in reversed(differences([line.text for line in old], wanted)):
        source[starts[start] : starts[stop]] = [write_line(line, entry.newline) for line in wanted[first:last]]
    check_lines("".join(source), wanted)
    return "".join(source)


class JournalEdits(EntryEdits[JournalEntry]):
    """The edits of journal.md: its sections are days, and the newest entry comes first."""

    def with_section(self, document: Document, section: str) -> tuple[Document, int]:
        """Return the document with the section of a date, the first one there is or a new one, and its index.

        Newest first unless the sections that are there rise.
        """
        dated: list[tuple[int, str]] = []
        for index, part in enumerate(document.sections):
            found = part.memo(plain_day).name
            if found == section:
                return document, index
            if found:
                dated.append((index, found))
        dates = [found for _, found in dated]
        rises = sum((left < right) - (left > right) for left, right in pairwise(dates))
        if rises > 0:
            place = max((index + 1 for index, found in dated if found < section), default=dated[0][0])
        else:
            # The first day goes behind titles of level 1 on top, before other sections.
            top = next((at for at, one in enumerate(document.sections) if one.level == 2), len(document.sections))
            later = dated[-1][0] + 1 if dated else top
            place = min((index for index, found in dated if found < section), default=later)
        return document.insert_section(place, Section.compose(section, newline=document.newline)), place

    def time_of(self, entry: Entry) -> str:
        """Return the time in the heading."""
        return split_heading(entry.title)[0] or ""

    def place(self, section: Section, entry: Entry) -> int:  # noqa: ARG002
        """Return the place on top."""
        return 0

    def replace(self, document: Document, item: JournalEntry, written: Entry | None) -> Document:
        """Return the document with another entry in the place of one, or (None) without it, nor its day if that is
        empty then.
        """
        if written is None:
            return without_entry(document, item.at, item.date)
        return super().replace(document, item, written)


JOURNAL_EDITS = JournalEdits(
    ENTRIES, "journal entries", "journal entry", schema=Schema({}), setters={}, plain=plain_day, titles={}
)
remove_entry = journal.removes(JOURNAL_EDITS, "8c01f2e", "an entry")
