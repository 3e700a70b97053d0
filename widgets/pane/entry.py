"""The entry of a pane: what is under its cursor, shown in full beside the list or in its place, with its links.

Links are found in a worker while the cursor rests.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from textual.timer import Timer

from widgets.chrome.frame import Frame
from widgets.detail import Caption, Detail, Labelled, Link, Spacer, Title

from .overrides import PaneSays
from .rows import RowKey

if TYPE_CHECKING:
    from textual.message import Message
    from textual.widget import Widget

    from widgets.list.line_list import LineList

    from .contents import Contents

REST_SECONDS = 0.15
"""How long the cursor rests before the links of its entry are looked for."""

STALE_SECONDS = 1.0
"""How long the files rest before they are looked for again: another program may be writing one line after the other."""


EARLY = 0.01
"""Seconds by which a timer may be too early."""


class LinkedPane(Protocol):
    """What finding links asks of a pane; `PaneEntry` is one."""

    Linked: Callable[..., Message]

    @property
    def line_list(self) -> LineList:
        """The list."""

    def links(self, item: Any) -> Sequence[Link]:
        """Return what an item is linked to; in a worker."""

    def set_timer(self, delay: float, callback: Callable[[], None], /) -> Timer:
        """Call a function after some seconds."""

    def run_worker(
        self, work: Callable[[], None], /, *, group: str, thread: bool, exclusive: bool, exit_on_error: bool
    ) -> object:
        """Do something in a thread."""

    def post_message(self, message: Message) -> bool:
        """Tell what was found; from any thread."""


class Linking:
    """The links of one entry of a pane at a time, and whether they are to be found anew."""

    def __init__(self, pane: LinkedPane) -> None:
        """Nothing is known yet."""
        self._pane = pane
        self._row: RowKey | None = None
        self._links: Sequence[Link] = ()
        self._stale = False
        self._resting: Timer | None = None
        self._rested = self._look_at = 0.0
        """When the cursor has rested long enough, and when the timer looks whether it has; monotonic seconds."""
        self._asked: tuple[RowKey, Any] | None = None

    def of(self, row: object) -> Sequence[Link] | None:
        """The links of a row; None while they are not known."""
        return self._links if row is not None and row is self._row else None

    def age(self) -> None:
        """The files changed: what is known is shown until it was looked for again."""
        self._stale = True

    def set(self, row: RowKey, links: Sequence[Link]) -> bool:
        """Take the links of a row as they are known now; False if just these are shown, or none were and are."""
        before, self._row, self._links = self.of(row) or (), row, links
        return tuple(before) != tuple(links)

    def known(self, row: RowKey, links: Sequence[Link]) -> None:
        """Take links that stand in the entry itself: nobody has to look for them."""
        self.set(row, links)
        self._stale = False

    def rest(self) -> None:
        """The cursor came to another row: look for links once it stays there."""
        new = self._row is not self._pane.line_list.cursor
        if not self._stale and not new:
            if self._resting is not None:
                self._resting.stop()
                self._resting = None
            return
        self._rested = time.monotonic() + (REST_SECONDS if new else STALE_SECONDS)
        # One timer for all steps of a cursor that goes on; it looks anew how long there is to wait.
        if self._resting is None or self._rested < self._look_at:
            self._wait()

    def _wait(self) -> None:
        if self._resting is not None:
            self._resting.stop()
        self._look_at = self._rested
        self._resting = self._pane.set_timer(max(0.0, self._rested - time.monotonic()), self._rest_over)

    def _rest_over(self) -> None:
        self._resting = None
        if time.monotonic() + EARLY < self._rested:
            self._wait()
        else:
            self.find()

    def find(self) -> None:
        """Look for them now, in a worker; `Pane.Linked` tells."""
        row = self._pane.line_list.cursor
        if isinstance(row, RowKey):
            self._stale = False
            # Not kept by the worker, which stays until garbage is looked for, and the item's document with it.
            self._asked = (row, row.item)
            self._pane.run_worker(self._work, group="links", thread=True, exclusive=True, exit_on_error=False)

    def _work(self) -> None:
        asked, self._asked = self._asked, None
        if asked is None:
            return
        row, item = asked
        links: Sequence[Link] = ()
        try:
            links = tuple(self._pane.links(item))
        finally:
            self._pane.post_message(self._pane.Linked(self._pane, row, links))


class PaneWithEntry(PaneSays):
    """The part of `Pane` that shows the entry under the cursor, and knows whether list or detail has the keys."""

    has_entry: ClassVar[bool] = True
    """Whether the entry under the cursor is shown here; else Enter goes to where it is."""

    if TYPE_CHECKING:
        contents: Contents | None

        @property
        def line_list(self) -> LineList: ...

        Current: Callable[..., Message]
        Linked: Callable[..., Message]
        Jump: Callable[..., Message]

    def __init__(self, *, id: str) -> None:  # noqa: A002
        """Nothing is shown before the first titles are."""
        super().__init__(id=id)
        self.linking = Linking(self)
        self._detail = Detail()
        self._shows_detail = False
        self._followed: object = self
        self._owes_detail = False
        """Whether the cursor stands on another entry than the detail shows."""

    @property
    def detail_view(self) -> Detail:
        """The detail."""
        return self._detail

    @property
    def followed(self) -> object:
        """The row whose entry is shown."""
        return self._followed

    def current(self) -> Any | None:
        """The item under the cursor."""
        cursor = self.line_list.cursor
        return cursor.item if isinstance(cursor, RowKey) else None

    @property
    def linked(self) -> Sequence[Link] | None:
        """The links of the entry under the cursor; None while they are not known."""
        return self.linking.of(self.line_list.cursor)

    @property
    def is_open(self) -> bool:
        """Whether the detail covers the list in a terminal too narrow for both."""
        return self.has_class("-open") and any(map(self.has_class, ("-single", "-full", "-zoom")))

    def enter_detail(self, step: int) -> None:
        """Give the detail the focus with its first link marked, or (-1) its last one."""
        self._settle_detail()
        self.detail_view.enter(step)
        self.open_detail()

    def open_detail(self) -> None:
        """Give the detail the focus, in its place or instead of the list."""
        self._settle_detail()
        self.add_class("-open")
        self.detail_view.focus()
        if self.is_open:
            self.call_after_refresh(self._show_detail)

    def close_detail(self) -> bool:
        """Go back to the list; False if the focus was there already."""
        was_open = self.is_open or self.detail_view.has_focus
        self.remove_class("-open")
        self.focus_list()
        return was_open

    def focus_list(self) -> None:
        """Give the list (or what stands in its place) the focus."""
        self.focus_target.focus()

    @property
    def focus_target(self) -> Widget:
        """What takes the focus of the pane: the list, or what stands in its place."""
        return self.detail_view if self.is_open else self.line_list

    def follow_cursor(self) -> None:
        """Show the entry that the cursor stands on, unless that is done.

        The list is drawn first: a key is answered as soon as its row stands there, and where the next one is pressed
        already nobody has seen that the entry is missing.
        """
        row = self.line_list.cursor
        if self.contents is not None and row is not self._followed:
            self._followed = row
            if not self._owes_detail:
                self._owes_detail = True
                self.screen._invoke_later(self._settle_detail, self)

    def _settle_detail(self) -> None:
        """Show the entry now, if that was put off."""
        if self._owes_detail and self.is_attached:
            self._show_detail()
            self.tell_current()

    def tell_current(self) -> None:
        """Tell the application, and nobody on the way to it, that other keys may mean something."""
        self.app.post_message(self.Current(self))

    def follow(self, target: Hashable) -> None:
        """Ask the application to go to the target of a link."""
        match target:
            case (str(file), str(ref)):
                self.post_message(self.Jump(file, ref))
            case _:
                return

    # How it works

    def _show_first_detail(self) -> None:
        self._shows_detail = True
        self._show_detail()

    def _show_detail(self) -> None:
        """The item under the cursor, in full; links follow when the cursor rests."""
        self._owes_detail = False
        if not self._shows_detail:
            return
        item = self.current()
        frame = self.query_one(".pane--detail-frame", Frame)
        if item is None:
            frame.say("")
            self.detail_view.show(self.overview() if self.contents else ())
            return
        title = self.detail_title(item)
        where = self.place(item)
        frame.say(title, "" if where == title else where)
        lines = [*self.detail(item)]
        # The frame says the title; where it has to cut it, the text says it as well.
        fits = frame.has_room_for(title)
        if lines and isinstance(lines[0], Title) and lines[0].text == title and fits:
            del lines[: 2 if len(lines) > 1 and isinstance(lines[1], Spacer) else 1]
        elif title and not fits and not (lines and isinstance(lines[0], Title)):
            lines = [Title(title), Spacer(), *lines]
        links = list(self.linked or ())
        for place, part in enumerate(lines):
            # What a field names is followed from there, and not said a second time.
            same = next((link for link in links if isinstance(part, Labelled) and link.label == part.label), None)
            if same is not None and isinstance(part, Labelled) and isinstance(part.value, str):
                words = same.text if part.value.casefold() == same.text.casefold() else f"{part.value}  {same.text}"
                lines[place] = same._replace(text=words)
                links.remove(same)
        if links:
            lines += [Spacer(), Caption("LINKED"), *links]
        self.detail_view.show(lines, entry=self.line_list.cursor)
        self.linking.rest()

    def take_links(self, row: RowKey, links: Sequence[Link]) -> None:
        """Show the links of an entry, if the cursor is still there."""
        new = self.linking.set(row, links)
        if new and row is self.line_list.cursor and self.is_attached:
            self._show_detail()

    # What happens in it

    def on_line_list_highlighted(self, event: LineList.Highlighted) -> None:
        """Show what the cursor stands on."""
        event.stop()
        self.follow_cursor()

    def on_line_list_opened(self, event: LineList.Opened) -> None:
        """Enter: the detail."""
        event.stop()
        self.open_detail()

    def on_detail_left(self, event: Detail.Left) -> None:
        """Back to the list."""
        event.stop()
        self.close_detail()

    def on_detail_followed(self, event: Detail.Followed) -> None:
        """A link: the application goes there."""
        event.stop()
        self.follow(event.target)
