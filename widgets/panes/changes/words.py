"""A change of the log in words: what happened, who did it, and whether it was undone or redone."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from datetime import tzinfo

from memory.files.snapshot import plain_title
from widgets.detail import Labelled
from widgets.text.styled_text import Column, Columns, Line, Piece, line, line_width

from .logged_change import LoggedChange

OUTSIDE = "outside"
"""The actor of a change made without memdeck."""

NO_AGENTS = frozenset({"human", "you", "cli", "maintain", "monitor", OUTSIDE})
"""Actors that are not agents."""


ROW = Columns(Column("time", 5, importance=3), Column("actor", 12, importance=1), Column("summary", minimum=18))
"""The columns of a change."""
WIDEST = 200
"""The most cells of a summary in the title of the detail."""


def plain_actor(name: str) -> str:
    """Return the shown name of an actor: `you` for `human`, any other as it is."""
    return "you" if name == "human" else name


def short_actor(name: str) -> str:
    """Return an actor's name for a narrow column: without `agent:`, unless another actor has that name."""
    short = name.removeprefix("agent:")
    return short if short and short not in NO_AGENTS else plain_actor(name)


def summary_line(change: LoggedChange, width: int) -> Line:
    """Return what happened; for a change from outside, what happened to its first entry and how many others there are.

    The files of such a change follow if everything fits in `width` cells.
    """
    words: Line = line(change.summary)
    if change.actor == OUTSIDE and change.entries:
        first, *more = change.entries
        title = plain_title(first.file, first.title)
        rest = f" and {len(more)} more" if more else ""
        files = ", ".join(change.files)
        words = line(f"{first.kind} {title!r}{rest}")
        where = Piece(f"  {files}", "muted")
        if line_width(words) + line_width((where,)) + (8 if change.undone_by else 0) <= width:
            words = (*words, where)
    if change.undone_by:
        return line(Piece("undone", "accent"), Piece("  "), *(Piece(text, "muted") for text, _ in words))
    return words


def folded(changes: Sequence[LoggedChange], day: Callable[[LoggedChange], Hashable]) -> list[LoggedChange]:
    """Return changes without those that only undid or redid another change of the same day.

    These become the `turns` of the change that they undid or redid, the oldest first. An undo or redo on another day,
    or of a change that is not listed, stays in the list. `changes` are newest first, and so is the result.
    """
    by_ref = {one.ref: one for one in changes}
    turns: dict[str, list[LoggedChange]] = {}
    left: list[LoggedChange] = []
    for change in changes:
        first = _turned(change, by_ref)
        if first is not None and day(first) == day(change):
            turns.setdefault(first.ref, []).append(change)
        else:
            left.append(change)
    return [replace(one, turns=tuple(reversed(turns[one.ref]))) if one.ref in turns else one for one in left]


def _turned(change: LoggedChange, by_ref: dict[str, LoggedChange]) -> LoggedChange | None:
    """Return the change that `change` undoes or redoes, through any number of turns.

    None where it does neither, or where a change on the way is not in `by_ref`.
    """
    found = None
    seen = set()
    while change.turns_ref and change.turns_ref not in seen:
        seen.add(change.turns_ref)
        if change.turns_ref not in by_ref:
            return None
        found = change = by_ref[change.turns_ref]
    return found


def turned_lines(change: LoggedChange, zone: tzinfo) -> list[Labelled]:
    """Return each undo and redo of a change with its time and actor, or else its state if it is undone or thinned."""
    found = []
    for number, turn in enumerate(change.turns):
        what = "undone" if number % 2 == 0 else "redone"
        found.append(Labelled(what, f"{turn.time.astimezone(zone):%H:%M:%S} by {plain_actor(turn.actor)}"))
    if change.undone_by and not change.turns:
        found.append(Labelled("state", "undone"))
    elif not change.undone_by and not change.kept:
        found.append(Labelled("state", "its text is no longer kept, so it cannot be taken back"))
    return found


def standing(change: LoggedChange) -> LoggedChange | None:
    """Return what can be undone at a row: the change, or the change that undid it; None: that one is not listed."""
    if change.undone_by is None:
        return change
    return next((turn for turn in change.turns if turn.ref == change.undone_by and turn.undone_by is None), None)
