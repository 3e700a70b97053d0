"""What threads tell the application: call this with what I found, in your own thread.

Handlers on the application own every change of state; a thread only finds out and reports.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from textual.message import Message


@dataclass(eq=False, repr=False)
class ThreadReport(Message):
    """A thread is done with something; `deliver` takes it in the application's thread."""

    deliver: Callable[[], object]


@dataclass(eq=False, repr=False)
class Progress(Message):
    """A job got further, or another one runs."""

    deliver: Callable[[], object]

    def can_replace(self, message: Message) -> bool:
        """Only the last of a burst matters."""
        return isinstance(message, Progress)
