"""When a server ends: its input is closed, a signal arrives, no one reads its answers, or its parent is gone."""

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
"""Seconds that a change in progress may still take."""
_LOOK = 1.0
REST = 60.0
"""Seconds without a call after which a server releases what it can read again."""


class Busy:
    """A lock for one call at a time that also detects idle periods."""

    def __init__(self) -> None:
        """No call is running."""
        self._lock = threading.Lock()
        self._used = threading.Event()
        self._used.set()

    def acquire(self, timeout: float = -1) -> bool:
        """Wait until no other call is running, then begin one; return False after `timeout` seconds (negative: no
        limit).
        """
        return self._lock.acquire(timeout=timeout)

    def release(self) -> None:
        """End the call."""
        self._lock.release()
        self._used.set()

    def __enter__(self) -> None:
        """Begin a call."""
        self.acquire()

    def __exit__(self, *_: object) -> None:
        """End the call."""
        self.release()

    def at_rest(self, work: Callable[[], object], seconds: float = REST) -> None:
        """Do some work in a thread, between two calls, whenever there was no call for `seconds`.

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
    """Ends the process once, after the running call; `busy` is held during a call."""

    def __init__(self) -> None:
        """Nothing is watched yet; the functions in `before` are called first when the process ends."""
        self.before: list[Callable[[], object]] = []
        self.busy = Busy()
        self._once = threading.Lock()

    def watch(self, *, parent: bool) -> None:
        """End at SIGINT, SIGTERM and SIGHUP; with `parent` also when the parent process is gone.

        A pipe that another process holds open never ends, so the parent itself is watched.
        """
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._signalled)
        if parent:
            threading.Thread(target=self._look, args=(os.getppid(),), name="memdeck-parent", daemon=True).start()

    def _signalled(self, _number: int, _frame: FrameType | None) -> None:
        # The handler runs in the main thread, which may hold the lock that the end waits for.
        threading.Thread(target=self.end, name="memdeck-end", daemon=True).start()

    def _look(self, parent: int) -> None:
        _await_end(parent)
        while os.getppid() == parent:
            time.sleep(_LOOK)
        self.end()

    def end(self, code: int = 0) -> None:
        """Exit as soon as no call is running; a change is never interrupted before `_PATIENCE` is over."""
        if not self._once.acquire(blocking=False):
            return
        for leave in self.before:
            with suppress(Exception):
                leave()
        self.busy.acquire(timeout=_PATIENCE)
        os._exit(code)


def point_to_nothing(descriptor: int, flags: int) -> None:
    """Make a descriptor of this process one of /dev/null."""
    nothing = os.open(os.devnull, flags)
    os.dup2(nothing, descriptor)
    os.close(nothing)


def _await_end(process: int) -> None:
    """Return when the parent is gone; at once if the system cannot tell, and the caller has to poll."""
    try:
        there = os.pidfd_open(process)
    except (AttributeError, OSError):
        return
    try:
        # If the parent ended before, its process id may already be reused.
        if os.getppid() == process:
            ended = select.poll()
            ended.register(there, select.POLLIN)
            ended.poll()
    except (OSError, ValueError):
        return
    finally:
        os.close(there)
