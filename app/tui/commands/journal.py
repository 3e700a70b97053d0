"""Commands of the journal: the map of its year."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import date

from app.tui.spine import Spine
from memory.errors import MemdeckError
from memory.files.journal.model import Journal, JournalEntry, entries_by_day
from memory.files.snapshot import Snapshot
from widgets.calendar.year import YearScreen
from widgets.pane.base import Pane


def year(app: Spine) -> None:
    """Show the year of the journal as a map of its days; a chosen day leads to its newest entry."""
    pane, snapshot, today = _shown(app)
    around = getattr(pane.current(), "day", None) or today
    screen = YearScreen(min(around, today), today, entries_by_day([snapshot.journal]))

    def found(counts: Mapping[date, int]) -> None:
        if screen.is_attached:
            screen.take_counts(counts)

    app.ask(screen, lambda chosen: _go_to_day(app, snapshot, chosen))
    app.find(lambda: entries_by_day([snapshot.journal, *_archived(snapshot)]), found)


def _go_to_day(app: Spine, snapshot: Snapshot, day: date) -> None:
    def find() -> JournalEntry | None:
        entries = (entry for journal in (snapshot.journal, *_archived(snapshot)) for entry in journal.entries())
        return next((entry for entry in entries if entry.day == day), None)

    def found(entry: JournalEntry | None) -> None:
        if entry is None:
            app.say("No entries on this day.")
        else:
            app.navigation.jump(entry.file, entry.ref)

    return app.find(find, found)


def _shown(app: Spine) -> tuple[Pane, Snapshot, date]:
    """Return the open pane, its files, and the day of today."""
    pane = app.shown_pane
    assert pane.snapshot is not None
    return pane, pane.snapshot, app.clock().astimezone(app.zone).date()


def _archived(snapshot: Snapshot) -> Sequence[Journal]:
    """Return the journals of the archive; empty if they cannot be read, because the journal itself is already shown."""
    with suppress(MemdeckError, OSError):
        return snapshot.readable().archived_journals()
    return ()
