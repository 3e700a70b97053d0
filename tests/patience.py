"""Waiting for something else to happen, with an end that says what was seen instead.

The end is far away: it is there so that what never happens is a failure and no hang, not to measure anything.
"""

from __future__ import annotations

import asyncio
import contextlib
import glob
import os
import select
import signal
import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import IO, Any, TypeVar

T = TypeVar("T")
PATIENCE = 120.0
"""Seconds that a test waits for something, on a machine that has much else to do as well."""


def until(check: Callable[[], T], seen: Callable[[], object] = lambda: "", *, seconds: float = PATIENCE) -> T:
    """Return what `check` returns as soon as that is true; AssertionError with what was `seen` where it never is."""
    end = time.monotonic() + seconds
    pause = 0.001
    while not (found := check()):
        assert time.monotonic() < end, f"did not happen within {seconds:g} s: {seen()}"
        time.sleep(pause)
        pause = min(pause * 1.3, 0.02)
    return found


@asynccontextmanager
async def within(seen: Callable[[], object] = lambda: "", *, seconds: float = PATIENCE) -> AsyncIterator[None]:
    """Let what stands inside await for so long; AssertionError with what was `seen` where that is not enough."""
    try:
        async with asyncio.timeout(seconds) as limit:
            yield
    except TimeoutError:
        if not limit.expired():
            raise
        raise AssertionError(f"did not happen within {seconds:g} s: {seen()}") from None


def join(*threads: threading.Thread, seconds: float = PATIENCE) -> None:
    """Wait for the end of threads; AssertionError with the names of those that go on."""
    end = time.monotonic() + seconds
    for thread in threads:
        thread.join(max(0.0, end - time.monotonic()))
    still = [thread.name for thread in threads if thread.is_alive()]
    assert not still, f"still running after {seconds:g} s: {', '.join(still)}"


def reap(pid: int, *, seconds: float = PATIENCE) -> int:
    """Wait for the end of a child that was forked and return its exit code; end it and fail where it goes on."""
    try:
        _wait_for_end(pid, seconds)
    except AssertionError:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        raise
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def _wait_for_end(pid: int, seconds: float) -> None:
    """Wait without taking the exit code."""
    if hasattr(os, "pidfd_open"):
        opened = os.pidfd_open(pid)
        try:
            assert select.select([opened], [], [], seconds)[0], f"process {pid} goes on after {seconds:g} s"
        finally:
            os.close(opened)
    else:
        until(lambda: os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT), seconds=seconds)


def line_of(stream: IO[Any], *, seconds: float = PATIENCE) -> bytes:
    """Return the next line that a process writes, without its end; what came of it where it ends or nothing comes."""
    end, found = time.monotonic() + seconds, b""
    while not found.endswith(b"\n"):
        ready, _, _ = select.select([stream], [], [], max(0.0, end - time.monotonic()))
        part = os.read(stream.fileno(), 1) if ready else b""
        if not part:
            break
        found += part
    return found.removesuffix(b"\n")


class Stopwatch:
    """Tells how long something takes, without the time for which others had the processors.

    On a busy machine everything takes longer by the clock; what a thread spends ready to run but not running is no
    fault of the program. Where the system does not tell that time, it counts as well.
    """

    def __init__(self, *pids: int) -> None:
        """Begin; `pids` are the processes at work, this one if none is given."""
        self._pids = pids or (os.getpid(),)
        self._seen: dict[str, tuple[float, float]] = {}
        self._before = self._look()
        self._begun = time.monotonic()

    def seconds(self) -> float:
        """Return the seconds until now; of a process that ended counts what was seen at the last call before."""
        return time.monotonic() - self._begun - (self._look()[1] - self._before[1])

    def waited(self) -> float:
        """Return as `seconds`, without those of work: processors that others use as well work at half their speed."""
        ran, starved = self._look()
        return time.monotonic() - self._begun - (ran - self._before[0]) - (starved - self._before[1])

    def _look(self) -> tuple[float, float]:
        for pid in self._pids:
            # A thread that ended keeps what was seen of it: without that the others' time would seem to go back.
            self._seen.update(_times(pid))
        return sum(ran for ran, _ in self._seen.values()), sum(starved for _, starved in self._seen.values())


def _times(pid: int) -> dict[str, tuple[float, float]]:
    """Return for how many seconds each thread of a process ran, and could have while others had the processors."""
    found = {}
    for path in glob.glob(f"/proc/{pid}/task/*/schedstat"):
        # A process that gave up its rights may not be able to load any other codec.
        with contextlib.suppress(OSError), open(path, encoding="utf-8") as stream:
            words = stream.read().split()
            found[path] = int(words[0]) / 1e9, int(words[1]) / 1e9
    return found
