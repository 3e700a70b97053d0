"""What stands on the screen while the application is still being imported.

The name, the workspace and the panes stand where the application will draw them, long before Textual can draw anything.
Nothing else of the terminal is changed: what is typed meanwhile waits for the application as it always does.
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
"""Columns from which the panes are named at the left, as in `MainScreen`."""

_ENDING = (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)


class UntilGone:
    """The file of a terminal; once that was closed, what is written goes nowhere.

    The thread that writes for Textual would end with the first error, and the application wait for it for ever when
    its queue is full: a closed window would leave a process behind.
    """

    def __init__(self, file: IO[str]) -> None:
        """Write into this file."""
        self._file = file
        self._gone = False

    def write(self, text: str) -> int:
        """Write a text, if somebody can still see it; return its length."""
        self._do(lambda: self._file.write(text))
        return len(text)

    def flush(self) -> None:
        """Hand over what is buffered."""
        self._do(self._file.flush)

    def fileno(self) -> int:
        """Return the number of the file."""
        return self._file.fileno()

    def _do(self, work: Callable[[], object]) -> None:
        if not self._gone:
            try:
                work()
            except OSError:
                self._gone = True


def _end_with(terminal: int) -> None:
    """End the application when its terminal is closed, as the signal does that only the leader of its session gets.

    A window that runs `make run` has make for its leader. Textual would read from the closed terminal for ever.
    """
    closed = select.poll()
    closed.register(terminal, 0)
    if any(event & select.POLLHUP for _, event in closed.poll()):
        os.kill(os.getpid(), signal.SIGHUP)


class StartText:
    """The terminal's second screen, opened before Textual is there, and handed to its driver."""

    def __init__(self) -> None:
        """Nothing is written yet."""
        self._descriptor = -1
        """Where Textual will write as well."""
        self._stands = False
        self._signals: list[signal.Signals] = []

    def say(self, path: str, panes: Sequence[PaneName], environ: Mapping[str, str]) -> None:
        """Open the second screen and write on it, where there is a terminal that Textual would open itself."""
        stream = sys.__stderr__
        if stream is None or sys.platform == "win32" or environ.get("TEXTUAL_DRIVER"):
            return
        self._descriptor = stream.fileno()
        if environ.get("TERM", "") not in ("", "dumb") and os.isatty(self._descriptor) and os.isatty(0):
            self._open(path, panes)

    def _open(self, path: str, panes: Sequence[PaneName]) -> None:
        columns, rows = shutil.get_terminal_size()
        for number in _ENDING:
            # A signal that is ignored for whoever started memdeck stays so; only in the main thread signals are ours.
            with suppress(ValueError):
                if signal.getsignal(number) is signal.SIG_DFL:
                    signal.signal(number, self._on_signal)
                    self._signals.append(number)
        self._stands = True
        parts = [ENTER, HIDE, "\x1b[1;2H\x1b[1mmemdeck\x1b[m"]
        room = columns - 12
        # Whether the terminal shows more than ASCII, and how wide, is found out later.
        if path.isascii() and len(visible(path)) <= room:
            parts.append(f"  {visible(path)}")
        if columns >= SIDEBAR_FROM:
            entries = [(row, pane) for row, pane in enumerate(panes, 3) if row < rows - 1]
            parts += [f"\x1b[{row};4H{pane.key or ' '} {pane.title}" for row, pane in entries]
        # What is typed now is shown by the terminal itself, in a line that the application draws over.
        parts.append("\x1b[2;1H")
        self._write("".join(parts))

    def leave(self) -> None:
        """Close the second screen if no driver took it over; whatever ends the start does this."""
        if self._stands:
            self._stands = False
            self._write(LEAVE + SHOW)
        for number in self._signals:
            if signal.getsignal(number) == self._on_signal:
                signal.signal(number, signal.SIG_DFL)
        self._signals.clear()

    def driver(self, known: type[Driver]) -> type[Driver]:
        """Return the driver that goes on with the screen as it is; one that draws elsewhere comes back as it is."""
        if sys.platform == "win32":
            return known
        from textual.drivers.linux_driver import LinuxDriver

        if known is not LinuxDriver:
            return known
        words = self

        class TakingOver(LinuxDriver):
            """Textual's driver, which opens no screen that stands, and outlives its terminal."""

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
