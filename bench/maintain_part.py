"""`--maintain` as a whole process, against start-up, parse, dump and durable replaces of what it touches."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from bench.measure import Case
from bench.places import NOW, Places, memdeck

FLOOR = """
import pathlib, sys
from bench.reference import durable_replace
from memory.document import parse
for path in map(pathlib.Path, sys.argv[1:]):
    durable_replace(path, parse(path.read_bytes()).dump())
"""


def maintain_cases(places: Places, size: str) -> Iterator[Case]:
    """Yield the run in which thousands of entries move, its floor, and a run with nothing to do."""
    # A copy for each round: what memdeck remembers of a path must not make the next round another case.
    fresh: list[Path] = []
    idle = places.copy(size)
    done: list[bool] = []

    def again() -> None:
        fresh[:] = [places.copy(size)]

    def settle() -> None:
        if not done:
            _maintain(places, idle)
            done.append(True)

    def floor() -> None:
        memory = places.memory(fresh[0])
        places.run([sys.executable, "-c", FLOOR, memory / "tasks.md", memory / "journal.md"])

    name = "start-up, parse, dump, durable replace"
    yield Case(name, floor, again)
    yield Case("memdeck --maintain", lambda: _maintain(places, fresh[0]), again, name, 3)
    listing = "memdeck tasks list"
    yield Case(
        listing,
        lambda: places.run([memdeck(), "tasks", "list", "-w", idle, "--now", NOW.isoformat()]),
        settle,
    )
    yield Case("memdeck --maintain, nothing to do", lambda: _maintain(places, idle), settle, listing, 1.5)


def _maintain(places: Places, root: Path) -> None:
    places.run([memdeck(), "--maintain", root, "--no-exec", "--now", NOW.isoformat()])
