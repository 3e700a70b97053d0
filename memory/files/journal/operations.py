"""The operations on journal entries."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import datetime, tzinfo

from memory.base.clock import BadMoment
from memory.base.dates import parse_when
from memory.errors import UsageError
from memory.files.find import find_entry
from memory.files.operations import EntryGroup
from memory.operations import Context, Day, Ref, When, Whole, argument, option, under
from memory.operations.result import Paint, Result, listing

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


AT = _Time(("yesterday 14:30",))

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
