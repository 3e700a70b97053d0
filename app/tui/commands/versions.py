"""The history of the entry under the cursor: a list of its versions, and a preview of bringing one back."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING

from memory.base.safe_text import visible
from memory.files.snapshot import plain_title
from memory.files.versions.diff import ChangeView, line_changes
from memory.history.versions import EntryVersion, bring_back, versions_of
from widgets.dialogs.dialogs import Preview
from widgets.dialogs.pick import Pick, PickOption
from widgets.panes.changes import diff_lines, plain_actor
from widgets.text.styled_text import Line, line

from .conditions import versioned

if TYPE_CHECKING:
    from app.tui.spine import Spine


def show(app: Spine) -> None:
    """Show the versions of the entry, who made them, and bring one back."""
    workspace, now, ref = app.shown_workspace, app.clock(), versioned(app.shown_pane)
    if ref is None:
        return None

    def work() -> tuple[EntryVersion, ...]:
        workspace.notice(now)
        return versions_of(workspace, ref)

    return app.find(work, lambda found: _list(app, found), opens="The history")


def _list(app: Spine, versions: Sequence[EntryVersion]) -> None:
    """List the versions, newest first; a chosen one is compared with the current text."""
    newest = next((one.view for one in versions if one.view is not None), None)
    if newest is None:
        return app.say("No change of this entry is recorded yet.")
    now, zone = app.clock(), app.zone
    options = [
        PickOption(str(place), _time(one, now, zone), f"{plain_actor(one.record.actor)}  {_words(one)}")
        for place, one in enumerate(versions)
    ]
    screen = Pick(f"History: {plain_title(newest.file, newest.title)[:300]}", options)
    return app.ask(screen, lambda place: _preview(app, versions, versions[int(place)], newest))


def _time(one: EntryVersion, now: datetime, zone: tzinfo) -> str:
    local = one.record.time.astimezone(zone)
    return f"{local.day:>2} {local:%b %H:%M}" if local.year == now.astimezone(zone).year else f"{local:%Y-%m-%d}"


def _words(one: EntryVersion) -> str:
    """Return what a change did to the entry."""
    record, view = one.record, one.view
    if one.first:
        return "before that"
    if view is None:
        words = record.summary or record.operation
    elif view.kind == "moved":
        words = f"moved to {view.section or view.file}"
    else:
        fields = ", ".join(key for key, _, _ in view.fields[:4]) if view.kind == "edited" else ""
        words = f"{view.kind} {fields}".strip()
    return f"{words} (undone)" if record.undone_by else words


def _preview(app: Spine, versions: Sequence[EntryVersion], version: EntryVersion, newest: ChangeView) -> None:
    """Show what bringing back a version changes."""
    text, present = version.source, newest.after
    lines: list[Line] = []
    words = ""
    if not version.known:
        words = "Its text is no longer kept."
    elif text is None:
        words = "The entry did not exist."
    elif present is not None and text.rstrip() == present.rstrip():
        lines = [line(part) for part in visible(text.rstrip(), newlines=True).split("\n")]
        words = "The entry has this text now."
    else:
        lines = diff_lines(line_changes(_bare(present), _bare(text)))
    screen = Preview(
        f"Bring back: {plain_title(newest.file, newest.title)[:300]}", lines, summary=words, applicable=not words
    )
    screen.describe("enter", "bring back")
    app.ask(
        screen,
        lambda _: app.change("restore", lambda snapshot: bring_back(snapshot, versions, version), follow=True),
        left=lambda: _list(app, versions),
    )


def _bare(text: str | None) -> str:
    return f"{text.rstrip()}\n" if text else ""
