"""When a server ends: a signal arrives, its input is closed, or its parent is gone; never within a change."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from typing import NoReturn

_PATIENCE = 5.0
"""Seconds that a change in progress may still take."""
_LOOK = 1.0


class Life:
    """Ends the process after the running call; `busy` is held during a call."""

    def __init__(self) -> None:
        """Nothing is watched yet."""
        self.busy = threading.Lock()

    def watch(self, leave: Callable[[], object] | None = None, *, parent: bool) -> None:
        """Call `leave` (default: `end`) at SIGINT, SIGTERM and SIGHUP; with `parent` also when the parent is gone.

        A pipe that another process holds open never ends, so the parent itself is watched.
        """
        leaves = leave or self.end
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, lambda *_: leaves())
        if parent:
            threading.Thread(target=_follow, args=(os.getppid(), leaves), name="memdeck-parent", daemon=True).start()

    def end(self) -> NoReturn:
        """Exit as soon as no call is running; a change is never interrupted before `_PATIENCE` is over."""
        self.busy.acquire(timeout=_PATIENCE)
        os._exit(0)


def _follow(parent: int, leave: Callable[[], object]) -> None:
    while os.getppid() == parent:
        time.sleep(_LOOK)
    leave()
