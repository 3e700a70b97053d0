"""The history of the entry under the cursor, and restoring an earlier version."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from memory.files.diff import line_changes
from memory.history.versions import EntryVersion, bring_back, line_changes_of, versions_of
from widgets.dialogs.entry_history import EntryHistory, VersionRow

from .conditions import Versioned, versioned

if TYPE_CHECKING:
    from app.tui.spine import Spine


def show(app: Spine) -> None:
    """Show the versions of the entry, who made them, and bring one back."""
    workspace, now = app.shown_workspace, app.clock()
    wanted = versioned(app.shown_pane)
    if wanted is None:
        return None

    def work() -> tuple[EntryVersion, ...]:
        workspace.notice(now)
        if wanted.ref is None:
            return line_changes_of(workspace, wanted.file, wanted.words)
        return versions_of(workspace, wanted.ref)

    return app.find(work, lambda found: _shown(app, wanted, found), opens="The history")


def _shown(app: Spine, wanted: Versioned, versions: Sequence[EntryVersion]) -> None:
    if not any(one.known for one in versions):
        return app.say("No change of this entry is recorded yet.")

    zone = app.zone
    rows = _rows(versions) if wanted.ref is not None else [_line_row(one) for one in versions]
    screen = EntryHistory(wanted.title[:300], rows, app.clock(), zone)
    return app.ask(screen, lambda place: _bring_back(app, versions, versions[place]))


def _bring_back(app: Spine, versions: Sequence[EntryVersion], version: EntryVersion) -> None:
    return app.change("restore", lambda snapshot: bring_back(snapshot, versions, version), follow=True)


def _rows(versions: Sequence[EntryVersion]) -> list[VersionRow]:
    """Return the versions as rows; `changes` compares each with the current entry."""
    newest = next(one for one in versions if one.known)
    present = newest.source
    rows = []
    for one in versions:
        view = one.view
        fields = ", ".join(key for key, _, _ in view.fields[:4]) if view is not None and view.kind == "edited" else ""
        if one.first:
            words = "before that"
        elif view is None:
            words = one.record.summary or one.record.operation
        elif view.kind == "moved":
            words = f"moved to {view.section or view.file}"
        else:
            words = f"{view.kind} {fields}".strip()
        text = one.source
        rows.append(
            VersionRow(
                one.record.time,
                one.record.actor,
                words,
                undone=one.record.undone_by is not None and not one.first,
                known=one.known,
                there=text is not None,
                present=text is not None and present is not None and text.rstrip() == present.rstrip(),
                lines=() if not one.known else line_changes(_bare(present), _bare(text)),
                text=text or "",
            )
        )
    return rows


def _line_row(one: EntryVersion) -> VersionRow:
    """Return a change of a line as a row."""
    record, lines = one.record, one.view.lines if one.view is not None else ()
    undone = record.undone_by is not None
    return VersionRow(record.time, record.actor, record.summary or record.operation, undone, lines=lines, did=True)


def _bare(text: str | None) -> str:
    return (text or "").rstrip() + "\n" if text else ""
