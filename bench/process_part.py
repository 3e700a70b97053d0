"""What a command costs as a process: its processor time, against `python -c pass` in the same rounds."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

from bench.facts_part import make_facts
from bench.measure import Case, Unavailable
from bench.places import NOW, Places, memdeck
from bench.workspaces import FIRST_TITLE

FLOOR = "python -c pass"
MESSAGE = "Which release does the staging database need, and where is the token of the gateway kept?"


def process_cases(places: Places, size: str) -> Iterator[Case]:
    """Yield the short commands of one size, and the hooks over 500 facts."""
    count = itertools.count()
    yield Case(FLOOR, lambda: _spent(places, [sys.executable, "-c", "pass"]))
    root = cache(lambda: places.copy(size))
    verbs = {
        "memdeck --version": (lambda: ["--version"], 2),
        "memdeck --help": (lambda: ["--help"], None),
        "memdeck tasks add": (lambda: ["tasks", "add", f"Added {next(count)}", "-w", str(root())], 9),
        "memdeck tasks edit": (
            lambda: ["tasks", "edit", FIRST_TITLE, "--set", f"notes=turn {next(count)}", "-w", str(root())],
            9,
        ),
        "memdeck tasks list": (lambda: ["tasks", "list", "-w", str(root())], None),
        "memdeck --maintain, nothing to do": (
            lambda: ["--maintain", str(root()), "--no-exec", "--now", NOW.isoformat()],
            None,
        ),
    }
    for name, (words, target) in verbs.items():
        yield Case(name, lambda words=words: _spent(places, [memdeck(), *words()]), None, FLOOR, target)
    facts = places.folder / "facts-hook"
    make_facts(facts, 500)
    both = places.folder / f"facts-curated-hook-{size}"
    make_facts(both, 500)
    make_curated(places, both)
    for folder, what in ((facts, "500 facts"), (both, "500 facts and 200 curated memories")):
        for event, more in (("session-start", {"source": "startup"}), ("prompt", {"prompt": MESSAGE})):

            def hook(event: str = event, folder: Path = folder, more: dict[str, str] = more) -> dict[str, float]:
                # Each one in a session of its own: a snapshot that was captured is only read again.
                given = json.dumps({"session_id": f"bench{next(count)}", "cwd": str(folder), **more}).encode()
                return _spent(places, [memdeck(), "hook", event], folder, given)

            yield Case(f"memdeck hook {event}, {what}", hook, None, FLOOR, 9)


def make_curated(places: Places, root: Path) -> None:
    """Give a workspace 200 curated memories and an identity."""
    from bench.curated_set.fillers import fillers

    folder = root / ".agh/memory"
    folder.mkdir(parents=True)
    for number, entry in enumerate(fillers(200)):
        header = f"name: {json.dumps(entry.name)}\ndescription: {json.dumps(entry.description)}\ntype: project"
        (folder / f"project_filler-{number}.md").write_text(f"---\n{header}\n---\n\n{entry.body}\n")
    write = [memdeck(), "curated", "write", "--type", "project", "--name", "Deploy window", "--content", "on Tuesdays"]
    _spent(places, [*write, "-w", str(root)])


def _spent(places: Places, command: Sequence[str], cwd: Path | None = None, given: bytes = b"") -> dict[str, float]:
    """Run a process to its end; return the seconds that processors worked for it."""
    process = subprocess.Popen(
        command,
        cwd=cwd or places.folder,
        env=places.environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    assert process.stdin is not None
    process.stdin.write(given)
    process.stdin.close()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise Unavailable(f"{' '.join(command[:3])} exits with {process.returncode}")
    return {"cpu": used.ru_utime + used.ru_stime}
