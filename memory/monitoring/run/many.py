"""Checking many monitors at once: as many as may run beside each other, each at most once at a time."""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memory.monitoring.checks.check import check
from memory.monitoring.checks.context import Around, RunPermission
from memory.monitoring.checks.result import Result

if TYPE_CHECKING:
    from memory.files.monitors import Monitor

LIMIT = 100
"""Checks that run beside each other; most of their time is waiting."""
_running: set[tuple[str, str]] = set()
_lock = threading.Lock()


@dataclass(frozen=True, slots=True)
class Planned:
    """A monitor that is due, and what says, when its turn comes, what a person decided about it."""

    monitor: Monitor
    decide: Callable[[], RunPermission | None]


def run_checks(planned: Iterable[Planned], around: Around, *, limit: int = LIMIT) -> Iterator[tuple[Planned, Result]]:
    """Check monitors, at most `limit` beside each other, and yield each with its result as it comes.

    A monitor that is running already in this process is `skipped`. When `around.cancel` is called off, what has not
    begun is skipped and what runs is ended. Closing the iterator early calls nothing off: it waits for nothing more.
    """
    waiting: queue.SimpleQueue[Planned] = queue.SimpleQueue()
    count = 0
    for one in planned:
        waiting.put(one)
        count += 1
    done: queue.SimpleQueue[tuple[Planned, Result]] = queue.SimpleQueue()
    root = os.path.realpath(around.root)

    def work() -> None:
        while True:
            try:
                one = waiting.get_nowait()
            except queue.Empty:
                return
            done.put((one, _once(one, around, root)))

    for number in range(min(limit, count)):
        threading.Thread(target=work, name=f"check-{number}", daemon=True).start()
    for _ in range(count):
        yield done.get()


def _once(planned: Planned, around: Around, root: str) -> Result:
    name = planned.monitor.name
    key = (root, planned.monitor.ref)
    if around.cancel is not None and around.cancel.cancelled:
        return Result(name, "skipped", "cancelled")
    with _lock:
        if key in _running:
            return Result(name, "skipped", "running already")
        _running.add(key)
    try:
        return check(planned.monitor, planned.decide(), around)
    except Exception as error:
        # Whatever it is, one monitor must not take the others with it.
        return Result(name, "error", f"internal error: {type(error).__name__}", detail=str(error)[:500])
    finally:
        with _lock:
            _running.discard(key)
