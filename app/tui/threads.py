"""Work in threads beside the event loop, and what threads tell the application: call this with what I found.

Handlers on the application own every change of state; a thread only finds out and reports.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from textual.message import Message

from memory.errors import MemdeckError

if TYPE_CHECKING:
    from textual.app import App

T = TypeVar("T")


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


def run_in_thread(
    app: App[int],
    work: Callable[[], T],
    then: Callable[[T], object] | None,
    failed: Callable[[MemdeckError], object],
    *,
    group: str,
    exclusive: bool,
) -> None:
    """Do something in a thread; `then` gets what it returns, `failed` its error, both in the application's thread.

    Everybody but the application calls `Shell.work`.
    """

    def run() -> None:
        report: Callable[[], object]
        try:
            result = work()
        except Exception as error:
            known = error if isinstance(error, MemdeckError) else internal(error)
            report = partial(failed, known)
        else:
            if then is None:
                return
            report = partial(then, result)
        app.post_message(ThreadReport(report))

    app.run_worker(run, group=group, thread=True, exclusive=exclusive, exit_on_error=False)


def internal(error: Exception) -> MemdeckError:
    """Return an error that nobody expected as one that can be said: its type and its words."""
    return MemdeckError("internal", f"{type(error).__name__}: {error}")
