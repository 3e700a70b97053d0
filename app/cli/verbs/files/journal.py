"""The verbs on the journal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING

from app.cli.session import Session, short
from memory.errors import UsageError
from memory.files.journal.model import JournalEntry, find_entry
from memory.files.operations import in_words, something
from memory.operations import Group, Ref, Whole, argument, option, under

if TYPE_CHECKING:
    from memory.files.edit import Edit
    from memory.files.snapshot import Snapshot

DEFAULT_LIMIT = 50

journal = Group("journal", "List, add, show, edit and remove journal entries (journal.md and its archive).")
_ref = argument("ref", type=Ref(("journal",)))
_DAY = "a date, or today, yesterday, -7d"


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
@option("--date", metavar="D", help=f"Only entries of this day ({_DAY}).")
@option("--since", metavar="D", help="Only entries of this day and later.")
@option("--until", metavar="D", help="Only entries of this day and earlier.")
@option("--match", metavar="TEXT", help="Only entries that contain this text, in any case.")
@option("--limit", type=Whole(0), default=DEFAULT_LIMIT, metavar="N", help="The newest N (default: 50, 0 is all).")
def list_entries(
    session: Session, date: str | None, since: str | None, until: str | None, match: str | None, limit: int
) -> None:
    """List entries, the newest first."""
    if date is not None:
        if since is not None or until is not None:
            raise UsageError("usage.arguments", "--date goes without --since and --until", "give one or the other")
        since = until = date
    first, last = _day(session, since), _day(session, until)
    entries = session.snapshot.journal.entries(limit=limit, since=first, until=last, match=match)
    session.listing("entries", lambda: (entry.json() for entry in entries), lambda: _by_day(session, entries))


def _day(session: Session, text: str | None) -> str | None:
    """Return a date given in words as an ISO date."""
    if text is None:
        return None
    from memory.base.dates import parse_when

    return parse_when(text, session.now, session.snapshot.zone, past=True)[:10]


def _by_day(session: Session, entries: object) -> Iterator[str]:
    day: str | None = None
    for entry in entries:  # type: ignore[attr-defined]
        if entry.date != day:
            if day is not None:
                yield ""
            day = entry.date
            yield session.paint.line(day or "no date")
        yield session.paint.line(f"{short(entry.ref)}  {entry.time or '--:--'}  {entry.title}", indent="  ")
    if day is None:
        yield "no entries"


@under(journal, "show", serves="look", examples=("memdeck journal show 8c01f2e",))
@_ref
def show(session: Session, ref: str) -> None:
    """Show one entry; REF is a ref, its hex, or a unique part of the title."""
    _say(session, find_entry(session.snapshot, ref, archived=True))


def _say(session: Session, entry: JournalEntry) -> None:
    def lines() -> Iterator[str]:
        paint = session.paint
        yield paint.line(f"{entry.date} {entry.time or ''}".rstrip() + f"  {entry.title}")
        for line in entry.lines:
            yield paint.line(f"- {line}", indent="  ")
        yield paint.line(entry.ref, indent="  ")

    session.answer(lambda: {"entry": entry.json()}, lines)


def _changed(
    session: Session, operation: str, done: str, build: Callable[[Snapshot], Edit], *, dated: bool = False
) -> None:
    """Make a change and print the resulting entry, or one sentence; `dated`: with the time that it got."""
    words, entry = session.change_entry(operation, done, build, partial(find_entry, archived=True))
    stands = ""
    if dated and entry.date:
        moment = f"{entry.date} {entry.time}" if entry.time else entry.date
        stands = in_words(moment, session.now, session.snapshot.zone)
    session.answer(
        lambda: {"entry": entry.json()},
        lambda: [session.paint.line(f"{words} {entry.ref}  {entry.title}{'  ' * bool(stands)}{stands}")],
    )


@under(
    journal,
    "add",
    serves="change",
    examples=(
        "memdeck journal add 'Deploy' --line 'v2.1 is live' --line 'Checked /health'",
        "git log --oneline -5 | memdeck journal add 'Merged today' --line -",
        "memdeck journal add 'Call with Alice' --at 14:30",
    ),
)
@argument("title")
@option(
    "--line",
    "lines",
    multiple=True,
    metavar="L",
    help="One line of the entry; may be repeated; - reads them from stdin.",
)
@option(
    "--at", metavar="TIME", help="When it was: HH:MM, 'yesterday 14:30', '5 Nov 9:00', 2024-01-15 14:30 (default: now)."
)
def add(session: Session, title: str, lines: tuple[str, ...], at: str | None) -> None:
    """Add an entry on top of today's section."""
    from memory.files.journal.edits import add_entry

    text = lines if session.served else _with_stdin(lines)
    time = _time(session, at)
    _changed(
        session,
        "journal.add",
        "added",
        lambda snapshot: add_entry(snapshot, title, text, at=time, now=session.now),
        dated=True,
    )


def _time(session: Session, text: str | None) -> str | None:
    """Return the time in the form of the file: `HH:MM` is today, every other form names its day."""
    if not text:
        return text  # an empty time removes it
    import re

    from memory.base.clock import BadMoment
    from memory.base.dates import parse_when

    if found := re.fullmatch(r"(\d{1,2}):(\d\d)", text.strip(), re.ASCII):
        return f"{int(found[1]):02}:{found[2]}"
    time = parse_when(text, session.now, session.snapshot.zone, past=True)
    if len(time) == 10:
        raise BadMoment(f"{text!r} has no time of day", "write it like 14:30 or 'yesterday 14:30'")
    return time


def _with_stdin(lines: tuple[str, ...]) -> tuple[str, ...]:
    """Return the lines, with `-` replaced by the lines of stdin; a leading bullet is dropped from these."""
    if "-" not in lines:
        return lines
    if sys.stdin is None:
        raise UsageError("usage.stdin", "stdin is closed", "send the lines to it")
    stdin = sys.stdin.buffer.read().decode("utf-8", "surrogateescape")
    read = [line.removeprefix("- ").rstrip("\r") for line in stdin.split("\n")]
    found: list[str] = []
    for line in lines:
        found += [text for text in read if text.strip()] if line == "-" else [line]
    return tuple(found)


@under(
    journal,
    "edit",
    serves="change",
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
    metavar="L",
    help="One of its lines, which replace those it has; - reads them from stdin.",
)
@option("--at", metavar="HH:MM", help="Another time of the same day; empty for none.")
def edit(session: Session, ref: str, title: str | None, lines: tuple[str, ...], at: str | None) -> None:
    """Change title, time or lines of an entry."""
    from memory.files.journal.edits import edit_entry

    something((title is not None, lines, at is not None))
    text = (lines if session.served else _with_stdin(lines)) if lines else None
    time = _time(session, at)
    _changed(
        session,
        "journal.edit",
        "changed",
        lambda snapshot: edit_entry(snapshot, ref, title=title, lines=text, time=time, now=session.now),
    )


@under(journal, "remove", serves="change", examples=("memdeck journal remove 8c01f2e",))
@_ref
def remove(session: Session, ref: str) -> None:
    """Remove an entry from the file; it is printed as it was."""
    from memory.files.journal.edits import remove_entry

    entry = session.remove("journal.remove", ref, find_entry, remove_entry)
    session.answer(lambda: {"entry": entry.json()}, lambda: [session.paint.line(f"removed {entry.ref}  {entry.title}")])
