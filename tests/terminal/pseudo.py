"""A pseudo terminal for tests of how the application ends: its process, its bytes, the state of the line."""

from __future__ import annotations

import fcntl
import os
import select
import signal
import struct
import subprocess
import termios
import time
from pathlib import Path
from types import TracebackType
from typing import Any

import pytest

from tests.patience import PATIENCE, Stopwatch


def _as_a_terminal_starts_it() -> None:
    """Take the terminal, and the signals that come of it: a shell has what runs behind it ignore some, nohup one."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


class Pseudo:
    """The application as the leader of a session on a terminal of its own; `with` ends it."""

    def __init__(self, folder: Path, command: list[str], environ: dict[str, str], size: tuple[int, int] = (100, 30)):
        """Start it; nothing is waited for."""
        self.master, slave = os.openpty()
        self.name = os.ttyname(slave)
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))
        self.before: list[Any] = termios.tcgetattr(slave)
        self.slave = slave
        variables = {"PATH": os.environ["PATH"], "HOME": str(folder), "LANG": "C.UTF-8", "TERM": "xterm-256color"}
        self.process = subprocess.Popen(
            command,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env={**variables, **environ},
            cwd=folder,
            start_new_session=True,
            preexec_fn=_as_a_terminal_starts_it,
        )
        self.output = b""

    def __enter__(self) -> Pseudo:
        """Hand out the terminal."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the process and close the terminal."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait(PATIENCE)
        self.hang_up()
        if self.slave >= 0:
            os.close(self.slave)

    def type(self, text: str) -> None:
        """Send what a keyboard sends."""
        os.write(self.master, text.encode())

    def read(self, seconds: float = 0.05) -> bool:
        """Take what the application wrote, a few thousand bytes at most; whether there was anything."""
        if self.master < 0 or not select.select([self.master], [], [], seconds)[0]:
            return False
        try:
            part = os.read(self.master, 65536)
        except OSError:
            return False
        self.output += part
        return bool(part)

    def wait_for(self, text: str) -> None:
        """Read until a text was written; fail with what came instead."""
        until = time.monotonic() + PATIENCE
        while text.encode() not in self.output:
            if time.monotonic() > until:
                pytest.fail(f"{text!r} was never written:\n{self.output[-3000:]!r}")
            self.read()

    def wait_until(self, check: Any, what: str) -> None:
        """Wait for something outside of the terminal."""
        until = time.monotonic() + PATIENCE
        while not check():
            if time.monotonic() > until:
                pytest.fail(f"never happened: {what}")
            self.read()

    def ended(self) -> float:
        """Wait for the end and return for how many seconds the application and this process did nothing meanwhile."""
        watch, end = Stopwatch(self.process.pid, os.getpid()), time.monotonic() + PATIENCE
        while self.process.poll() is None:
            watch.waited()
            if time.monotonic() > end:
                pytest.fail(f"the application does not end:\n{self.output[-3000:]!r}")
            if self.master < 0:
                time.sleep(0.01)
            self.read(0.01)
        taken = watch.waited()
        while self.read(0):
            pass
        return taken

    def hang_up(self) -> None:
        """Close the terminal, as a window that is closed does."""
        if self.slave >= 0:
            os.close(self.slave)
            self.slave = -1
        if self.master >= 0:
            os.close(self.master)
            self.master = -1
