"""The prefix `g`: twice it goes to the first row; followed by another character it is for the application."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual import events
from textual.binding import Binding
from textual.message import Message

from .footer import own_bindings

if TYPE_CHECKING:
    from textual.widget import Widget
else:
    Widget = object


@dataclass
class Prefixed(Message):
    """A character was typed after `g` that is not `g`, for example the f of `g f`."""

    sender: Widget
    character: str

    @property
    def control(self) -> Widget:
        """The widget that had the focus."""
        return self.sender


@dataclass
class GoWaits(Message):
    """`g` was typed and waits for the next key (`waits`), or does so no longer."""

    sender: Widget
    waits: bool

    @property
    def control(self) -> Widget:
        """The widget that has the focus."""
        return self.sender


class GoPrefix(Widget):
    """Mixin for focusable widgets with an `action_first`; add `go_binding(prefix)` to its BINDINGS."""

    _after_go = False

    if TYPE_CHECKING:

        def action_first(self) -> None: ...

    def action_go(self) -> None:
        """Begin a two-key sequence; the second `g` goes to the first row."""
        if self._after_go:
            self._go_on(waits=False)
            self.action_first()
        else:
            self._go_on(waits=True)

    def _go_on(self, *, waits: bool) -> None:
        if waits != self._after_go:
            self._after_go = waits
            self.post_message(GoWaits(self, waits))

    async def on_key(self, event: events.Key) -> None:
        """End a sequence that `g` began: what is typed after it never acts as a key of its own.

        It begins here as well, and not where the binding is looked up, which the next key of a burst would overtake.
        Where the screen has `acts_at_once`, since nothing else there listens to keys, this holds for all keys of the
        widget: the way up to the application, from one widget to the next, costs more than moving a cursor.
        """
        own = [binding for binding in own_bindings(self.screen, self, event.key) if not binding.priority]
        goes = any(binding.action == "go" for binding in own)
        if not goes and self._after_go:
            self._go_on(waits=False)
            if event.character and event.is_printable:
                event.stop()
                event.prevent_default()
                self.post_message(Prefixed(self, event.character))
                return
        if goes or getattr(self.screen, "acts_at_once", False):
            for binding in own:
                if await self.app.run_action(binding.action, self):
                    event.stop()
                    event.prevent_default()
                    return

    def on_blur(self) -> None:
        """A sequence does not outlive the focus."""
        self._go_on(waits=False)


def go_binding(prefix: str) -> Binding:
    """The binding of `g` with the id `<prefix>.go`."""
    tooltip = "Pressed twice: the first row; with a letter: a pane"
    return Binding("g", "go", "go to", show=False, id=f"{prefix}.go", tooltip=tooltip)
