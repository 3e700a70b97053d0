"""The text on the screen while the application is still being imported.

The name, the workspace and the panes appear where the application will draw them, long before Textual can draw. Nothing
else of the terminal is changed: typed keys wait for the application as usual.
"""

from __future__ import annotations

import os
import select
import shutil
import signal
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from types import FrameType
from typing import IO, TYPE_CHECKING, Any, cast

from memory.base.safe_text import visible
from widgets.panes import PaneName

if TYPE_CHECKING:
    from textual.driver import Driver

ENTER, LEAVE = "\x1b[?1049h", "\x1b[?1049l"
HIDE, SHOW = "\x1b[?25l", "\x1b[?25h"
SIDEBAR_FROM = 60
"""Columns from which the sidebar names the panes, as in `MainScreen`."""

_ENDING = (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)


class UntilGone:
    """The file of a terminal; once the terminal is closed, writes are dropped.

    Without this, Textual's writer thread would end with the first error, and the application would wait for it for ever
    once its queue is full: a closed window would leave a process behind.
    """

    def __init__(self, file: IO[str]) -> None:
        """Write to this file."""
        self._file = file
        self._gone = False

    def write(self, text: str) -> int:
        """Write a text if the terminal is still open; return its length."""
        self._do(lambda: self._file.write(text))
        return len(text)

    def flush(self) -> None:
        """Hand over what is buffered."""
        self._do(self._file.flush)

    def fileno(self) -> int:
        """Return the file descriptor."""
        return self._file.fileno()

    def _do(self, work: Callable[[], object]) -> None:
        if not self._gone:
            try:
                work()
            except OSError:
                self._gone = True


def _end_with(terminal: int) -> None:
    """End the application when its terminal is closed; the signal for that goes only to the leader of the session.

    In a window that runs `make run` the leader is make. Textual would read from the closed terminal for ever.
    """
    closed = select.poll()
    closed.register(terminal, 0)
    if any(event & select.POLLHUP for _, event in closed.poll()):
        os.kill(os.getpid(), signal.SIGHUP)


class StartText:
    """The terminal's alternate screen, opened before Textual is ready and handed to its driver."""

    def __init__(self) -> None:
        """Nothing is written yet."""
        self._descriptor = -1
        """The descriptor that Textual will write to as well."""
        self._stands = False
        self._signals: list[signal.Signals] = []

    def say(self, path: str, panes: Sequence[PaneName], environ: Mapping[str, str]) -> None:
        """Open the alternate screen and write on it, if there is a terminal that Textual would open itself."""
        stream = sys.__stderr__
        if stream is None or sys.platform == "win32" or environ.get("TEXTUAL_DRIVER"):
            return
        self._descriptor = stream.fileno()
        if environ.get("TERM", "") not in ("", "dumb") and os.isatty(self._descriptor) and os.isatty(0):
            self._open(path, panes)

    def _open(self, path: str, panes: Sequence[PaneName]) -> None:
        columns, rows = shutil.get_terminal_size()
        for number in _ENDING:
            # A signal that the parent process ignores stays ignored; signals are ours only in the main thread.
            with suppress(ValueError):
                if signal.getsignal(number) is signal.SIG_DFL:
                    signal.signal(number, self._on_signal)
                    self._signals.append(number)
        self._stands = True
        parts = [ENTER, HIDE, "\x1b[1;2H\x1b[1mmemdeck\x1b[m"]
        room = columns - 12
        # Whether the terminal shows more than ASCII, and at what width, is found out later.
        if path.isascii() and len(visible(path)) <= room:
            parts.append(f"  {visible(path)}")
        if columns >= SIDEBAR_FROM:
            entries = [(row, pane) for row, pane in enumerate(panes, 3) if row < rows - 1]
            parts += [f"\x1b[{row};4H{pane.key or ' '} {pane.title}" for row, pane in entries]
        # The terminal itself echoes what is typed now, in a line that the application draws over.
        parts.append("\x1b[2;1H")
        self._write("".join(parts))

    def leave(self) -> None:
        """Close the alternate screen unless a driver took it over; called however the start ends."""
        if self._stands:
            self._stands = False
            self._write(LEAVE + SHOW)
        for number in self._signals:
            if signal.getsignal(number) == self._on_signal:
                signal.signal(number, signal.SIG_DFL)
        self._signals.clear()

    def driver(self, known: type[Driver]) -> type[Driver]:
        """Return a driver that continues on the open screen; a driver that draws elsewhere is returned unchanged."""
        if sys.platform == "win32":
            return known
        from textual.drivers.linux_driver import LinuxDriver

        if known is not LinuxDriver:
            return known
        words = self

        class TakingOver(LinuxDriver):
            """Textual's driver for a screen that is already open; it survives the loss of its terminal."""

            def __init__(self, *arguments: Any, **options: Any) -> None:
                super().__init__(*arguments, **options)
                self._file = cast("Any", UntilGone(cast("IO[str]", self._file)))
                if os.isatty(self.fileno):
                    threading.Thread(
                        target=_end_with, args=(self.fileno,), name="memdeck-terminal", daemon=True
                    ).start()

            def write(self, data: str) -> None:
                if words._stands and data == ENTER:
                    words._stands = False
                else:
                    super().write(data)

        return TakingOver

    def _on_signal(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002
        self.leave()
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    def _write(self, text: str) -> None:
        data = text.encode("utf-8", "replace")
        with suppress(OSError):
            while data:
                data = data[os.write(self._descriptor, data) :]
