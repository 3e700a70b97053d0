"""Commands of the journal: year and day, mentions of an entry, quick capture; and moving lines of knowledge."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import date
from typing import TYPE_CHECKING, Any, TypeVar

from memory.errors import MemdeckError
from memory.files.journal import mentions as mentioning
from memory.files.journal.edits import add_entry
from memory.files.journal.heat import entries_by_day
from memory.files.journal.model import Journal
from memory.files.knowledge.moves import move_knowledge
from memory.files.snapshot import Snapshot
from memory.history.changes import added_by
from widgets.calendar.day import DayScreen
from widgets.calendar.year import YearScreen
from widgets.dialogs.dialogs import Prompt
from widgets.dialogs.pick import Pick, PickOption
from widgets.list.outline import Branch
from widgets.pane.base import Pane

from .conditions import mentioned
from .context import Context, Step, open_pane, steps

if TYPE_CHECKING:
    from textual.screen import Screen


T = TypeVar("T")

EXAMPLE = "e.g. Call with Alice: she agreed to Friday"
"""An example of a captured line."""

MOST_CHANGES = 1000
"""How many of the newest journal changes are searched for authors."""


def year(context: Context, around: date | None = None) -> Step:
    """Show a heat map of the year; Enter shows a day."""
    pane, snapshot, today = _shown(context)
    item = pane.current()
    around = around or getattr(item, "day", None) or today
    screen = YearScreen(min(around, today), today, entries_by_day([snapshot.journal]))

    return steps(
        (
            context.ask(screen, lambda chosen: day(context, chosen)),
            _complete(
                context, screen, lambda: entries_by_day([snapshot.journal, *_archived(snapshot)]), screen.take_counts
            ),
        )
    )


def day(context: Context, chosen: date | None = None) -> Step:
    """Show a day by hours, by default that of the entry under the cursor; Enter goes to one of its entries."""
    pane, snapshot, today = _shown(context)
    item = pane.current()
    own = getattr(item, "day", None)
    wanted = chosen or own or today
    screen = DayScreen(wanted, today, [snapshot.journal], item if own == wanted else None)

    return steps(
        (
            context.ask(screen, lambda choice: _went(context, choice)),
            _complete(
                context,
                screen,
                lambda: ((snapshot.journal, *_archived(snapshot)), _authors(context)),
                lambda more: screen.take_more(*more),
            ),
        )
    )


def _shown(context: Context) -> tuple[Pane, Snapshot, date]:
    """Return the open pane, its files, and the day of today."""
    pane = open_pane(context)
    assert pane.snapshot is not None
    return pane, pane.snapshot, context.clock().astimezone(context.zone).date()


def _complete(context: Context, screen: Screen[Any], find: Callable[[], T], take: Callable[[T], None]) -> Step:
    """Find something in a worker and give it to a dialog, if the dialog is still open then."""

    def found(more: T) -> Step:
        if screen.is_attached:
            take(more)
        return None

    return context.find(find, found)


def _archived(snapshot: Snapshot) -> Sequence[Journal]:
    """Return the journals of the archive; empty if they cannot be read, because the journal itself is already shown."""
    with suppress(MemdeckError, OSError):
        return snapshot.readable().archived_journals()
    return ()


def _authors(context: Context) -> Mapping[str, str]:
    """Return who wrote the newest journal entries, by ref, as far as the change log knows; for a worker."""
    workspace = context.workspace
    if workspace is not None and workspace.state is not None:
        with suppress(MemdeckError, OSError):
            return added_by(workspace.store.history.list(limit=MOST_CHANGES, file="journal.md"), "journal.md")
    return {}


def _went(context: Context, choice: tuple[str, str] | date) -> Step:
    """Go to an entry, in the journal or in the archive, or back to the year."""
    return context.go_to(*choice) if isinstance(choice, tuple) else year(context, choice)


def mentions(context: Context) -> Step:
    """List every journal entry that mentions the task, plan or monitor."""
    pane, snapshot, _ = _shown(context)
    item: Any = mentioned(pane)
    count = len(mentioning.mentions(snapshot, item.title))
    if not count:
        return context.say(f"No entry of the journal mentions “{item.title[:60]}”.")
    text = f"about:{mentioning.digits_of(item.ref)}"

    def show() -> Step:
        journal = context.pane
        if journal is None or journal.pane_id != "journal":
            return None
        journal.filter_bar.open(text, focus=False)
        journal.set_filter(text)
        held = "1 entry mentions" if count == 1 else f"{count} entries mention"
        return steps((context.say(f"{held} “{item.title[:60]}”; Esc shows all entries."), context.redraw_keys()))

    return steps((context.show_pane("journal"), context.once_shown(show)))


def capture(context: Context, about: str = "") -> Step:
    """Write one line into the journal, from any pane."""

    def hint(text: str) -> str:
        if about:
            return f"Task Note, about “{about[:60]}”"
        title, line = split_capture(text)
        if line:
            return f"title “{title}”, below it the line “{line}”"
        begins = "a colon and a blank begin a line below it"
        return f"all of it is the title; {begins}" if title else f"a title; {begins}"

    def answered(text: str) -> Step:
        return _write(context, *(("Task Note", f'"{about}": {text.strip()}') if about else split_capture(text)))

    return context.ask(
        Prompt(
            "Journal, now" if not about else f"Journal, about {about[:200]}",
            placeholder="what happened" if about else EXAMPLE,
            validate=lambda text: None if text.strip() else "write what happened, or leave with Esc",
            hint=hint,
        ),
        answered,
    )


def move_line(context: Context) -> Step:
    """Move the line to another section or topic."""
    pane = open_pane(context)
    assert pane.snapshot is not None
    items = [item for item in pane.selected() if not isinstance(item, Branch)]
    places: list[tuple[str, str | None]] = []
    for section in pane.snapshot.knowledge.sections:
        places.append((section.title, None))
        places += [(section.title, topic.title) for topic in section.topics]
    if not items or len(places) < 2:
        return context.say("There is no other section to move to.")
    here = {(item.section, item.topic) for item in items}
    options = [
        PickOption(str(number), f"  {topic}" if topic else title, marked=(title, topic) in here)
        for number, (title, topic) in enumerate(places)
    ]
    what = items[0].text[:200] if len(items) == 1 else f"{len(items)} lines"

    def answered(answer: tuple[str, str]) -> Step:
        title, topic = places[int(answer[1])]
        if here == {(title, topic)}:
            return context.say(f"It stands in {topic or title} already, so nothing moved.")
        refs, now = [item.ref for item in items], context.clock()
        pane.line_list.select(())

        return context.change(
            "knowledge.move", lambda snapshot: move_knowledge(snapshot, refs, title, topic, now=now), follow=True
        )

    return context.ask(Pick(f"Move to: {what}", options), answered)


def _write(context: Context, title: str, line: str) -> Step:
    now, lines, pane = context.clock(), (line,) if line else (), context.pane
    return context.change(
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
