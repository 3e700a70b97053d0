"""Timers of one call that come late rather than never."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from textual.message_pump import MessagePump
    from textual.timer import Timer, TimerCallback
else:
    # Textual takes the styles of the first base that is a widget.
    MessagePump = object


class LateTimers(MessagePump):
    """Mixin for whatever sets a timer of one call; put it before the Textual base class.

    Textual leaves out the calls of a timer for which it is too late already when the timer begins. Of a timer of one
    call that is the only one: where another thread had the processor for those milliseconds, it would never come, and
    what waits for it (keys, another size of the terminal, the links of an entry) would wait for ever.
    """

    def set_timer(
        self, delay: float, callback: TimerCallback | None = None, *, name: str | None = None, pause: bool = False
    ) -> Timer:
        """Call something after some seconds."""
        timer = super().set_timer(delay, callback, name=name, pause=pause)
        # It looks at this when its task begins, which is after this turn of the loop.
        timer._skip = False
        return timer
