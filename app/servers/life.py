"""When a server ends: its input is closed, a signal says so, nobody reads its answers, or its parent is gone."""

from __future__ import annotations

import os
import select
import signal
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from types import FrameType

_PATIENCE = 5.0
"""Seconds that a change which is being made may still take."""
_LOOK = 1.0
REST = 60.0
"""Seconds without a call after which a server lets go of what it can read again."""


class Busy:
    """A lock that one call at a time holds, and that knows when there has been none for a while."""

    def __init__(self) -> None:
        """Nothing is at work."""
        self._lock = threading.Lock()
        self._used = threading.Event()
        self._used.set()

    def acquire(self, timeout: float = -1) -> bool:
        """Begin a call once no other is at work, False after so many seconds; without end where it is negative."""
        return self._lock.acquire(timeout=timeout)

    def release(self) -> None:
        """End the call."""
        self._lock.release()
        self._used.set()

    def __enter__(self) -> None:
        """Begin a call."""
        self.acquire()

    def __exit__(self, *_: object) -> None:
        """End it."""
        self.release()

    def at_rest(self, work: Callable[[], object], seconds: float = REST) -> None:
        """Do some work in a thread, between two calls, each time there has been none for `seconds`.

        It is done once and then again only after another call.
        """

        def watch() -> None:
            while True:
                self._used.wait()
                while self._used.is_set():
                    self._used.clear()
                    time.sleep(seconds)
                with self._lock, suppress(Exception):
                    work()

        threading.Thread(target=watch, name="memdeck-rest", daemon=True).start()


class Life:
    """Ends the process once, after the call that is at work; `busy` is held while one is."""

    def __init__(self) -> None:
        """Nothing is watched yet; what is in `before` is called first when the end comes."""
        self.before: list[Callable[[], object]] = []
        self.busy = Busy()
        self._once = threading.Lock()

    def watch(self, *, parent: bool) -> None:
        """End at SIGINT, SIGTERM and SIGHUP; with `parent` also when the process that started this one is gone.

        A pipe that another process holds open never ends, so the parent itself is watched.
        """
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._signalled)
        if parent:
            threading.Thread(target=self._look, args=(os.getppid(),), name="memdeck-parent", daemon=True).start()

    def _signalled(self, _number: int, _frame: FrameType | None) -> None:
        # The handler runs in the main thread, which may be the one that holds what the end waits for.
        threading.Thread(target=self.end, name="memdeck-end", daemon=True).start()

    def _look(self, parent: int) -> None:
        _await_end(parent)
        while os.getppid() == parent:
            time.sleep(_LOOK)
        self.end()

    def end(self, code: int = 0) -> None:
        """Leave as soon as no call is at work; a change is never broken off before `_PATIENCE` is over."""
        if not self._once.acquire(blocking=False):
            return
        for leave in self.before:
            with suppress(Exception):
                leave()
        self.busy.acquire(timeout=_PATIENCE)
        os._exit(code)


def _await_end(process: int) -> None:
    """Return once the parent is gone; at once where the system cannot tell, and it has to be looked for again."""
    try:
        there = os.pidfd_open(process)
    except (AttributeError, OSError):
        return
    try:
        # Where it ended before, its number may be another's by now.
        if os.getppid() == process:
            ended = select.poll()
            ended.register(there, select.POLLIN)
            ended.poll()
    except (OSError, ValueError):
        return
    finally:
        os.close(there)
