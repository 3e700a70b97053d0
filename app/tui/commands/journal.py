"""Year and day of the journal, what mentions an entry, a line jotted down, lines of knowledge moved."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import date
from typing import TYPE_CHECKING, Any, TypeVar

from memory.errors import MemdeckError

from .conditions import mentioned
from .steps import ApplyEdit, Find, GoToEntry, OnceShown, Open, OpenDialog, RedrawKeys, Say, Step, Steps

if TYPE_CHECKING:
    from textual.screen import Screen

    from memory.files.edit import Edit
    from memory.files.journal.model import Journal
    from memory.files.snapshot import Snapshot

    from .context import Context

T = TypeVar("T")

EXAMPLE = "e.g. Call with Alice: she agreed to Friday"
"""A line as it may be jotted down."""

MOST_CHANGES = 1000
"""So many of the newest changes of the journal are asked for who made them."""


def year(context: Context, around: date | None = None) -> Step:
    """A heat map of the year; Enter shows a day."""
    from memory.files.journal.heat import entries_by_day
    from widgets.calendar.year import YearScreen

    pane = context.pane
    if pane is None or pane.snapshot is None:
        return None
    snapshot = pane.snapshot
    today = context.clock().astimezone(context.zone).date()
    item = pane.current()
    around = around or getattr(item, "day", None) or today
    screen = YearScreen(min(around, today), today, entries_by_day([snapshot.journal]))

    return Steps(
        (
            OpenDialog(screen, lambda chosen: None if chosen is None else day(context, chosen)),
            _complete(screen, lambda: entries_by_day([snapshot.journal, *_archived(snapshot)]), screen.take_counts),
        )
    )


def day(context: Context, chosen: date | None = None) -> Step:
    """A day on an axis of hours, else that of the entry under the cursor; Enter goes to one of its entries."""
    from widgets.calendar.day import DayScreen

    pane = context.pane
    if pane is None or pane.snapshot is None:
        return None
    snapshot = pane.snapshot
    today = context.clock().astimezone(context.zone).date()
    item = pane.current()
    own = getattr(item, "day", None)
    wanted = chosen or own or today
    screen = DayScreen(wanted, today, [snapshot.journal], item if own == wanted else None)

    return Steps(
        (
            OpenDialog(screen, lambda choice: _went(context, choice)),
            _complete(
                screen,
                lambda: ((snapshot.journal, *_archived(snapshot)), _authors(context)),
                lambda more: screen.take_more(*more),
            ),
        )
    )


def _complete(screen: Screen[Any], find: Callable[[], T], take: Callable[[T], None]) -> Step:
    """Give a dialog what takes long to find, if it is still there when a worker has found it."""

    def found(more: T) -> Step:
        if screen.is_attached:
            take(more)
        return None

    return Find(find, found)


def _archived(snapshot: Snapshot) -> Sequence[Journal]:
    """The journals of the archive; none where they cannot be read: the journal is on the screen already."""
    with suppress(MemdeckError, OSError):
        return snapshot.readable().archived_journals()
    return ()


def _authors(context: Context) -> Mapping[str, str]:
    """Who wrote the newest entries of the journal, by ref, as far as the change log knows; for a worker."""
    from memory.history.changes import list_changes
    from memory.history.news import added_by

    workspace = context.workspace
    if workspace is not None and workspace.state is not None:
        with suppress(MemdeckError, OSError):
            return added_by(list_changes(workspace, limit=MOST_CHANGES, file="journal.md"), "journal.md")
    return {}


def _went(context: Context, choice: tuple[str, str] | date | None) -> Step:
    """Go to an entry, in the journal or in the archive, or back to the year."""
    if isinstance(choice, tuple):
        return GoToEntry(*choice)
    return None if choice is None else year(context, choice)


def mentions(context: Context) -> Step:
    """Show every entry of the journal that mentions the task, plan or monitor under the cursor."""
    from memory.files.journal import mentions as mentioning

    pane = context.pane
    item = None if pane is None else mentioned(pane)
    if pane is None or item is None or pane.snapshot is None:
        return None
    count = len(mentioning.mentions(pane.snapshot, item.title))
    if not count:
        return Say(f"No entry of the journal mentions “{item.title[:60]}”.")
    text = f"about:{mentioning.digits_of(item.ref)}"

    def show() -> Step:
        journal = context.pane
        if journal is None or journal.pane_id != "journal":
            return None
        journal.filter_bar.open(text, focus=False)
        journal.set_filter(text)
        held = "1 entry mentions" if count == 1 else f"{count} entries mention"
        return Steps((Say(f"{held} “{item.title[:60]}”; Esc shows all entries."), RedrawKeys()))

    return Steps((Open("journal"), OnceShown(show)))


def capture(context: Context, about: str = "") -> Step:
    """One line for the journal: a title, and after a colon what there is to say; or a word about a task."""
    from widgets.dialogs.dialogs import Prompt

    def hint(text: str) -> str:
        if about:
            return f"Task Note, about “{about[:60]}”"
        title, line = split_capture(text)
        if line:
            return f"title “{title}”, below it the line “{line}”"
        begins = "a colon and a blank begin a line below it"
        return f"all of it is the title; {begins}" if title else f"a title; {begins}"

    def answered(text: str | None) -> Step:
        if text is None or not text.strip():
            return None
        return _write(context, *(("Task Note", f'"{about}": {text.strip()}') if about else split_capture(text)))

    return OpenDialog(
        Prompt(
            "Journal, now" if not about else f"Journal, about {about[:200]}",
            placeholder="what happened" if about else EXAMPLE,
            validate=lambda text: None if text.strip() else "write what happened, or leave with Esc",
            hint=hint,
        ),
        answered,
    )


def move_line(context: Context) -> Step:
    """Move the selected lines of knowledge to another section or topic."""
    from widgets.dialogs.pick import Pick, PickOption
    from widgets.list.outline import Branch

    pane = context.pane
    assert pane is not None
    assert pane.snapshot is not None
    items = [item for item in pane.selected() if not isinstance(item, Branch)]
    places: list[tuple[str, str | None]] = []
    for section in pane.snapshot.knowledge.sections:
        places.append((section.title, None))
        places += [(section.title, topic.title) for topic in section.topics]
    if not items or len(places) < 2:
        return Say("There is no other section to move to.")
    here = {(item.section, item.topic) for item in items}
    options = [
        PickOption(str(number), f"  {topic}" if topic else title, marked=(title, topic) in here)
        for number, (title, topic) in enumerate(places)
    ]
    what = items[0].text[:200] if len(items) == 1 else f"{len(items)} lines"

    def answered(answer: tuple[str, str] | None) -> Step:
        if answer is None:
            return None
        from memory.files.knowledge.moves import move_knowledge

        title, topic = places[int(answer[1])]
        if here == {(title, topic)}:
            return Say(f"It stands in {topic or title} already, so nothing moved.")
        refs, now = [item.ref for item in items], context.clock()
        pane.line_list.select(())

        return ApplyEdit(
            "knowledge.move",
            lambda snapshot: move_knowledge(snapshot, refs, title, topic, now=now),
            follow=True,
        )

    return OpenDialog(Pick(f"Move to: {what}", options), answered)


def _write(context: Context, title: str, line: str) -> Step:
    from memory.files.journal.edits import add_entry

    now = context.clock()

    def build(snapshot: Snapshot) -> Edit:
        return add_entry(snapshot, title, (line,) if line else (), now=now)

    pane = context.pane
    return ApplyEdit("journal.add", build, follow=pane is not None and pane.pane_id == "journal")


def split_capture(text: str) -> tuple[str, str]:
    """A captured line as title and what there is to say: `Call with Alice: she agrees`; times and addresses stay."""
    title, colon, line = text.strip().partition(": ")
    return (title.strip(), line.strip()) if colon and title.strip() and line.strip() else (text.strip(), "")
