"""A pane that finds out in a worker what the detail of an entry shows."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any

from textual.message import Message

from widgets.pane.base import Pane

KEPT = 64
"""About how many entries it is remembered what was found."""


class TellingPane(Pane):
    """A pane whose detail asks with `told_later` for what takes long to find; it is shown again once that is known."""

    @dataclass
    class Told(Message):
        """What the detail of an entry asked for was found."""

        key: Hashable
        found: Any

    def __init__(self) -> None:
        super().__init__()
        self._told: dict[Hashable, Any] = {}

    def told_key(self, item: Any) -> Hashable:
        """What identifies an entry in the state that the answer is about."""
        return self.ref(item)

    def told_later(self, item: Any, find: Callable[[], Any]) -> Any | None:
        """What `find` returned for an entry; None where it has to be asked first, which a worker does now."""
        key = self.told_key(item)
        if key not in self._told:
            self.run_worker(
                lambda: self.post_message(self.Told(key, find())),
                group="told",
                thread=True,
                exclusive=True,
                exit_on_error=False,
            )
        return self._told.get(key)

    def on_telling_pane_told(self, message: Told) -> None:
        """Show what was found, if the cursor is still there."""
        message.stop()
        while len(self._told) >= KEPT:
            del self._told[next(iter(self._told))]
        self._told[message.key] = message.found
        item = self.current()
        if self.is_attached and item is not None and self.told_key(item) == message.key:
            self._show_detail()
