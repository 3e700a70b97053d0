"""Linking: what the entry under a pane's cursor is linked to, found in a worker while the cursor rests."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from textual.timer import Timer

from widgets.detail import Link

from .rows import RowKey

if TYPE_CHECKING:
    from textual.message import Message

    from widgets.list.line_list import LineList

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
