"""When a server ends: its input is closed, a signal says so, nobody reads its answers, or its parent is gone."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from types import FrameType

_PATIENCE = 5.0
"""Seconds that a change which is being made may still take."""
_LOOK = 1.0


class Life:
    """Ends the process once, after the call that is at work; `busy` is held while one is."""

    def __init__(self) -> None:
        """Nothing is watched yet; what is in `before` is called first when the end comes."""
        self.before: list[Callable[[], object]] = []
        self.busy = threading.Lock()
        self._once = threading.Lock()

    def watch(self, *, parent: bool) -> None:
        """End at SIGINT, SIGTERM and SIGHUP; with `parent` also when the process that started this one is gone.

        A pipe that another process holds open never ends, so the parent is looked for each second.
        """
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._signalled)
        if parent:
            threading.Thread(target=self._look, args=(os.getppid(),), name="memdeck-parent", daemon=True).start()

    def _signalled(self, _number: int, _frame: FrameType | None) -> None:
        # The handler runs in the main thread, which may be the one that holds what the end waits for.
        threading.Thread(target=self.end, name="memdeck-end", daemon=True).start()

    def _look(self, parent: int) -> None:
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
