"""Taking back: undo and redo of the user's changes, any one change by any actor, and entries that are gone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from app.tui.forms.conflicts import ask_sides
from app.tui.shell import ACTOR
from app.tui.spine import Spine
from memory.errors import MemdeckError
from memory.files.versions.diff import ChangeView
from memory.files.versions.restore import restore_entry
from memory.history import logs
from memory.history.changes import rehearse_revert
from memory.history.logs import TakenBackChange, find_change
from memory.history.logs import revert as revert_change
from memory.history.outside import OutsideRemoval, keep_removal
from memory.storage.changes import file_name
from memory.storage.merging import MergedChange, Take
from memory.storage.own_folders import short_path
from memory.workspace import Outcome
from widgets.dialogs.dialogs import Preview
from widgets.dialogs.three_way import Sides
from widgets.panes import pane_of
from widgets.panes.changes import LoggedChange, diff_lines, place_of, short_actor, view_title
from widgets.text.glyphs import Glyphs
from widgets.text.styled_text import Line, Piece, line
from widgets.text.words import until


def undo(app: Spine) -> None:
    """Undo your last change."""
    lost = app.state.lost_in(app.pane)
    if lost is not None and lost.change is not None:
        return take_back(app, lost.change, f"Brought back {lost.name}")
    reversals = app.state.reversals
    return reversals.pop()() if reversals else _turn(app, logs.undo, "Nothing to undo.")


def redo(app: Spine) -> None:
    """Redo what you undid last."""
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
    return f"{words}, made {'in an earlier session' if record.time < app.began else 'in another memdeck'}, {when}"


def revert(app: Spine) -> None:
    """Revert or redo any change, with a preview."""
    workspace, now = app.shown_workspace, app.clock()
    item = app.shown_pane.current()
    assert item is not None
    change: LoggedChange = item.thing
    words = REDO if change["undoneBy"] else REVERT
    # For a change that is undone, revert the change that undid it: the change is made again.
    change = {**change, "id": change["undoneBy"] or change["id"]}
    return app.find(
        lambda: rehearse_revert(find_change(workspace.together, change["id"], ACTOR).log, change["id"], now),
        lambda found: (
            _ask(app, change, words, found[0]) if found[0].state == "conflict" else _show(app, change, words, found[1])
        ),
        opens="The preview",
    )


class RevertWords(NamedTuple):
    """What a revert is called: as its title, on Enter, and when it is done."""

    title: str
    does: str
    done: str


REVERT, REDO = RevertWords("Revert", "reverts", "Reverted"), RevertWords("Redo", "redoes", "Redone")
NOTHING = "Nothing is left to {}: later changes replaced it."


def _show(app: Spine, change: LoggedChange, words: RevertWords, views: Sequence[ChangeView]) -> None:
    key = app.key_of("change.undo")
    enter = f"Later changes are kept. Enter {words.does} this one; {key} undoes the {words.title.lower()}."
    return app.ask(
        Preview(
            f"{words.title}: {change['summary'][:300]}",
            plan_lines(change, views, app.glyphs),
            summary=enter if views else NOTHING.format("redo" if words is REDO else "undo"),
            applicable=bool(views),
        ),
        lambda _: take_back(app, change["id"], f"{words.done}: {change['summary']}"),
    )


def take_back(app: Spine, change_id: str, words: str, take: Take | None = None) -> None:
    """Revert a change; `take` chooses a side where the same was changed since."""
    workspace, now = app.shown_workspace, app.clock()

    def write() -> Outcome:
        done = revert_change(workspace.together, change_id, actor=ACTOR, now=now, take=take).change
        return Outcome(done, words if done.files else NOTHING.format("undo"))

    return app.write(write, taken_back=True)


def _ask(app: Spine, change: LoggedChange, words: RevertWords, merged: MergedChange) -> None:
    """Ask about places that changed since, in three columns: as the change left them, before it, now."""
    if merged.reasons:
        return app.say(f"Cannot be reverted: {merged.reasons[0]}.", severity="warning")
    return ask_sides(
        app,
        f"{words.title}: {change['summary'][:300]}",
        merged.clashes,
        Sides(base="the change", mine="reverted", theirs="now"),
        lambda take: take_back(app, change["id"], f"{words.done} in part: {change['summary']}", take),
    )


# What other programs removed


def bring_back(app: Spine, removal: OutsideRemoval) -> None:
    """Bring back the entries that another program removed."""
    workspace, now = app.shown_workspace, app.clock()

    def write() -> Outcome:
        done = revert_change(workspace.together, removal.id, actor=ACTOR, now=now, removed=True).change
        return Outcome(done, done.summary if done.files else f"{removal.words} is already back")

    return app.write(write, taken_back=True)


def leave(app: Spine, removals: Sequence[OutsideRemoval]) -> None:
    """Leave what another program removed as it is, and do not remind of it again."""
    workspace, now = app.shown_workspace, app.clock()

    def work() -> None:
        for one in removals:
            keep_removal(workspace, one.id, actor=ACTOR, now=now)

    words = removals[0].words if len(removals) == 1 else f"{len(removals)} removals"
    said = f"Dismissed: {words}. Changes lists it; {app.key_of('change.revert')} there brings it back."

    def kept(_: None) -> None:
        app.say(said)
        app.changed()

    app.find(work, kept)


# The archive


def restore(app: Spine) -> None:
    """Restore an archived or removed entry."""
    here = app.situation.removal
    if here is not None:
        return bring_back(app, here)
    pane, now = app.shown_pane, app.clock()
    item: Any = pane.current()
    ref = item.ref
    pane.step_off()
    return app.change("restore", lambda files: restore_entry(files, ref, now=now), taken_back=True)


def plan_lines(change: LoggedChange, views: Sequence[ChangeView], glyphs: Glyphs) -> list[Line]:
    """Return what reverting a change does to each entry."""
    lines: list[Line] = [line(Piece(f"made by {short_actor(change['actor'])}", "muted"))]
    for view in views[:50]:
        head = {"added": "returns", "removed": "is removed", "edited": "changes", "moved": "moves"}[view.kind]
        lines += [(), line(Piece(view_title(view), "strong"), Piece(f" {head}", "accent"))]
        lines.append(line(Piece(place_of(view, glyphs), "muted")))
        lines += [line("  ", row) for row in diff_lines(view.lines)]
    if len(views) > 50:
        lines += [(), line(Piece(f"and {len(views) - 50:,} more entries", "muted"))]
    return lines
