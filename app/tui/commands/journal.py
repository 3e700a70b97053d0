"""Commands of the journal: year and day, mentions of an entry, quick capture; and moving lines of knowledge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import date
from typing import TYPE_CHECKING, Any

from memory.errors import MemdeckError
from memory.files.journal.edits import add_entry
from memory.files.journal.heat import entries_by_day
from memory.files.journal.model import Journal, JournalEntry
from memory.files.knowledge.moves import move_knowledge
from memory.files.links import journal_naming
from memory.files.snapshot import Snapshot
from memory.operations.result import short
from widgets.calendar.year import YearScreen
from widgets.dialogs.dialogs import Prompt
from widgets.dialogs.pick import Pick, PickOption
from widgets.pane.base import Pane

from .conditions import mentioned

if TYPE_CHECKING:
    from app.tui.app import MemdeckApp

EXAMPLE = "e.g. Call with Alice: she agreed to Friday"
"""An example of a captured line."""


def year(app: MemdeckApp) -> None:
    """Show the year of the journal as a map of its days; a chosen day leads to its newest entry."""
    pane, snapshot, today = _shown(app)
    around = getattr(pane.current(), "day", None) or today
    screen = YearScreen(min(around, today), today, entries_by_day([snapshot.journal]))

    def found(counts: Mapping[date, int]) -> None:
        if screen.is_attached:
            screen.take_counts(counts)

    app.overlays.ask(screen, lambda chosen: _go_to_day(app, snapshot, chosen))
    app.edits.ask(lambda: entries_by_day([snapshot.journal, *_archived(snapshot)]), found)


def _go_to_day(app: MemdeckApp, snapshot: Snapshot, day: date) -> None:
    def find() -> JournalEntry | None:
        entries = (entry for journal in (snapshot.journal, *_archived(snapshot)) for entry in journal.entries())
        return next((entry for entry in entries if entry.day == day), None)

    def found(entry: JournalEntry | None) -> None:
        return (
            app.say("Nothing was written on this day.") if entry is None else app.navigation.jump(entry.file, entry.ref)
        )

    return app.edits.ask(find, found)


def _shown(app: MemdeckApp) -> tuple[Pane, Snapshot, date]:
    """Return the open pane, its files, and the day of today."""
    pane = app.shown_pane
    assert pane.snapshot is not None
    return pane, pane.snapshot, app.clock().astimezone(app.zone).date()


def _archived(snapshot: Snapshot) -> Sequence[Journal]:
    """Return the journals of the archive; empty if they cannot be read, because the journal itself is already shown."""
    with suppress(MemdeckError, OSError):
        return snapshot.readable().archived_journals()
    return ()


def mentions(app: MemdeckApp) -> None:
    """List every journal entry that mentions the task, plan or monitor."""
    pane, snapshot, _ = _shown(app)
    item: Any = mentioned(pane)
    count = len(list(journal_naming(snapshot, item.title)))
    if not count:
        return app.say(f"No entry of the journal mentions “{item.title[:60]}”.")
    text = f"about:{short(item.ref)}"

    def show() -> None:
        journal = app.pane
        if journal is None or journal.pane_id != "journal":
            return None
        journal.filter_bar.open(text, focus=False)
        journal.set_filter(text)
        held = "1 entry mentions" if count == 1 else f"{count} entries mention"
        app.say(f"{held} “{item.title[:60]}”; Esc shows all entries.")
        return app.refresh_keys()

    app.navigation.open_pane("journal")
    return app.navigation.once_shown(show)


def capture(app: MemdeckApp, about: str = "") -> None:
    """Write one line into the journal, from any pane."""

    def hint(text: str) -> str:
        if about:
            return f"Task Note, about “{about[:60]}”"
        title, line = split_capture(text)
        if line:
            return f"title “{title}”, below it the line “{line}”"
        begins = "a colon and a blank begin a line below it"
        return f"all of it is the title; {begins}" if title else f"a title; {begins}"

    def answered(text: str) -> None:
        return _write(app, *(("Task Note", f'"{about}": {text.strip()}') if about else split_capture(text)))

    return app.overlays.ask(
        Prompt(
            "Journal, now" if not about else f"Journal, about {about[:200]}",
            placeholder="what happened" if about else EXAMPLE,
            validate=lambda text: None if text.strip() else "write what happened, or leave with Esc",
            hint=hint,
        ),
        answered,
    )


def move_line(app: MemdeckApp) -> None:
    """Move the line to another section or topic."""
    pane = app.shown_pane
    assert pane.snapshot is not None
    items = [item.thing for item in pane.selected() if not item.group]
    places: list[tuple[str, str | None]] = []
    for section in pane.snapshot.knowledge.sections:
        places.append((section.title, None))
        places += [(section.title, topic.title) for topic in section.topics]
    if not items or len(places) < 2:
        return app.say("No other section to move to.")
    here = {(item.section, item.topic) for item in items}
    options = [
        PickOption(str(number), f"  {topic}" if topic else title, marked=(title, topic) in here)
        for number, (title, topic) in enumerate(places)
    ]
    what = items[0].text[:200] if len(items) == 1 else f"{len(items)} lines"

    def answered(answer: tuple[str, str]) -> None:
        title, topic = places[int(answer[1])]
        if here == {(title, topic)}:
            return app.say(f"Already in {topic or title}.")
        refs, now = [item.ref for item in items], app.clock()

        return app.edits.change(
            "knowledge.move", lambda snapshot: move_knowledge(snapshot, refs, title, topic, now=now), follow=True
        )

    return app.overlays.ask(Pick(f"Move to: {what}", options), answered)


def _write(app: MemdeckApp, title: str, line: str) -> None:
    now, lines, pane = app.clock(), (line,) if line else (), app.pane
    return app.edits.change(
        "journal.add",
        lambda snapshot: add_entry(snapshot, title, lines, now=now),
        follow=pane is not None and pane.pane_id == "journal",
    )


def split_capture(text: str) -> tuple[str, str]:
    """Split a captured line into title and text, as in `Call with Alice: she agrees`; times and addresses are not
    split.
    """
    title, colon, line = text.strip().partition(": ")
    return (title.strip(), line.strip()) if colon and title.strip() and line.strip() else (text.strip(), "")
