"""A real terminal for tests: the application in tmux, keys in, the screen out."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

import pytest

from tests.patience import PATIENCE

TMUX = shutil.which("tmux")
REQUIRED = "MEMDECK_TOOLS" in os.environ
"""Continuous integration sets it: there a missing tool is a failure, elsewhere a reason to skip."""
needs_tmux = pytest.mark.skipif(TMUX is None and not REQUIRED, reason="tmux is not installed")
ESCAPE_PAUSE = 0.25


class Terminal:
    """One tmux session of its own server; `with` ends it."""

    def __init__(self, folder: Path, command: list[str], size: tuple[int, int], environ: dict[str, str]) -> None:
        """Start a shell that runs the command and then says how it ended."""
        self._socket = str(folder / "tmux.socket")
        width, height = size
        words = " ".join(f"'{word}'" for word in command)
        variables = {"PATH": os.environ["PATH"], "HOME": str(folder), "LANG": "C.UTF-8", **environ}
        self._tmux(
            *("-f", "/dev/null", "new-session", "-d", "-s", "test", "-x", str(width), "-y", str(height)),
            *("env", "-i", "TERM=tmux-256color", "COLORTERM=truecolor"),
            *(f"{key}={value}" for key, value in variables.items()),
            *("sh", "-c", f"{words}; echo ended with $?; exec cat"),
        )

    def __enter__(self) -> Terminal:
        """Hand out the terminal."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the server with everything in it."""
        subprocess.run(
            [str(TMUX), "-S", self._socket, "kill-server"], capture_output=True, check=False, timeout=PATIENCE
        )

    def _tmux(self, *words: str) -> str:
        done = subprocess.run(
            [str(TMUX), "-S", self._socket, *words], capture_output=True, text=True, check=True, timeout=PATIENCE
        )
        return done.stdout

    def screen(self, *, escapes: bool = False) -> str:
        """Return what is on the screen now, with its colours where asked."""
        return self._tmux("capture-pane", "-p", "-t", "test", *(["-e"] if escapes else []))

    def record(self, path: Path) -> None:
        """Write what the program sends from now on to a file: what is seen for seconds may be missed on a screen."""
        self._tmux("pipe-pane", "-t", "test", f"cat >> '{path}'")

    def press(self, *keys: str) -> None:
        """Send keys by their tmux names."""
        for key in keys:
            self._tmux("send-keys", "-t", "test", key)
            if key == "Escape":
                # Only the pause behind it tells Escape from the Alt of the next key.
                time.sleep(ESCAPE_PAUSE)

    def type(self, text: str) -> None:
        """Send text as it is."""
        self._tmux("send-keys", "-t", "test", "-l", text)

    def resize(self, width: int, height: int) -> None:
        """Give the terminal another size."""
        self._tmux("resize-window", "-t", "test", "-x", str(width), "-y", str(height))

    def value(self, form: str) -> str:
        """Return a tmux variable, such as `#{alternate_on}`."""
        return self._tmux("display-message", "-p", "-t", "test", form).strip()

    def wait_for(self, wanted: str | Callable[[str], bool]) -> str:
        """Return the screen as soon as it holds a text, or meets a condition; fail with the screen if it never does."""
        until = time.monotonic() + PATIENCE
        while True:
            shown = self.screen()
            if wanted in shown if isinstance(wanted, str) else wanted(shown):
                return shown
            if time.monotonic() > until:
                pytest.fail(f"{wanted!r} does not appear on the screen:\n{shown}")
            time.sleep(0.03)

    def wait_until(self, check: Callable[[], bool], what: str) -> None:
        """Wait for something outside of the screen; fail with its name and the screen."""
        until = time.monotonic() + PATIENCE
        while not check():
            if time.monotonic() > until:
                pytest.fail(f"never happened: {what}\n{self.screen()}")
            time.sleep(0.03)


def memdeck(*words: str) -> list[str]:
    """Return the command line of a memdeck of this source tree."""
    return [sys.executable, "-m", "app.main", *words]
