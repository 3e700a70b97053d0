"""Starts a program in a real pseudo-terminal and takes the time until something stands on its screen."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time
import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType

_ESCAPES = re.compile(
    rb"\x1b\[[0-?]*[ -/]*[@-~]|\x1b[\]PX^_].*?(?:\x07|\x1b\\)|\x1b[ -/]*[0-~]|[\x00-\x08\x0b-\x1f]", re.S
)


class Screen:
    """One program in a pseudo-terminal of 120×36 cells; the context manager ends that program, by its id.

    The terminal is a silent one: it takes what is written and answers no query.
    """

    def __init__(self, command: Sequence[str], environment: Mapping[str, str], size: tuple[int, int] = (120, 36)):
        """Start `command`; `started` is the moment before the fork, on the monotonic clock."""
        columns, rows = size
        go, ready = os.pipe()
        self.started = time.perf_counter()
        with warnings.catch_warnings():
            # The child does nothing but exec, so threads of this process cannot hold it up.
            warnings.simplefilter("ignore", DeprecationWarning)
            self.pid, self._terminal = pty.fork()
        if self.pid == 0:
            try:
                os.read(go, 1)
                os.execvpe(command[0], list(command), dict(environment))
            finally:
                os._exit(127)
        fcntl.ioctl(self._terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.started = time.perf_counter()
        os.write(ready, b"x")
        os.close(go)
        os.close(ready)
        self.output = bytearray()

    def __enter__(self) -> Screen:
        """Return the running program's screen."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the program if it still runs and give the terminal back."""
        self.end()

    def text(self) -> str:
        """Return everything written so far without its escape sequences."""
        return _ESCAPES.sub(b"", bytes(self.output)).decode("utf-8", "replace")

    def wait_for(self, wanted: Sequence[str], timeout: float = 60.0) -> float:
        """Return the seconds from the start until one of `wanted` is written; TimeoutError if none is."""
        return self._wait(re.compile("|".join(map(re.escape, wanted))), timeout)

    def _wait(self, wanted: re.Pattern[str], timeout: float) -> float:
        limit = self.started + timeout
        while not wanted.search(self.text()):
            if not self._read(limit):
                shown = " ".join(self.text().split())[-60:]
                late = time.perf_counter() >= limit
                reason = f"not there after {timeout:g} s" if late else "the program ended"
                raise TimeoutError(f"{reason}, its output ends {shown!r}; wanted {wanted.pattern!r}")
        return time.perf_counter() - self.started

    def settle(self, quiet: float = 0.25, timeout: float = 30.0) -> float:
        """Read until nothing came for `quiet` seconds; return the moment of the last byte."""
        last = time.perf_counter()
        limit = last + timeout
        while time.perf_counter() < limit and self._read(time.perf_counter() + quiet):
            last = time.perf_counter()
        return last

    def press(self, key: bytes, quiet: float = 0.03) -> tuple[float, float]:
        """Send a key; return the seconds until the first and until the last byte of what it drew.

        The last one is that after which nothing came for `quiet` seconds.
        """
        sent = time.perf_counter()
        self._answer(key)
        first = time.perf_counter() - sent
        return first, max(first, self.settle(quiet=quiet, timeout=2) - sent)

    def work(self, keys: Sequence[bytes], quiet: float = 0.3) -> tuple[float, float]:
        """Send keys one after the other, each once the one before is drawn; return the seconds of work of each.

        That is the processor time of the program's main thread: until its first picture begins to arrive, which is what
        somebody waits for, and until nothing came for `quiet` seconds. Pauses between two frames and other threads do
        not count.
        """
        before, picture = self._worked(), 0.0
        for key in keys:
            idle = self._worked()
            self._answer(key)
            picture += self._worked() - idle
            self.settle(quiet=0.03, timeout=2)
        self.settle(quiet=quiet, timeout=3)
        return picture / len(keys), (self._worked() - before) / len(keys)

    def send(self, key: bytes) -> None:
        """Send a key and wait for nothing."""
        os.write(self._terminal, key)

    def answered(self, seconds: float) -> bool:
        """Read what comes first within so many seconds; False if nothing did."""
        return self._read(time.perf_counter() + seconds)

    def _answer(self, key: bytes) -> None:
        """Send a key and wait for the first bytes of what it draws."""
        self.send(key)
        if not self._read(time.perf_counter() + 5):
            raise TimeoutError(f"no answer to {key!r}")

    def _worked(self) -> float:
        with open(f"/proc/{self.pid}/task/{self.pid}/schedstat", encoding="ascii") as stream:
            return int(stream.read().split()[0]) / 1e9

    def processor(self) -> float:
        """Return the seconds of processor time that all threads of the program took so far, also those that ended."""
        with open(f"/proc/{self.pid}/stat", encoding="ascii", errors="replace") as stream:
            fields = stream.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def works(self) -> bool:
        """Tell whether a thread of the program runs at this moment, or would if the machine had time for it."""
        for thread in Path(f"/proc/{self.pid}/task").iterdir():
            with suppress(OSError):  # it ended meanwhile
                if (thread / "stat").read_text("ascii", "replace").rpartition(")")[2].split()[0] in "RD":
                    return True
        return False

    def peak_mib(self) -> float:
        """Return the program's peak resident memory so far, in MiB."""
        return self._mib("VmHWM:")

    def resident_mib(self) -> float:
        """Return the program's resident memory, in MiB."""
        return self._mib("VmRSS:")

    def _mib(self, name: str) -> float:
        with open(f"/proc/{self.pid}/status", encoding="ascii", errors="replace") as stream:
            for line in stream:
                if line.startswith(name):
                    return int(line.split()[1]) / 1024
        raise ValueError(f"no {name} in /proc")

    def take(self, seconds: float) -> None:
        """Read what comes for so long."""
        end = time.perf_counter() + seconds
        while (left := end - time.perf_counter()) > 0:
            if not self._read(end):
                time.sleep(max(0.0, min(left, 0.01)))

    def end(self, key: bytes = b"q") -> int | None:
        """Ask the program to leave with `key`, then by signals; return its exit code (None: a signal did)."""
        if self.pid <= 0:
            return None
        pid, self.pid = self.pid, 0
        try:
            os.write(self._terminal, key)
        except OSError:
            pass
        status = None
        for patience, number in ((3.0, signal.SIGTERM), (2.0, signal.SIGKILL), (5.0, None)):
            status = self._reap(pid, patience)
            if status is not None or number is None:
                break
            os.kill(pid, number)
        os.close(self._terminal)
        return os.WEXITSTATUS(status) if status is not None and os.WIFEXITED(status) else None

    def _reap(self, pid: int, patience: float) -> int | None:
        limit = time.perf_counter() + patience
        while time.perf_counter() < limit:
            done, status = os.waitpid(pid, os.WNOHANG)
            if done:
                return status
            if not self._read(time.perf_counter() + 0.02):
                select.select([], [], [], 0.005)
        return None

    def _read(self, limit: float) -> bool:
        """Read what is there, waiting until `limit` at most; False if nothing came or the program is gone."""
        ready, _, _ = select.select([self._terminal], [], [], max(0.0, limit - time.perf_counter()))
        if not ready:
            return False
        try:
            data = os.read(self._terminal, 65536)
        except OSError:
            return False
        self.output += data
        return bool(data)
