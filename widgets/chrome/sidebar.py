"""The sidebar: the panes by number, with their counts and alert marks."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual import events
from textual.message import Message

from widgets.list.line_list import LineList
from widgets.list.rows import Heading
from widgets.text.styled_text import Line, Piece, line, line_width, pad_line


@dataclass(frozen=True, slots=True)
class SidebarEntry:
    """One pane: its id, digit and name, its count, and whether something in it needs attention.

    Panes in a row with one digit are tabs: the digit pressed again opens the next one. A line above the first has the
    name of their `group`.
    """

    id: str
    key: str
    name: str
    count: int | None = None
    alert: bool = False
    group: str = ""


class Sidebar(LineList):
    """The list of panes; moving in it opens the pane under the cursor."""

    selects = False

    DEFAULT_CSS: ClassVar[str] = """
    Sidebar { width: 20; scrollbar-size-vertical: 0; }
    """

    @dataclass
    class Chosen(Message):
        """A pane was chosen in the sidebar."""

        sidebar: Sidebar
        pane_id: str

    def __init__(self, entries: Sequence[SidebarEntry] = ()) -> None:
        self._entries: dict[Hashable, SidebarEntry] = {}
        self._current = ""
        self._first: set[str] = set()
        super().__init__()
        self.set_entries(entries)

    def set_entries(self, entries: Sequence[SidebarEntry]) -> None:
        """Replace the panes; the current one stays."""
        before = self._entries
        if [*entries] == [*before.values()]:
            return
        self._entries = {entry.id: entry for entry in entries}
        if self._current not in self._entries:
            self._current = entries[0].id if entries else ""
        rows: list[Hashable] = []
        self._first = {
            entry.id for place, entry in enumerate(entries) if not place or entries[place - 1].key != entry.key
        }
        for entry in entries:
            if entry.group and entry.id in self._first:
                # Headings begin a cell further left than rows.
                rows.append(Heading(f" {entry.key} {entry.group}"))
            rows.append(entry.id)
        self.set_rows(tuple(rows))
        self.refresh()

    def __contains__(self, pane_id: object) -> bool:
        """Whether a pane is listed."""
        return pane_id in self._entries

    @property
    def current(self) -> str:
        """The id of the open pane."""
        return self._current

    def show(self, pane_id: str) -> None:
        """Mark a pane that was opened by other means; sends no message."""
        if pane_id in self._entries:
            self._current = pane_id
            self.cursor = pane_id

    def label_of(self, key: Hashable) -> str:
        """The key that opens a pane, which is its label in jump mode as well."""
        return self._entries[key].key

    def choose(self, key: Hashable) -> None:
        """Choose a pane as a click does."""
        self.post_message(self.Chosen(self, str(key)))

    def render_row(self, key: Hashable, width: int) -> Line:
        """Key, name, alert mark and count; the mark is not beside the count, which would then seem to count alerts."""
        entry = self._entries[key]
        opens = entry.id in self._first and not entry.group
        alert = Piece(f" {self.glyphs.alert}" if entry.alert else "", "alert")
        left = line(Piece(f"{entry.key:<2}", "muted"), Piece(f"{'' if opens else ' '}{entry.name}"), alert)
        right = line(Piece("" if entry.count is None else f" {entry.count:,} ", "muted"))
        return line(pad_line(left, max(0, width - line_width(right))), right)

    def on_line_list_highlighted(self, event: LineList.Highlighted) -> None:
        """Open the pane under the cursor."""
        event.stop()
        # A message that is older than `show` is outdated.
        if event.key == self.cursor:
            self._open_pane(event.key)

    def on_line_list_opened(self, event: LineList.Opened) -> None:
        """Report the pane again on Enter, so that the application can move the focus into it."""
        event.stop()
        self.post_message(self.Chosen(self, str(event.key)))

    def on_line_list_selection_changed(self, event: LineList.SelectionChanged) -> None:
        """Ignore selections: there are none here."""
        event.stop()

    def _open_pane(self, key: Hashable | None) -> None:
        if key is not None and key != self._current:
            self._current = str(key)
            self.post_message(self.Chosen(self, self._current))

    def on_click(self, event: events.Click) -> None:
        """Report a click on the current pane as well."""
        if event.chain == 1 and self.cursor == self._current and self.position == event.y + round(self.scroll_y):
            self.post_message(self.Chosen(self, self._current))
