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
from memory.document.lines import split_lines
from memory.errors import UsageError
from memory.files.edit import Edit, EntryEdits, Step, beside_others, started_document
from memory.files.fields.values import Schema
from memory.files.find import ENTRIES, find_entry
from memory.files.operations import Call, EntryGroup, Part, in_words, outlined, something, whole_text
from memory.files.snapshot import Snapshot
from memory.operations import Context, Day, Lines, When, Whole, argument, option
from memory.operations.result import Paint, Result

from .model import (
    JournalEntry,
    check_lines,
    clean_line,
    plain_day,
    read_lines,
    split_heading,
    write_line,
    write_lines,
)

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
            raise UsageError(
                "usage.arguments", "--date cannot be used with --since or --until", "give only one of them"
            )
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
@option(
    "--line",
    "lines",
    multiple=True,
    type=Lines(),
    metavar="L",
    help="One line of the entry; may be repeated; - reads them from stdin.",
)
@option(
    "--at",
    type=AT,
    metavar="TIME",
    help="When it was: HH:MM, 'yesterday 14:30', '5 Nov 9:00', 2026-12-01 14:30 (default: now).",
)
def add_entry(call: Call, title: str, lines: Sequence[str] = (), at: str | None = None) -> Edit:
    """Add an entry on top of today's section."""
    # A missing section is created where its date belongs. BadMoment, UsageError `journal.title`, `journal.line`.
    call.after = lambda entry: "  " + in_words(f"{entry.date} {entry.time or ''}".strip(), call.now, call.zone)
    date, time = _when(call.snapshot, None if at is None else AT.written(at, call.now, call.zone), call.now)
    document = started_document(call.snapshot, FILE, call.now)
    return JOURNAL_EDITS.add(document, date, _composed(time, title, lines, document.newline), title.strip())


@journal.changes(
    "edit", "changed", "8c01f2e --title 'Deploy of v2.1'", "8c01f2e --line 'v2.1 is live' --line 'No errors since'"
)
@journal.ref
@option("--title", metavar="T", help="Another title.")
@option(
    "--line",
    "lines",
    multiple=True,
    type=Lines(),
    metavar="L",
    help="A new line; the given lines replace the old ones; - reads them from stdin.",
)
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
    """Change title, time or lines of an entry."""
    # Lines that stay keep their bytes, and what others changed since `base` stays, lines beside ours as well.
    others = (title is not None, lines, at is not None)
    if text is not None:
        return JOURNAL_EDITS.rewrite(call.snapshot, ref, text, base=call.base, beside=others)
    something(others)

    def planned(entry: JournalEntry) -> Step[Entry]:
        new = call.base or entry.entry
        if title is not None or at is not None:
            time = None if at is None else AT.written(at, call.now, call.zone)
            new = new.with_title(_heading(new.title, title, time))
        if lines:
            new = new.with_body(_changed_body(new, lines))
        return Step(beside_others(call.base, new, entry.entry, entry.title))

    return JOURNAL_EDITS.edit(call.snapshot, ref, planned)


def with_note(snapshot: Snapshot, title: str, lines: Sequence[str], now: datetime) -> Document:
    """Return the journal with an entry of now on top, for edits of other files that leave a note."""
    return with_notes(snapshot, [(now, title, lines)], now)


def with_notes(snapshot: Snapshot, notes: Iterable[tuple[datetime, str, Sequence[str]]], now: datetime) -> Document:
    """Return the journal with several entries, each (when it happened, title, lines), on top of their days.

    The last one given comes first in the file. Raises as `add_entry`.
    """
    document = started_document(snapshot, FILE, now)
    for at, title, lines in notes:
        date, time = _when(snapshot, None, at)
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


def _first_place(document: Document) -> int:
    """Return where the first day goes: behind titles of level 1 on top, before other sections."""
    sections = document.sections
    return next((index for index, section in enumerate(sections) if section.level == 2), len(sections))


