"""What a change from outside costs the open application: processor time of all its threads, and memory that stays."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

from bench.measure import Case
from bench.places import NOW, Places, memdeck
from bench.terminal import Screen
from bench.workspaces import FIRST_TITLE

EDITS = 60
"""Changes of one run."""

PACES = (("one after the other", 0.25), ("each by itself", 2.0))
"""Seconds between two changes: as an agent writes that works through its tasks, and as somebody saves now and then."""

IDLE_SECONDS = 4.0


def outside_cases(places: Places, size: str) -> Iterator[Case]:
    """Yield a case for each pace, with the tasks open."""
    for name, pace in PACES:
        yield Case(f"a task changed from outside, {name}", _run(places, size, pace))


def _run(places: Places, size: str, pace: float) -> Callable[[], dict[str, float]]:
    """Return what takes processor time for each change, less what the application takes at rest, and memory."""

    def run() -> dict[str, float]:
        root = places.copy(size)
        tasks = places.memory(root) / "tasks.md"
        text = tasks.read_bytes()
        with Screen([memdeck(), str(root), "--now", NOW.isoformat()], places.environment()) as screen:
            screen.wait_for([FIRST_TITLE])
            # The record of how the files looked is made, and what is said at the start goes.
            screen.settle(quiet=3.0, timeout=25)
            for number in range(3):
                edit(tasks, text, f"first {number}")
                screen.take(1.5)
            idle = -screen.processor()
            screen.take(IDLE_SECONDS)
            idle = (idle + screen.processor()) / IDLE_SECONDS
            before, taken = screen.resident_mib(), screen.processor()
            edits = EDITS if pace < 1 else EDITS // 4
            for number in range(edits):
                edit(tasks, text, str(number))
                screen.take(pace)
            screen.take(2.0)
            taken = screen.processor() - taken - idle * (edits * pace + 2.0)
            return {"processor": taken / edits, "before, rss": before, "after, rss": screen.resident_mib()}

    return run


def edit(tasks: Path, text: bytes, number: str) -> None:
    """Give the first task another title, as editors save: a file beside it that takes its place."""
    beside = tasks.with_name(".tasks.tmp")
    beside.write_bytes(text.replace(FIRST_TITLE.encode(), f"{FIRST_TITLE} {number}".encode(), 1))
    os.replace(beside, tasks)
