"""`--maintain` as a whole process, against start-up, parse, dump and durable replaces of the files it touches."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from bench.measure import Case
from bench.places import NOW, Places, memdeck

# The files that hold the entries, two dashes, then a path and a size for every file that the run writes.
FLOOR = """
import pathlib, sys
from bench.reference import durable_replace
from memory.document import parse
split = sys.argv.index("--")
data = b"".join(parse(pathlib.Path(path).read_bytes()).dump() for path in sys.argv[1:split])
start = 0
for path, size in zip(sys.argv[split + 1::2], map(int, sys.argv[split + 2::2])):
    durable_replace(pathlib.Path(path), data[start:start + size])
    start += size
"""
SOURCES = ("tasks.md", "journal.md")


def maintain_cases(places: Places, size: str) -> Iterator[Case]:
    """Yield the run in which thousands of entries move, its floor, and a run with nothing to do."""
    # A copy for each round: what memdeck remembers of a path must not make the next round another case.
    fresh: list[Path] = []

    def again() -> None:
        fresh[:] = [places.copy(size)]
        settled()

    @cache
    def settled() -> Path:
        root = places.copy(size)
        _maintain(places, root)
        return root

    def floor() -> None:
        memory = places.memory(fresh[0])
        words: list[str | Path] = [sys.executable, "-c", FLOOR, *(memory / name for name in SOURCES), "--"]
        for name, length in _touched(places.memory(places.workspace(size)), places.memory(settled())):
            words += [memory / name, str(length)]
        places.run(words)

    name = "start-up, parse, dump, durable replaces"
    yield Case(name, floor, again)
    yield Case("memdeck --maintain", lambda: _maintain(places, fresh[0]), again, name, 4)
    listing = "memdeck tasks list"
    yield Case(
        listing,
        lambda: places.run([memdeck(), "tasks", "list", "-w", settled(), "--now", NOW.isoformat()]),
        settled,
    )
    yield Case(
        "memdeck --maintain, nothing to do",
        lambda: _maintain(places, settled()),
        settled,
        listing,
        1.5,
    )


def _touched(before: Path, after: Path) -> list[tuple[str, int]]:
    """Return (name, size) of every file of `after` that is new or other than in `before`."""
    return [
        (path.relative_to(after).as_posix(), path.stat().st_size)
        for path in sorted(after.rglob("*.md"))
        if not (other := before / path.relative_to(after)).exists() or other.read_bytes() != path.read_bytes()
    ]


def _maintain(places: Places, root: Path) -> None:
    places.run([memdeck(), "--maintain", root, "--no-exec", "--now", NOW.isoformat()])
