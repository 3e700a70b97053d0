"""The end of the application: soon after the user left, a signal came or the terminal closed, the process is gone.

The application ends in order, which takes a few hundredths of a second. Anything that delays it, such as a thread that
reads a large file or Textual's input thread on a terminal that is gone, has `GRACE` seconds. Then a thread writes what
is not written yet, restores the terminal and ends the process.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import termios
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from types import FrameType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from textual.app import App

GRACE = 0.3
"""Seconds that the application has to end by itself."""

WRITING = 10.0
"""The most seconds that the end waits for changes that are being written: a busy machine takes seconds for what takes
an idle one a tenth. A longer one is completed or rolled back by the next program that opens the workspace.
"""

SIGNALS = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT)
"""Signals that end the application; Textual alone leaves the terminal in its own mode on some of them."""

RESTORE = (
    b"\x1b[?2004l\x1b[?7h\x1b[?2048l\x1b[?1000l\x1b[?1003l\x1b[?1015l\x1b[?1006l\x1b[?1016l"
    b"\x1b[<u\x1b[?1049l\x1b[?25h\x1b[?1004l"
)
"""Ends the modes of a terminal that Textual sets, in the order in which Textual ends them."""


class Leaving:
    """Ends the process, once; only one exists in it."""

    def __init__(self) -> None:
        """Handle signals from here on, and the loss of the terminal."""
        self._app: App[int] | None = None
        self._code: int | None = None
        self._finishing = threading.Lock()
        self._last: list[Callable[[], object]] = []
        self._before = termios.tcgetattr(0) if os.isatty(0) else None
        for number in SIGNALS:
            with suppress(ValueError):  # Signals are ours only in the main thread.
                signal.signal(number, self._on_signal)
        if self._before is not None:
            threading.Thread(target=self._end_with_terminal, name="memdeck-terminal", daemon=True).start()

    def of(self, app: App[int], *last: Callable[[], object]) -> None:
        """Note the application that is about to run, and what writes the last of it."""
        self._app, self._last = app, [*last]

    def begin(self, code: int) -> None:
        """End the process with this code within `GRACE` and `WRITING` seconds; only the first call counts."""
        if self._code is None:
            self._code = code
            threading.Thread(target=self._end, name="memdeck-leaving", daemon=True).start()

    def finish(self) -> None:
        """Write what waits to be written, once, and wait for it at most `WRITING` seconds."""
        writer = threading.Thread(target=self._finish, name="memdeck-last", daemon=True)
        writer.start()
        writer.join(WRITING)

    def _finish(self) -> None:
        with self._finishing:
            while self._last:
                self._last.pop(0)()

    def _on_signal(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002
        """End in order, with the exit code that shells use for the signal.

        Not by a handler of the event loop: while the user's editor runs, the event loop does not.
        """
        self._leave(128 + number)

    def _end_with_terminal(self) -> None:
        """End the application when its terminal is closed; the signal for that goes only to the leader of the session.

        In a window that runs `make run` the leader is make.
        """
        closed = select.poll()
        closed.register(0, 0)
        if any(event & select.POLLHUP for _, event in closed.poll()):
            self._leave(128 + signal.SIGHUP)

    def _leave(self, code: int) -> None:
        self.begin(code)
        app = self._app
        loop = None if app is None else app._loop
        if app is not None and loop is not None:
            with suppress(RuntimeError):  # It was closed since.
                loop.call_soon_threadsafe(app.exit, code)

    def _end(self) -> None:
        if self._app is not None:
            time.sleep(GRACE)
            self.finish()
        self.restore()
        assert self._code is not None
        os._exit(self._code)

    def restore(self) -> None:
        """Give the terminal back unless Textual did; one that takes no more output is left as it is."""
        with suppress(OSError, termios.error):
            if self._before is None:
                return
            # An application that another one is to replace leaves its screen to it.
            stays = getattr(self._app, "keeps_screen", False)
            if termios.tcgetattr(0) == self._before and not self._writes() and not stays:
                return
            termios.tcsetattr(0, termios.TCSANOW, self._before)
            if select.select([], [2], [], 0)[1]:
                os.write(2, RESTORE)
        with suppress(OSError, ValueError):
            sys.stdout.flush()

    def _writes(self) -> bool:
        """Return whether Textual still writes: it restores the terminal's settings before it leaves its screen."""
        driver = None if self._app is None else self._app._driver
        writer = getattr(driver, "_writer_thread", None)
        return writer is not None and writer.is_alive()
