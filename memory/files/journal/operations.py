"""The operations on journal entries."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, tzinfo

from memory.base.clock import BadMoment
from memory.base.dates import parse_when
from memory.errors import UsageError
from memory.files.edit import Edit
from memory.files.find import find_entry
from memory.files.operations import Call, EntryGroup, in_words, something
from memory.operations import Context, Day, Lines, Ref, When, Whole, argument, option, under
from memory.operations.result import Paint, Result, listing

from .edits import add_entry, edit_entry, remove_entry, replace_entry_text
from .model import JournalEntry

DEFAULT_LIMIT = 50
_DAY = "a date, or today, yesterday, -7d"
_CLOCK = re.compile(r"(\d{1,2}):(\d\d)(:\d\d)?", re.ASCII)
_ref = argument("ref", type=Ref(("journal",)))


class _Time(When):
    """The time of an entry: `HH:MM` is today, every other form names its day; an empty one removes it."""

    def written(self, text: str, now: datetime, zone: tzinfo) -> str:
        """Return the time in the form of the file. BadMoment."""
        if not text.strip():
            return ""
        if found := _CLOCK.fullmatch(text.strip()):
            return f"{int(found[1]):02}:{found[2]}{found[3] or ''}"
        time = parse_when(text, now, zone, past=True)
        if len(time) == 10:
            raise BadMoment(f"{text!r} has no time of day", "write it like 14:30 or 'yesterday 14:30'")
        return time


_AT = _Time(("yesterday 14:30",))

journal = EntryGroup(
    "journal",
    "List, add, show, edit and remove journal entries (journal.md and its archive).",
    key="entry",
    find=lambda snapshot, ref, _: find_entry(snapshot, ref, archived=True),
    title=lambda entry: str(entry.title),
)


@under(
    journal,
    "list",
    serves="look",
    examples=(
        "memdeck journal list --limit 10",
        "memdeck journal list --since -7d --match deploy",
        "memdeck journal list --date 2024-01-15 -o json",
    ),
)
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
            raise UsageError("usage.arguments", "--date goes without --since and --until", "give one or the other")
        since = until = date
    found = context.snapshot.journal.entries(limit=limit, since=since, until=until, match=match)
    return listing("entries", lambda: (entry.json() for entry in found), lambda paint: _by_day(paint, found))


def _by_day(paint: Paint, entries: Iterable[JournalEntry]) -> Iterator[str]:
    day: str | None = None
    for entry in entries:
        if entry.date != day:
            if day is not None:
                yield ""
            day = entry.date
            yield paint.line(day or "no date")
        yield paint.line(f"{entry.ref.partition('#')[2]}  {entry.time or '--:--'}  {entry.title}", indent="  ")
    if day is None:
        yield "no entries"


@under(journal, "show", serves="look", examples=("memdeck journal show 8c01f2e",))
@_ref
def show(context: Context, ref: str) -> Result:
    """Show one entry; REF is a ref, its hex, or a unique part of the title."""
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
    examples=(
        "memdeck journal add 'Deploy' --line 'v2.1 is live' --line 'Checked /health'",
        "git log --oneline -5 | memdeck journal add 'Merged today' --line -",
        "memdeck journal add 'Call with Alice' --at 14:30",
    ),
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
    type=_AT,
    metavar="TIME",
    help="When it was: HH:MM, 'yesterday 14:30', '5 Nov 9:00', 2024-01-15 14:30 (default: now).",
)
def add(call: Call, title: str, lines: Sequence[str] = (), at: str | None = None) -> Edit:
    """Add an entry on top of today's section."""
    call.after = lambda entry: "  " + in_words(f"{entry.date} {entry.time or ''}".strip(), call.now, call.zone)
    return add_entry(call.snapshot, title, lines, at=_written(call, at), now=call.now)


def _written(call: Call, at: str | None) -> str | None:
    return None if at is None else _AT.written(at, call.now, call.zone)


@journal.changes(
    "edit",
    "changed",
    examples=(
        "memdeck journal edit 8c01f2e --title 'Deploy of v2.1'",
        "memdeck journal edit 8c01f2e --line 'v2.1 is live' --line 'No errors since'",
    ),
)
@_ref
@option("--title", metavar="T", help="Another title.")
@option(
    "--line",
    "lines",
    multiple=True,
    type=Lines(),
    metavar="L",
    help="One of its lines, which replace those it has; - reads them from stdin.",
)
@option("--at", type=_AT, metavar="HH:MM", help="Another time of the same day; empty for none.")
@option("--text", metavar="TEXT", help="The whole text of the entry in the file, instead of the other options.")
def edit(
    call: Call,
    ref: str,
    title: str | None = None,
    lines: Sequence[str] | None = None,
    at: str | None = None,
    text: str | None = None,
) -> Edit:
    """Change title, time or lines of an entry."""
    something((title is not None, lines, at is not None, text is not None))
    if text is not None:
        if title is not None or lines or at is not None:
            raise UsageError("usage.arguments", "--text replaces the whole entry", "give either --text or the others")
        return replace_entry_text(call.snapshot, ref, text, now=call.now)
    time = _written(call, at)
    return edit_entry(call.snapshot, ref, title=title, lines=lines or None, time=time, base=call.base, now=call.now)


@journal.changes("remove", "removed", examples=("memdeck journal remove 8c01f2e",))
@_ref
def remove(call: Call, ref: str) -> Edit:
    """Remove an entry from the file; it is printed as it was."""
    return remove_entry(call.snapshot, ref, now=call.now)
