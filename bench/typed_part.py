"""Pruning the typed memory of one agent, against `find` over the same files."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from bench.measure import Case, Unavailable
from bench.places import Places, memdeck

PER_FOLDER = 500
OLD, YOUNG = 8 * 86400, 2 * 86400
TEXT = "\n".join(["## Observation", "", *(f"- the {word} answered after 120 ms" for word in ("api", "db", "queue"))])

# What it costs at the least to delete files and be able to bring them back: one archive, synced, before they go.
FLOOR = r"""
cd "$1" && find memory/episodic -type f -mtime +7 -print0 > "$2/names" &&
tar --null --files-from "$2/names" -cf "$2/kept.tar" && sync "$2/kept.tar" && xargs -0 rm < "$2/names"
"""


def typed_cases(places: Places, size: str) -> Iterator[Case]:
    """Yield listing and deleting by `find`, and the dry run and the prune of memdeck; half of the files are old."""
    if not size.isdigit():
        raise ValueError(f"{size!r} is no number of files")
    agent = places.folder / f"agent-{size}"
    spare = places.folder / f"agent-{size}-spare"

    def listed() -> None:
        if not agent.exists():
            make_agent(agent, int(size))
            _register(places, agent)

    def again() -> None:
        for folder in (spare, places.folder / "home" / "state", agent / ".memdeck"):
            shutil.rmtree(folder, ignore_errors=True)
        spare.mkdir()
        make_agent(agent, int(size))
        _register(places, agent)
        os.sync()  # What was just made must not be a part of the next measurement.

    def find(*action: str) -> None:
        if shutil.which("find") is None:
            raise Unavailable("find is not installed")
        places.run(["find", agent / "memory" / "episodic", "-type", "f", "-mtime", "+7", *action])

    def prune(*options: str) -> None:
        places.run([memdeck(), "typed", "prune", *options])

    yield Case("python -c pass", lambda: places.run([sys.executable, "-c", "pass"]))
    yield Case("find -mtime +7", lambda: find(), listed)
    yield Case("memdeck typed prune --dry-run", lambda: prune("--dry-run"), listed, "find -mtime +7")
    yield Case("find -mtime +7 -delete", lambda: find("-delete"), again)
    floor = "find, tar, sync, rm"
    yield Case(floor, lambda: places.run(["/bin/sh", "-c", FLOOR, "sh", agent, spare]), again)
    yield Case("memdeck typed prune", prune, again, floor)


def make_agent(folder: Path, count: int) -> None:
    """Write an agent with so many episodic files, every second one of them too old; what is there stays."""
    now = int(time.time())  # `find` knows no other time than the clock's.
    for number in range(count):
        place = folder / "memory" / "episodic" / f"{number // PER_FOLDER:04}"
        if not number % PER_FOLDER:
            place.mkdir(parents=True, exist_ok=True)
        path = place / f"note-{number:06}.md"
        if path.exists():
            continue
        path.write_text(f"{TEXT}\n- number {number}\n")
        when = now - (OLD if number % 2 else YOUNG)
        os.utime(path, (when, when))
    (folder / "Aidefile").write_text('[memory]\ncompact_after = "200k"\n')


def _register(places: Places, folder: Path) -> None:
    registry = Path(places.environment()["HOME"]) / ".aide"
    registry.mkdir(parents=True, exist_ok=True)
    (registry / "config.toml").write_text(f'[[agents]]\nname = "bench"\npath = "{folder}"\n')
