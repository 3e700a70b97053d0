"""What the tests of the application share: a real workspace, the application over it, and waiting without sleeping."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, nullcontext
from datetime import UTC, datetime
from pathlib import Path

from textual.events import Key
from textual.pilot import Pilot

from app.tui.app import MemdeckApp
from app.tui.shell import Setup
from memory.workspace import Workspace
from tests.examples import WHOLE
from tests.patience import within
from tests.pilots import quiet, without_frames, worked
from tests.widgets.harness import screen_text

NOW = datetime(2024, 1, 15, 10, 30, tzinfo=UTC)
"""The time in all tests."""


def make_workspace(folder: Path, files: Mapping[str, str]) -> Workspace:
    """A workspace with these files and no others."""
    return Workspace.init(
        folder / "shop", NOW, actor="test", state_home=folder / "state", machine_zone=UTC, files=dict(files)
    )[0]


def make_app(workspace: Workspace | None, **options: object) -> MemdeckApp:
    """The application with a clock that stands still, without a watcher and with an editor that needs no terminal."""
    options = {"clock": lambda: NOW, "watches": False, "hand_over": nullcontext, "environ": {}, **options}
    return MemdeckApp(workspace, Setup(**options))  # type: ignore[arg-type]


async def settle(pilot: Pilot[int]) -> None:
    """Wait until every key was handled, everything is drawn, and nothing is read or written any more, or it ends."""
    app = pilot.app
    assert isinstance(app, MemdeckApp)
    async with within(lambda: f"idle: {app.idle}, at work: {[*app.workers]}, on the screen:\n{screen_text(app)}"):
        while True:
            await quiet(app)
            if await worked(app, but=("watch", "job")):
                continue
            # What is read while it ends is shown nowhere any more; an error that ended it is raised where it was begun.
            if app.idle or app._exit or app.failure is not None:
                return
            await asyncio.sleep(0.001)


async def jobs_done(pilot: Pilot[int]) -> None:
    """Wait until no job runs any more, and what it found is shown; jobs that never end are none of these."""
    app = pilot.app
    assert isinstance(app, MemdeckApp)
    await pilot.pause()
    async with within(lambda: f"jobs: {[*app.jobs.running]}, on the screen:\n{screen_text(app)}"):
        while app.jobs.running:
            await pilot.pause(0.005)


@asynccontextmanager
async def running(
    app: MemdeckApp, size: tuple[int, int] = (120, 36), *, says: bool = False, frames: bool = False
) -> AsyncIterator[Pilot[int]]:
    """The application on a screen of so many cells, after its first look; with `says` it shows what it says, too.

    What is drawn is what the test looks at, with all examples its end as well; with `frames` all that a terminal gets.
    """
    try:
        with nullcontext() if frames else without_frames():
            async with app.run_test(size=size, notifications=says) as pilot:
                await settle(pilot)
                yield pilot
                # What ends has no picture any more.
                if WHOLE and app.screen_stack and not app._exit:
                    screen_text(app)
    finally:
        if app.workspace is not None:
            # A process ends with its application; here the next one comes, and files may be open until then.
            app.workspace.store.history.close()


async def press(pilot: Pilot[int], *keys: str) -> None:
    """Press keys one after the other, each after what the one before did."""
    for key in keys:
        await pilot.app._press_keys([key])
        await settle(pilot)


async def type_text(pilot: Pilot[int], text: str) -> None:
    """Type characters into what has the focus."""
    await pilot.app._press_keys([NAMES.get(character, character) for character in text])
    await settle(pilot)


async def burst(pilot: Pilot[int], *keys: str) -> None:
    """Send keys that reach the application together, as over a slow line; names of keys, or texts."""
    for word in keys:
        for key in [word] if word in NAMED else word:
            send(pilot, key)
    await settle(pilot)


def send(pilot: Pilot[int], key: str) -> None:
    """Send a key, a character or the name of one that has none, and wait for nothing."""
    pilot.app.post_message(Key(NAMES.get(key, key), key if len(key) == 1 else None))


NAMED = ("ctrl+f", "ctrl+s", "enter", "escape", "down")
"""Keys that have names of several letters."""

NAMES = {
    "!": "exclamation_mark",
    ";": "semicolon",
    "?": "question_mark",
    "<": "less_than_sign",
    ">": "greater_than_sign",
    "[": "left_square_bracket",
    "]": "right_square_bracket",
    " ": "space",
    ":": "colon",
    "/": "slash",
    "-": "minus",
    "+": "plus",
    ",": "comma",
    ".": "full_stop",
}


def task_of(workspace: Workspace, title: str) -> object:
    """The task of a title as the files have it now."""
    return next(task for task in workspace.snapshot().tasks.items if task.title == title)
