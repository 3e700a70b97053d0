"""Versions: the history of the entry under the cursor, and bringing an earlier version back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from app.tui.part import Part
from memory.errors import MemdeckError

from .conditions import Versioned, versioned

if TYPE_CHECKING:
    from memory.history.versions import EntryVersion
    from widgets.dialogs.entry_history import VersionRow


class Versions(Part):
    """Reads the log in a worker, shows it, writes what is chosen as a change of its own."""

    def show(self) -> None:
        """The versions of the entry under the cursor."""
        pane, workspace, now = self.app.navigation.pane, self.app.workspace, self.app.clock()
        wanted = None if pane is None else versioned(pane)
        if wanted is None or workspace is None:
            return

        def work() -> tuple[EntryVersion, ...]:
            from memory.history.versions import line_changes_of, versions_of

            workspace.notice(now)
            if wanted.ref is None:
                return line_changes_of(workspace, wanted.file, wanted.words)
            return versions_of(workspace, wanted.ref)

        self.app.changing.ask(work, lambda found: self._shown(wanted, found), lambda _: False)

    def _shown(self, wanted: Versioned, versions: Sequence[EntryVersion]) -> None:
        from widgets.dialogs.entry_history import EntryHistory

        if not any(one.known for one in versions):
            self.app.say("No change of this entry is recorded yet.")
            return

        def chosen(place: int | None) -> None:
            if place is not None:
                self._bring_back(versions, versions[place])

        zone = self.app.zone
        rows = _rows(versions) if wanted.ref is not None else [_line_row(one) for one in versions]
        screen = EntryHistory(wanted.title[:300], rows, self.app.clock(), zone)
        self.app.overlays.offer("The history", screen, chosen)

    def _bring_back(self, versions: Sequence[EntryVersion], version: EntryVersion) -> None:
        from memory.history.versions import bring_back

        def otherwise(error: MemdeckError) -> bool:
            self.app.say_error(error)
            return True

        self.app.changing.change(
            "restore",
            lambda snapshot: bring_back(snapshot, versions, version),
            then=self.app.entries.go_to,
            otherwise=otherwise,
        )


def _rows(versions: Sequence[EntryVersion]) -> list[VersionRow]:
    """The versions as the screen lists them; `changes` compares each with what the entry says now."""
    from memory.files.diff import line_changes
    from widgets.dialogs.entry_history import VersionRow

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
    """A change of a line as the screen lists it."""
    from widgets.dialogs.entry_history import VersionRow

    record, lines = one.record, one.view.lines if one.view is not None else ()
    undone = record.undone_by is not None
    return VersionRow(record.time, record.actor, record.summary or record.operation, undone, lines=lines, did=True)


def _bare(text: str | None) -> str:
    return (text or "").rstrip() + "\n" if text else ""
