"""Whole processes of the command line, against a bare Python, bare readers and taskwarrior."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from bench import reference
from bench.measure import Case
from bench.peers import Taskwarrior
from bench.places import NOW, Places, memdeck


def command_cases(places: Places, size: str) -> Iterator[Case]:
    """Yield the processes for one size; what they print is thrown away."""
    root = places.workspace(size)
    memory = places.memory(root)
    bare = "python -c pass"
    peer = Taskwarrior(places, size)
    share = 2.5 if size != "L" else 0.5
    yield Case(bare, lambda: places.run([sys.executable, "-c", "pass"]))
    yield Case("memdeck --version", lambda: places.run([memdeck(), "--version"]), compared_with=bare, target=2)
    yield Case(
        "bare Python, open tasks",
        lambda: places.run([sys.executable, "-c", reference.BARE_TASKS, memory / "tasks.md"]),
        compared_with=bare,
    )
    yield Case(
        "bare Python, newest 10 entries",
        lambda: places.run([sys.executable, "-c", reference.BARE_JOURNAL, memory / "journal.md"]),
        compared_with=bare,
    )
    listing = "taskwarrior list"
    yield Case(listing, peer.show, peer.ready, bare)
    for words in (["tasks", "list", "-o", "json"], ["tasks", "list"], ["journal", "list", "--limit", "10"]):
        yield Case(
            f"memdeck {' '.join(words)}",
            lambda words=words: places.run([memdeck(), *words, "-w", root, "--now", NOW.isoformat()]),
            compared_with=listing,
            target=share,
        )
    yield Case(
        "memdeck journal list -o json, all",
        lambda: places.run([memdeck(), "journal", "list", "--limit", "0", "-o", "json", "-w", root]),
        compared_with=listing,
    )
