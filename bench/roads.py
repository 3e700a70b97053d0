"""Count the roads of the application: the files and calls that a key, or a change from outside, passes through.

    python -m bench.roads [--tasks N] [--files]

Files and calls are those of `app`, `widgets` and `memory`, in all threads: from the first key until the pane shows what
came of it, and with the idle pass after that, until nothing is read, written or drawn any more. A second run of the
same road in one application gives the numbers: the first one imports.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import threading
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import nullcontext
from datetime import UTC
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType
from typing import Any

from app.tui.app import MemdeckApp
from app.tui.shell import Setup
from app.tui.spine import Changed
from bench.outside_part import edit
from bench.places import NOW, ROOT
from bench.workspaces import FIRST_TITLE, Size, workspace_files
from memory.workspace import Workspace

TOPS = tuple(f"{ROOT / name}{os.sep}" for name in ("app", "widgets", "memory"))
"""The folders whose files count."""

PATIENCE = 60.0
"""Seconds that one road may take."""


class Road:
    """Counts calls by file while it is open; installed once for every thread, because pools keep their threads."""

    def __init__(self) -> None:
        self.calls: Counter[str] = Counter()
        self.shown: Counter[str] | None = None
        self.is_open = False

    def __call__(self, frame: FrameType, event: str, argument: Any) -> None:  # noqa: ARG002
        """Take a profiler's event."""
        if self.is_open and event == "call":
            name = frame.f_code.co_filename
            if name.startswith(TOPS):
                self.calls[name] += 1

    async def over(self, walk: Callable[[], Awaitable[None]]) -> tuple[Counter[str], Counter[str]]:
        """Return the calls by file of what `walk` does: until it is shown, and all of them."""
        self.calls, self.shown, self.is_open = Counter(), None, True
        try:
            await walk()
        finally:
            self.is_open = False
        return self.shown or self.calls, self.calls

    def idle(self, begin: Callable[[], None]) -> None:
        """Begin the idle pass; what was called before is what the key itself needs."""
        self.shown = self.shown or Counter(self.calls)
        begin()


async def rest(app: MemdeckApp) -> None:
    """Wait until nothing is read, written or about to be drawn."""
    async with asyncio.timeout(PATIENCE):
        calm = 0
        while calm < 5:
            await asyncio.sleep(0.02)
            busy = not app.idle or any(not worker.is_finished and worker.group != "watch" for worker in app.workers)
            calm = 0 if busy else calm + 1


async def count(folder: Path, tasks: int) -> dict[str, tuple[Counter[str], Counter[str]]]:
    """Return the calls by file of each road, until it is shown and all, in a workspace of so many tasks."""
    files = workspace_files(Size(tasks, tasks), NOW)
    workspace = Workspace.init(
        folder / "work", NOW, actor="bench", state_home=folder / "state", machine_zone=UTC, files=files
    )[0]
    app = MemdeckApp(workspace, Setup(clock=lambda: NOW, environ={}, watches=False, hand_over=nullcontext))
    road = Road()
    threading.setprofile(road)
    sys.setprofile(road)
    found: dict[str, tuple[Counter[str], Counter[str]]] = {}
    begin = app.overview.request
    app.overview.request = lambda: app.call_after_refresh(road.idle, begin)  # type: ignore[method-assign]
    path = workspace.memory / "tasks.md"
    try:
        async with app.run_test(size=(120, 36)) as pilot:

            async def keys(*names: str) -> None:
                for name in names:
                    await pilot.press(name)
                await rest(app)

            async def outside(number: int) -> None:
                edit(
                    path,
                    path.read_bytes().replace(f"{FIRST_TITLE} {number - 1}".encode(), FIRST_TITLE.encode()),
                    str(number),
                )
                app.post_message(Changed(frozenset({"tasks.md"})))
                await rest(app)

            await rest(app)
            for _ in range(2):
                await keys("home")
                found["finish a task by key"] = await road.over(lambda: keys("d", "enter"))
                found["undo by key"] = await road.over(lambda: keys("u"))
                await keys("home")
                found["move the cursor"] = await road.over(lambda: keys("j"))
            for number in (1, 2):
                found["one title changed outside"] = await road.over(lambda number=number: outside(number))  # type: ignore[misc]
    finally:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]
        workspace.store.history.close()
    return found


def main() -> None:
    """Print the files and calls of each road."""
    parser = argparse.ArgumentParser(prog="python -m bench.roads", description=__doc__)
    parser.add_argument("--tasks", type=int, default=100, help="tasks of the workspace (default: 100)")
    parser.add_argument("--files", action="store_true", help="list the files of each road, with their calls")
    options = parser.parse_args()
    with TemporaryDirectory(prefix="memdeck-roads-") as folder:
        found = asyncio.run(count(Path(folder), options.tasks))
    for name, (shown, calls) in found.items():
        idle = f"; with the idle pass {len(calls)} files, {calls.total():,} calls" if shown != calls else ""
        print(f"{name}: {len(shown)} files, {shown.total():,} calls{idle}")
        if options.files:
            for path, number in calls.most_common():
                print(f"  {shown[path]:>7,} {number:>7,}  {Path(path).relative_to(ROOT)}")


if __name__ == "__main__":
    main()
