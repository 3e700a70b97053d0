"""The operations on the change log: list, show, revert, undo and redo changes, and restore entries."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any

from memory.base.clock import format_local
from memory.errors import MemdeckError
from memory.files.versions.diff import ChangeView
from memory.files.versions.restore import restore_entry
from memory.operations import Bound, Context, Group, Whole, argument, option, under, verb
from memory.operations.result import Paint, Result, listing, said
from memory.review.proposals import Proposal
from memory.storage import Change
from memory.storage.changes import ChangeRecord
from memory.storage.log import ChangeLog
from memory.storage.own_folders import short_path

from . import logs
from .changes import row, unrecorded_row, views_of
from .logs import TakenBackChange
from .outside import keep_removal

ID_LENGTH = 16  # the time, and enough characters after it to be unique
_LIMIT = 50

changes = Group("changes", "List, show and revert changes: what changed, when and by whom.")
_id = argument("change_id", metavar="ID")


@under(
    changes,
    "list",
    serves="look",
    examples=(
        "memdeck changes list",
        "memdeck changes list --actor outside --since yesterday",
        "memdeck changes list --entry tasks#3fa94c1 -o json",
    ),
)
@option("--file", metavar="FILE", help="Only changes of this file, such as tasks.md or 'archive/*'.")
@option("--entry", metavar="REF", help="Only changes of this entry: a ref, its hex, or a part of the title.")
@option(
    "--since", metavar="TIME", type=Bound(), help="Only changes at or after: 2026-12-01, '2026-12-01 14:00', yesterday."
)
@option(
    "--until", metavar="TIME", type=Bound(end=True), help="Only changes up to this time; a date includes its whole day."
)
@option("--limit", type=Whole(least=0), default=_LIMIT, help=f"The newest N (default: {_LIMIT}; 0: all).")
def list_changes(
    context: Context,
    file: str | None,
    entry: str | None,
    since: datetime | None,
    until: datetime | None,
    limit: int,
) -> Result:
    """List the changes of every writer, newest first; new changes by other programs are logged first.

    Changes of your own memory ($AGH_HOME, the scope global) are listed too, with their folder.
    With --actor NAME only those by human, cli, maintain, outside, agent:NAME, or agent:*.
    """
    zone = context.snapshot.zone
    _notice(context)
    found = logs.list_changes(
        context.workspace.together,
        limit=limit,
        actor=context.actor_option,
        file=file,
        entry=entry,
        since=since,
        until=until,
    )
    rows = (
        (
            record.id[:ID_LENGTH],
            format_local(record.time, zone),
            record.actor,
            "undone" if record.undone_by else "",
            (record.summary or record.operation) + within(context, log.place, " (in {})"),
        )
        for record, log in found
    )
    return listing(
        "changes",
        lambda: (row(record, log.place) for record, log in found),
        lambda paint: paint.columns(rows, empty="no changes"),
    )


def _notice(context: Context) -> None:
    context.workspace.notice(context.now)
    context.warn()


@under(
    changes,
    "show",
    serves="look",
    examples=("memdeck changes show 01HM5Z0C8WJ4QXKD", "memdeck changes show 01HM5Z0C8WJ4QXKD -o json"),
)
@_id
def show(context: Context, change_id: str) -> Result:
    """Show one change, entry by entry. ID is its id or the beginning of it."""
    _notice(context)
    # The actor filters a listing; here it is the user who looks at one change.
    record, log = logs.find_change(context.workspace.together, change_id, "cli")
    views = views_of(log.history, record)
    document = {
        "change": {**row(record, log.place), "undoes": record.undoes, "redoes": record.redoes},
        "views": [view.json() for view in views],
    }
    return Result(lambda: document, lambda paint: _told(paint, context, record, views, log.place))


def _told(
    paint: Paint, context: Context, record: ChangeRecord, views: tuple[ChangeView, ...], place: str
) -> Iterator[str]:
    yield from head_lines(paint, context, record, place)
    if record.reviewer:
        yield paint.line(f"accepted by {record.reviewer}, as proposal {record.proposal}", "  ")
    if record.undone_by:
        yield paint.line(f"undone by {record.undone_by}", "  ")
    if not record.kept:
        yield paint.notice(paint.line("its content is no longer kept", "  "))
    yield from view_lines(paint, views, origins=True)


def head_lines(paint: Paint, context: Context, change: ChangeRecord | Proposal, place: str) -> Iterator[str]:
    """Yield what a change or a proposal is, and its folder if that is outside the workspace."""
    time = change.time.astimezone(context.snapshot.zone).strftime("%Y-%m-%d %H:%M:%S")
    yield paint.line(f"{change.id}  {time}  {change.actor}  {change.operation}")
    if summary := change.wanted if isinstance(change, Proposal) else change.summary:
        yield paint.line(summary, "  ")
    if place:
        yield paint.line(within(context, place, "in {}, outside of this workspace"), "  ")


def view_lines(paint: Paint, views: Iterable[ChangeView], *, origins: bool = False) -> Iterator[str]:
    """Yield what happened to each entry; `origins`: with the section or the file that it came from."""
    for view in views:
        place = f"{view.file}: {view.section}" if view.section and view.entry else view.file
        origin = f" (from {view.moved_from})" if origins and view.moved_from else ""
        name = f"  {view.entry}" if view.entry else ""
        yield ""
        yield paint.line(f"{view.kind} {view.title}{name}  in {place}{origin}")
        yield from (paint.line(line, "  ") for line in view.lines)


@under(
    changes,
    "revert",
    serves="change",
    examples=("memdeck changes revert 01HM5Z0C8WJ4QXKD", "memdeck changes revert --removed 01HM5Z0C8WJ4QXKD"),
)
@_id
@option(
    "--removed",
    is_flag=True,
    help="Only restore the entries that another program removed; its other changes stay.",
)
def revert(context: Context, change_id: str, removed: bool) -> Result:
    """Revert one change by any author; later changes by others stay.

    Where the same text was changed since, nothing is written, and the error says what happened to each entry.
    """
    done = logs.revert(context.workspace.together, change_id, actor=context.actor, now=context.now, removed=removed)
    return _took_back(context, done)


@under(changes, "keep", serves="person", examples=("memdeck changes keep 01HM5Z0C8WJ4QXKD",))
@_id
def keep(context: Context, change_id: str) -> Result:
    """Accept that another program removed entries, and end the reminders."""
    change = context.workspace.store.history.get(change_id).id
    words = keep_removal(context.workspace, change, actor=context.actor, now=context.now)
    return said({"kept": {"change": change}}, f"left as it is: {words}")


@verb("undo", serves="change", examples=("memdeck undo", "memdeck undo --actor agent:builder"))
def undo(context: Context) -> Result:
    """Undo the newest change made in your name, from any program; later changes by others stay.

    Proposals that you accepted count as yours; an agent (--actor) undoes only its own changes. If maintenance has
    archived the changed entries since, undo says how to revert the change, and the next undo reverts an older one.
    """
    return _took_back(context, logs.undo(context.workspace.together, actor=context.actor, now=context.now))


@verb("redo", serves="change", examples=("memdeck redo",))
def redo(context: Context) -> Result:
    """Redo the change that was undone last; a new change in your name ends that."""
    return _took_back(context, logs.redo(context.workspace.together, actor=context.actor, now=context.now))


@verb("restore", serves="change", examples=("memdeck restore 3fa94c1",))
@argument("ref", metavar="REF")
def restore(context: Context, ref: str) -> Result:
    """Bring an archived entry back to where it came from.

    A task goes back to Completed, a journal entry to its day, a plan to Completed Plans.
    """
    outcome = context.change("restore", lambda snapshot: restore_entry(snapshot, ref, now=context.now))
    return _did(context, outcome.change, outcome.ref)


def _took_back(context: Context, done: TakenBackChange) -> Result:
    return _did(context, done.change, history=done.log.history, place=done.log.place)


def _did(
    context: Context, change: Change, ref: str | None = None, *, history: ChangeLog | None = None, place: str = ""
) -> Result:
    """Return what a change did: its row of the log, or one line; `place` is its folder if outside the workspace."""
    context.made = change.summary if change.files else None
    context.warn()
    words = change.summary if change.files else f"nothing to change: {change.summary}"
    more = {} if ref is None else {"ref": ref}
    log = history or context.workspace.store.history
    return said({"change": _row(log, change, place), **more}, words + within(context, place, " (in {})"))


def within(context: Context, place: str, words: str) -> str:
    """Return words that name a folder outside the workspace, in place of {}; empty for the workspace itself."""
    if not place:
        return ""
    return words.format(short_path(place, context.workspace.home))


def _row(history: ChangeLog, change: Change, place: str) -> dict[str, Any]:
    try:
        return row(history.get(change.id), place)
    except MemdeckError:  # nothing changed, or the log could not be written
        return unrecorded_row(change, place)
