"""A change of the log in words: what happened, who did it, and whether it was undone or redone."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from datetime import tzinfo

from memory.files.snapshot import plain_title

from .logged_change import LoggedChange

OUTSIDE = "outside"
"""The actor of a change made without memdeck."""

NO_AGENTS = frozenset({"human", "you", "cli", "maintain", "monitor", OUTSIDE})
"""Actors that are not agents."""


def plain_actor(name: str) -> str:
    """Return the shown name of an actor: `you` for `human`, any other as it is."""
    return "you" if name == "human" else name


def short_actor(name: str) -> str:
    """Return an actor's name for a narrow column: without `agent:`, unless another actor has that name."""
    short = name.removeprefix("agent:")
    return short if short and short not in NO_AGENTS else plain_actor(name)


def summary_of(change: LoggedChange) -> tuple[str, str]:
    """Return what happened; for a change from outside, what happened to its first entry, and then its files."""
    if change.actor != OUTSIDE or not change.entries:
        return change.summary, ""
    first, *more = change.entries
    rest = f" and {len(more)} more" if more else ""
    return f"{first.kind} {plain_title(first.file, first.title)!r}{rest}", ", ".join(change.files)


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


def turned_lines(change: LoggedChange, zone: tzinfo) -> Mapping[str, str]:
    """Return the last undo and redo of a change with time and actor, or else its state if it is undone or thinned."""
    found = {
        "redone" if number % 2 else "undone": f"{turn.time.astimezone(zone):%H:%M:%S} by {plain_actor(turn.actor)}"
        for number, turn in enumerate(change.turns)
    }
    if change.undone_by and not change.turns:
        found["state"] = "undone"
    elif not change.undone_by and not change.kept:
        found["state"] = "its text is no longer kept, so it cannot be taken back"
    return found


def standing(change: LoggedChange) -> LoggedChange | None:
    """Return what can be undone at a row: the change, or the change that undid it; None: that one is not listed."""
    if change.undone_by is None:
        return change
    return next((turn for turn in change.turns if turn.ref == change.undone_by and turn.undone_by is None), None)
