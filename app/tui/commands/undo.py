"""Undo and redo of the user's changes."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from app.tui.shell import ACTOR
from app.tui.spine import Spine
from memory.errors import MemdeckError
from memory.history import logs
from memory.history.logs import TakenBackChange
from memory.storage.changes import file_name
from memory.storage.own_folders import short_path
from memory.workspace import Outcome
from widgets.panes import pane_of
from widgets.text.words import until

from .revert import take_back


def undo(app: Spine) -> None:
    """Take back your last change."""
    lost = app.state.lost_in(app.pane)
    if lost is not None and lost.change is not None:
        return take_back(app, lost.change, f"Brought back {lost.name}")
    reversals = app.state.reversals
    return reversals.pop()() if reversals else _turn(app, logs.undo, "Nothing to undo.")


def redo(app: Spine) -> None:
    """Bring back what you undid last."""
    return _turn(app, logs.redo, "Nothing to redo.")


def _turn(app: Spine, turn: Callable[..., TakenBackChange], nothing: str) -> None:
    """Undo or redo; the cursor goes to the entries that appear, unless the user moved elsewhere meanwhile."""
    workspace, now, pane, stays = app.shown_workspace, app.clock(), app.pane, app.stays()
    before = pane.arrangement.rows if pane is not None and pane.contents is not None else None

    def write() -> Outcome:
        done = turn(workspace.together, actor=ACTOR, now=now)
        return Outcome(done.change, done.change.summary + _whereabouts(app, done, now))

    def otherwise(error: MemdeckError) -> None:
        if error.code == "change.none":
            app.say(nothing)
        else:
            app.say_error(error)

    def follow(_: Outcome) -> None:
        if pane is not None and before is not None and stays():
            pane.go_to_what_came(before)

    app.write(write, otherwise, then=follow)


def _whereabouts(app: Spine, turned: TakenBackChange, now: datetime) -> str:
    """Return the pane or folder of a change if another one is open, and when and where it was made if not here.

    The command line, other memdecks and this one share one undo history: the user must see that undo went further
    back than what was just done here.
    """
    number, current = turned.change.undoes or turned.change.redoes, app.pane
    if number is None or current is None:
        return ""
    try:
        record = turned.log.history.get(number)
    except MemdeckError:
        return ""
    pane = pane_of(file_name(record.paths[0])) if record.paths else None
    away = [name.title for name in app.state.names if name.id == pane != current.pane_id]
    words = f" in {away[0]}" if away else ""
    if turned.log.place:
        words = f" in {short_path(turned.log.place, app.shown_workspace.home)}"
    if number in app.made:
        return words
    app.made.add(number)
    when = until(record.time, now, app.zone)
    if record.actor == "cli":
        return f"{words}, made at the command line, {when}"
    return f"{words}, made {'before this start' if record.time < app.began else 'in another memdeck'}, {when}"
