"""Waiting for something else to happen, with an end that says what was seen instead.

The end is far away: it is there so that what never happens is a failure and no hang, not to measure anything.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TypeVar

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
