"""Reverting any one change, by any actor: a preview first, or a choice of sides where the same was changed since."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from app.tui.forms.conflicts import ask_sides
from app.tui.shell import ACTOR
from memory.files.versions.diff import ChangeView
from memory.files.versions.restore import restore_entry
from memory.history.logs import find_change
from memory.history.logs import revert as revert_change
from memory.history.outside import OutsideRemoval, keep_removal
from memory.history.versions import rehearse_revert
from memory.storage.merging import MergedChange, Take
from memory.workspace import Outcome
from widgets.dialogs.dialogs import Preview
from widgets.dialogs.three_way import Sides
from widgets.panes.changes import LoggedChange, diff_lines, place_of, plain_actor
from widgets.text.glyphs import Glyphs
from widgets.text.styled_text import Line, Piece, line

from .conditions import removal_of

if TYPE_CHECKING:
    from app.tui.spine import Spine


def revert(app: Spine) -> None:
    """Undo the change under the cursor, even one that others made; shows the effect first."""
    workspace, now = app.shown_workspace, app.clock()
    item = app.shown_pane.current()
    assert item is not None
    change: LoggedChange = item.thing
    # For a change that is reverted, revert the reverting one: the change is applied again.
    change = {**change, "id": change["undoneBy"] or change["id"]}
    return app.find(
        lambda: rehearse_revert(find_change(workspace.together, change["id"], ACTOR).log, change["id"], now),
        lambda found: _ask(app, change, found[0]) if found[0].state == "conflict" else _show(app, change, found[1]),
        opens="What would be taken back",
    )


def _show(app: Spine, change: LoggedChange, views: Sequence[ChangeView]) -> None:
    words = "Newer changes stay as they are. Enter takes it back; that can be undone."
    return app.ask(
        Preview(
            f"Take back: {change['summary'][:300]}",
            plan_lines(change, views, app.glyphs),
            summary=words if views else "Nothing of it is left to undo.",
            applicable=bool(views),
        ),
        lambda _: take_back(app, change["id"], f"Undid: {change['summary']}"),
    )


def take_back(app: Spine, change_id: str, words: str, take: Take | None = None) -> None:
    """Revert a change; `take` chooses a side where the same was changed since."""
    workspace, now = app.shown_workspace, app.clock()

    def write() -> Outcome:
        done = revert_change(workspace.together, change_id, actor=ACTOR, now=now, take=take).change
        return Outcome(done, words if done.files else "Nothing of it is left to undo.")

    return app.write(write, taken_back=True)


def _ask(app: Spine, change: LoggedChange, merged: MergedChange) -> None:
    """Ask about places that changed since, in three columns: as the change left them, before it, now."""
    if merged.reasons:
        return app.say(f"Cannot be taken back: {merged.reasons[0]}.", severity="warning")
    return ask_sides(
        app,
        f"Take back: {change['summary'][:300]}",
        merged.clashes,
        Sides(base="the change", mine="taken back", theirs="now"),
        lambda take: take_back(app, change["id"], f"Undid in part: {change['summary']}", take),
    )


# What other programs removed


def bring_back(app: Spine, removal: OutsideRemoval) -> None:
    """Bring back the entries that another program removed."""
    workspace, now = app.shown_workspace, app.clock()

    def write() -> Outcome:
        done = revert_change(workspace.together, removal.id, actor=ACTOR, now=now, removed=True).change
        return Outcome(done, done.summary if done.files else f"{removal.words} is back already")

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
    """Bring back an archived entry to where it came from, or what another program or a client removed."""
    here = removal_of(app.pane, app.state.removals)
    if here is not None:
        return bring_back(app, here)
    pane, now = app.shown_pane, app.clock()
    deleted = pane.bringing_back(pane.selected())
    if deleted is not None:
        return app.change(deleted.operation, deleted, taken_back=True)
    item: Any = pane.current()
    ref = item.ref
    pane.step_off()
    return app.change("restore", lambda files: restore_entry(files, ref, now=now), taken_back=True)


def plan_lines(change: LoggedChange, views: Sequence[ChangeView], glyphs: Glyphs) -> list[Line]:
    """Return what reverting a change does to each entry."""
    lines: list[Line] = [line(Piece(f"made by {plain_actor(change['actor'])}", "muted"))]
    for view in views[:50]:
        head = {"added": "comes back", "removed": "goes", "edited": "changes", "moved": "moves"}[view.kind]
        lines += [(), line(Piece(view.title, "strong"), Piece(f"  {head}", "accent"))]
        lines.append(line(Piece(place_of(view, glyphs), "muted")))
        lines += [line("  ", row) for row in diff_lines(view.lines)]
    if len(views) > 50:
        lines += [(), line(Piece(f"and {len(views) - 50:,} more entries", "muted"))]
    return lines
