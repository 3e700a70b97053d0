"""Steering an application in a test: waiting until it has nothing to do, however busy the machine is.

Textual's own pilot waits for the process to use no processor time, in ticks of 20 ms, two of them for each key, and
gives up after a second: too long on a machine at rest, not long enough on a busy one. Here the event loop is asked
whether anything is left for it to do. Importing this module gives Textual's pilot the same way to wait.

What stands on the screen is drawn when somebody looks at it. The frames in between, which no terminal gets here, take
a third of a test's time: `without_frames` leaves them out, unless all examples were asked for.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import textual.app
import textual.pilot
from rich.console import RenderableType
from textual._compositor import Compositor
from textual._context import visible_screen_stack
from textual.app import App
from textual.notifications import Notification
from textual.pilot import Pilot
from textual.screen import Screen
from textual.worker import WorkerFailed, WorkerState

from tests.examples import WHOLE
from tests.patience import PATIENCE, within
from tests.stylesheets import remember_rules


async def drained(*_: float) -> None:
    """Wait until the event loop has nothing to do now: what is left waits for time, for input, or for a thread."""
    loop: Any = asyncio.get_running_loop()
    while True:
        await asyncio.sleep(0)
        if not loop._ready and not (loop._scheduled and loop._scheduled[0].when() <= loop.time()):
            return


MOST_FRAMES = 40
"""After so many in a row nothing comes to rest: a scrollbar for which there is no room may come and go for ever."""


async def quiet(app: App[Any]) -> None:
    """Wait until every message was handled and everything stands on the screen; threads and timers are not waited for.

    Textual draws 60 times a second and takes another size at 120; here it does so once nothing else is to be done.
    """
    async with within(lambda: f"{app!r} has {[node for node in app.walk_children() if node.message_queue_size]}"):
        for _ in range(MOST_FRAMES):
            await drained()
            await app.animator.wait_until_complete()
            if not app.screen_stack:
                return
            # A dialog keeps its picture of the screens behind it until these have drawn what changed on them.
            waiting = [screen for screen in (*app._background_screens, app.screen) if _is_waiting(screen)]
            if app._resize_timer is not None:
                app._check_resize()
            elif waiting:
                waiting[0]._on_timer_update()
            else:
                return


def _is_waiting(screen: Screen[Any]) -> bool:
    """Whether something is to be drawn, or called once it is."""
    if screen._callbacks:
        return True
    if screen is not screen.app.screen and not (screen._update_timer and screen._update_timer._active.is_set()):
        # Textual leaves a screen behind a dialog marked as to be drawn when it has just been drawn.
        return False
    if not screen.is_current or screen.app._batch_count:
        return False
    return bool(
        screen._layout_required
        or screen._scroll_required
        or screen._repaint_required
        or screen._recompose_required
        or screen._dirty_widgets
    )


async def _screen_is_quiet(pilot: Pilot[Any], timeout: float = PATIENCE) -> bool:
    await quiet(pilot.app)
    return True


_render_update = Compositor.render_update


def _render_what_is_asked_for(
    self: Compositor, full: bool = False, screen_stack: list[Screen[Any]] | None = None, simplify: bool = False
) -> RenderableType | None:
    """Draw a picture that somebody takes; of a frame only note that it is the newest."""
    if full:
        return _render_update(self, full, screen_stack, simplify)
    visible_screen_stack.set(screen_stack or [])
    self._dirty_regions.clear()
    return None


@contextmanager
def without_frames() -> Iterator[None]:
    """Draw nothing meanwhile but what somebody looks at."""
    with pytest.MonkeyPatch.context() as patch:
        if not WHOLE:
            patch.setattr(Compositor, "render_update", _render_what_is_asked_for)
        yield


remember_rules()
# What was said goes after five seconds: on a busy machine that would be before a test looks.
Notification.time_left = property(lambda self: PATIENCE)
textual.app.wait_for_idle = textual.pilot.wait_for_idle = drained
Pilot._wait_for_screen = _screen_is_quiet


async def worked(app: App[Any], *, but: tuple[str, ...] = ()) -> bool:
    """Wait for the workers that are under way but those of some groups, and raise what one of them failed with.

    Returns whether there were any. `WorkerManager.wait_for_complete` would not let itself be interrupted.
    """
    workers = [worker for worker in app.workers if worker.group not in but and not worker.is_finished]
    if tasks := [worker._task for worker in workers if worker._task is not None]:
        await asyncio.wait(tasks)
    elif workers:
        await asyncio.sleep(0.001)
    for worker in workers:
        if worker.state is WorkerState.ERROR and worker.error is not None:
            raise WorkerFailed(worker.error)
    return bool(workers)
