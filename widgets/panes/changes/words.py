"""A change of the log in words: what happened, who it was, and what became of it afterwards."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from memory.base.safe_text import cell_width, visible
from memory.files.refs.entry_refs import plain_title
from widgets.detail import Labelled
from widgets.list.columns import Column, Columns
from widgets.text.styled_text import Line, Piece, line, line_width

if TYPE_CHECKING:
    from datetime import tzinfo

    from .logged_change import LoggedChange

OUTSIDE = "outside"
"""Who changed a file without memdeck."""

LEAST_ACTOR = 5
"""The fewest cells of the column that says who it was."""

MANY_CELLS = 58
"""From so many cells on who it was gets more of them."""

FEW_CELLS = 44
"""Below so many cells who it was is said shortly, so that it stays beside what was done."""

NO_AGENTS = frozenset({"human", "you", "cli", "maintain", "monitor", OUTSIDE})
"""Who changes something without being an agent."""


@dataclass(frozen=True, slots=True)
class Layout:
    """The columns of a list, when, who, what; `short` says that who it was is said shortly."""

    columns: Columns
    short: bool = False

    def actor(self, name: str) -> str:
        """Return how who it was is said here."""
        return short_actor(name) if self.short else plain_actor(name)


def plain_actor(name: str) -> str:
    """Return an actor as people read it: `you` for `human`, any other one as it is."""
    return "you" if name == "human" else name


def short_actor(name: str) -> str:
    """Return an actor in few cells: `builder` for `agent:builder`.

    An agent that has the name of who is none keeps its name in full.
    """
    short = name.removeprefix("agent:")
    if short != name:
        return short if short and short not in NO_AGENTS else name
    return plain_actor(name)


def layouts(changes: Iterable[LoggedChange]) -> tuple[Layout, Layout, Layout]:
    """Return how a list of very few cells is laid out, one of few cells and another one; `layout_for` chooses.

    Who it was gets the room that the longest name needs, up to a limit.
    """
    actors = {one.actor for one in changes}

    def layout(limit: int, summary: int, *, short: bool = False) -> Layout:
        said = set(map(short_actor if short else plain_actor, actors))
        widest = max((cell_width(visible(name[:limit])) for name in said), default=0)
        actor = Column("actor", min(limit, max(LEAST_ACTOR, widest)), importance=1)
        return Layout(Columns(Column("time", 5, importance=3), actor, Column("summary", minimum=summary)), short)

    return layout(10, 12, short=True), layout(18, 18), layout(24, 18)


def layout_for(width: int, found: tuple[Layout, Layout, Layout]) -> Layout:
    """Return the one for a width in cells."""
    return found[(width >= FEW_CELLS) + (width >= MANY_CELLS)]


def summary_line(change: LoggedChange, width: int) -> Line:
    """Return what happened; of a change from outside what became of which entry.

    Then in which file that was, if `width` cells are enough for all of it.
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
    """Return changes without those that only took another one of the same day back, or brought it again.

    They stand in the `turns` of the change that they were about, the oldest first. What happened on another day, and
    what is about a change that is not listed, stays where it is. `changes` come newest first, and so does the answer.
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
    """Return the change that one takes back or brings again, through any number of turns; None where it does not."""
    found = None
    seen = set()
    while change.turns_ref and change.turns_ref not in seen:
        seen.add(change.turns_ref)
        if change.turns_ref not in by_ref:
            return None
        found = change = by_ref[change.turns_ref]
    return found


def turned_lines(change: LoggedChange, zone: tzinfo) -> list[Labelled]:
    """Return how a change stands, and how it came to that."""
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
    """Return what can be taken back at a row: the change, or what took it back; None: that is not in the list."""
    if change.undone_by is None:
        return change
    return next((turn for turn in change.turns if turn.ref == change.undone_by and turn.undone_by is None), None)
