"""Seeded workspaces of any size, varied as people and agents write them.

    python -m bench.workspaces L /tmp/x

writes /tmp/x/.aiter/memory with all seven files. The same size, seed and `now` give the same bytes.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from bench import small_files
from bench.entries import Writer

FIRST_TITLE = "Deploy v2.1 to staging"
"""The title of the first pending task, and so of the first line on the screen."""


@dataclass(frozen=True, slots=True)
class Size:
    """How many tasks and journal entries a workspace has, and how long they are on average, in bytes."""

    tasks: int
    journal: int
    task_bytes: int = 290
    journal_bytes: int = 186


SIZES = {"S": Size(100, 300), "M": Size(2_000, 10_000), "L": Size(20_000, 100_000)}


def size_of(name: str) -> Size:
    """Return the size called S, M or L, or the one written as `TASKSxENTRIES`; else ValueError."""
    if name.upper() in SIZES:
        return SIZES[name.upper()]
    tasks, cross, journal = name.partition("x")
    if not cross or not tasks.isdecimal() or not journal.isdecimal():
        raise ValueError(f"a size is S, M, L or TASKSxENTRIES, not {name!r}")
    return Size(int(tasks), int(journal))


def workspace_files(
    size: Size, now: datetime, *, seed: int = 1, journal_days: int = 120, completed_days: int = 30
) -> dict[str, str]:
    """Return file name → text of the seven files.

    Journal entries are spread over the `journal_days` up to `now`, completed tasks over `completed_days`, so
    the share that maintenance moves is `1 - 30 / journal_days` (before the cap) and `1 - 7 / completed_days`.
    """
    writer = Writer(seed, now)
    files = {
        "tasks.md": "".join(_tasks(writer, size, completed_days)),
        "journal.md": "".join(_journal(writer, size.journal, size.journal_bytes, journal_days)),
    }
    files.update(small_files.build(now, knowledge=20 + size.tasks // 20, monitors=3 + size.tasks // 500))
    return files


def write_workspace(folder: Path, size: Size, now: datetime, **knobs: int) -> Path:
    """Write the files of `workspace_files` below `folder`/.aiter/memory and return that path."""
    memory = folder / ".aiter" / "memory"
    (memory / "archive").mkdir(parents=True, exist_ok=True)
    for name, text in workspace_files(size, now, **knobs).items():
        (memory / name).write_bytes(text.encode("utf-8"))
    return memory


def big_document(size_mb: float = 30, entries: int = 100_000, *, seed: int = 1, now: datetime | None = None) -> bytes:
    """Return one journal of about `size_mb` million bytes that holds `entries` entries."""
    writer = Writer(seed, now or EPOCH)
    return "".join(_journal(writer, entries, int(size_mb * 1_000_000 / entries), 365)).encode("utf-8")


EPOCH = datetime.fromisoformat("2024-01-15T10:30:00+00:00")


def _tasks(writer: Writer, size: Size, completed_days: int) -> Iterator[str]:
    """Yield tasks.md in pieces: half pending, a tenth in progress, the rest completed."""
    pending = (size.tasks + 1) // 2
    running = size.tasks // 10
    yield f"---\ntype: task-list\nupdated: {writer.now:%Y-%m-%dT%H:%M:%SZ}\n---\n\n# Tasks\n\n"
    sections = (("Pending", pending), ("In Progress", running))
    first = True
    for section, count in (*sections, ("Completed (last 7 days)", size.tasks - pending - running)):
        yield f"## {section}\n\n"
        for index in range(count):
            days_ago = completed_days * index / max(count, 1)
            title = FIRST_TITLE if first else None
            yield writer.task(section, days_ago, title, size.task_bytes)
            first = False


def _journal(writer: Writer, entries: int, average: int, days: int) -> Iterator[str]:
    """Yield journal.md in pieces, newest first, `entries` spread evenly over `days` dates."""
    yield "---\ntype: activity-journal\n---\n\n"
    days = max(1, min(days, entries))
    left = entries
    for day in range(days):
        count = left // (days - day)
        left -= count
        yield f"## {writer.now - timedelta(days=day):%Y-%m-%d}\n\n"
        minutes = sorted(writer.minutes(count, before_now=day == 0), reverse=True)
        for minute in minutes:
            yield writer.entry(minute, average)


def main(arguments: list[str] | None = None) -> int:
    """Write one workspace into a folder and say how large it is."""
    parser = argparse.ArgumentParser(prog="python -m bench.workspaces", description=__doc__)
    parser.add_argument("size", type=size_of, help="S, M, L or TASKSxENTRIES, for example 50x2000")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--now", type=datetime.fromisoformat, default=EPOCH, help="ISO time with a zone")
    parser.add_argument("--journal-days", type=int, default=120)
    parser.add_argument("--completed-days", type=int, default=30)
    options = parser.parse_args(arguments)
    knobs = {name: getattr(options, name) for name in ("seed", "journal_days", "completed_days")}
    memory = write_workspace(options.folder, options.size, options.now, **knobs)
    total = sum(path.stat().st_size for path in memory.glob("*.md"))
    sys.stdout.write(f"{memory}: {total:,} bytes\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