def _composed(time: str, title: str, lines: Sequence[str], newline: str) -> Entry:
    wanted = title.strip()
    if not wanted:
        raise UsageError("journal.title", "a journal entry needs a title", "give it a title")
    entry = Entry.compose(f"{time} — {wanted}", write_lines(lines, newline), newline)
    if split_heading(entry.title) != (time, wanted):
        raise _bad_title(wanted)
    return entry


def _when(snapshot: Snapshot, at: str | None, now: datetime) -> tuple[str, str]:
    zone = snapshot.zone
    today, _, clock = format_local(now, zone).partition(" ")
    if at is None or not at.strip():
        return today, clock
    if _CLOCK.fullmatch(at.strip()):
        return today, _clock(at)
    moment = read_moment(at, zone)
    if moment is None or moment.instant is None:
        raise BadMoment(f"{at[:40]!r} has no time", "write HH:MM or YYYY-MM-DD HH:MM")
    date, _, clock = format_local(moment.instant, zone).partition(" ")
    return date, clock


def _clock(text: str) -> str:
    found = _CLOCK.fullmatch(text.strip())
    if found is None or int(found[1]) > 23 or int(found[2]) > 59 or int(found[3] or 0) > 59:
        raise BadMoment(f"{text[:40]!r} is not a time of day", "write HH:MM")
    return f"{int(found[1]):02}:{found[2]}" + (f":{found[3]}" if found[3] else "")


def _heading(old: str, title: str | None, time: str | None) -> str:
    """Return a heading with another title or time; the dash stays as it is written."""
    old_time, old_title = split_heading(old)
    new_title = old_title if title is None else title.strip()
    if not new_title and title is not None:
        raise UsageError("journal.title", "a journal entry needs a title", "give it a title")
    new_time = old_time if time is None else (_clock(time) if time.strip() else None)
    if new_time is None:
        heading = new_title
    else:
        dash = _DASH.match(old, len(old_time)) if old_time is not None else None
        heading = f"{new_time}{dash[0] if dash and dash[0].strip() else ' — '}{new_title}"
    if split_heading(heading) != (new_time, new_title):
        raise _bad_title(new_title)
    return heading


def _bad_title(title: str) -> UsageError:
    return UsageError("journal.title", f"the title {title[:60]!r} would be read differently", "begin it with a word")


def _changed_body(entry: Entry, lines: Sequence[str]) -> str:
    """Return the body with other lines; those that stay keep their bytes, and so does what lies between."""
    body, newline = entry.body, entry.newline
    old = read_lines(body)
    wanted = [line for line in map(clean_line, lines) if line]
    source = [text + end for text, end in split_lines(body)]
    if source and not source[-1].endswith(("\n", "\r")):
        source[-1] += newline
    new = source[: old[0].start] if old else []
    from difflib import SequenceMatcher

    matcher = SequenceMatcher(None, [line.text for line in old], wanted, autojunk=False)
    for tag, start, stop, first, last in matcher.get_opcodes():
        if tag == "equal":
            for number in range(start, stop):
                behind = old[number + 1].start if number + 1 < len(old) else old[number].stop
                new += source[old[number].start : behind]
        else:
            new += [write_line(line, newline) for line in wanted[first:last]]
    tail = source[old[-1].stop :] if old else source
    changed = "".join(new + tail) if old else "".join([*(write_line(line, newline) for line in wanted), *tail])
    check_lines(changed, wanted)
    return changed


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
            later = dated[-1][0] + 1 if dated else _first_place(document)
            place = min((index for index, found in dated if found < section), default=later)
        return document.insert_section(place, Section.compose(section, newline=document.newline)), place

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
    ENTRIES,
    "journal entries",
    "journal entry",
    schema=Schema({}),
    setters={},
    plain=plain_day,
    titles={},
)
remove_entry = journal.removes(JOURNAL_EDITS, "8c01f2e", "an entry")
