"""The refresher: reads the files in a worker, the visible pane first, and keeps everything on the screen true."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from functools import partial
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textual.timer import Timer
from textual.worker import Worker, get_current_worker

from app.tui.live.garbage_collection import GarbageCollection
from app.tui.part import Part
from app.tui.threads import ThreadReport
from memory.errors import MemdeckError
from memory.files import MEMORY_FILES
from widgets.pane.base import Pane

if TYPE_CHECKING:
    from datetime import datetime

    from app.tui.shell import Shell
    from memory.files.snapshot import Snapshot
    from memory.storage.watch import Watcher
    from widgets.pane.base import Contents


AT_ONCE = 8_000_000
"""Bytes of files that are read before the first frame: they take no longer than the frame itself.

Workspaces of at most so many are counted at once as well, for that is done before anybody can press a key.
"""

QUIET_SECONDS = 0.2
"""How long no key came when what can wait goes on."""

LONGEST_WAIT = 5.0
"""The most seconds that it waits, however many keys come."""

REST_SECONDS = 2.0
"""How long no key came when garbage is looked for."""

_ENTRIES = frozenset(MEMORY_FILES) - {"config.md"}
"""The files of which a change is one of entries, which no other system and no setting depends on."""


def _size(folder: Path, names: Iterable[str]) -> int:
    """The bytes of some files; much where there is nobody to ask."""
    total = 0
    for name in names:
        try:
            total += os.stat(folder / name).st_size
        except FileNotFoundError:
            continue
        except OSError:
            return AT_ONCE + 1
    return total


class RefreshHooks:
    """What other parts do with a look at the files; each is called in the order in which it was added."""

    def __init__(self) -> None:
        """Nobody asked for anything."""
        self.before: list[Callable[[Pane, datetime], None]] = []
        """In the thread that reads, before the pane is read."""
        self.once: list[Callable[[], None]] = []
        """In that thread, behind the first look only."""
        self.behind: list[Callable[[Pane, Snapshot, datetime], None]] = []
        """In that thread, once the pane was read: what can wait until the keys are quiet."""
        self.shown: list[Callable[[Pane, bool], None]] = []
        """A pane shows what was read, and whether that was the first time."""
        self.rested: list[Callable[[], None]] = []
        """Nothing more is to be read now."""
        self.failed: list[Callable[[Exception], None]] = []
        """The files could not be read."""
        self.changed: list[Callable[[frozenset[str]], None]] = []
        """The watcher saw changes of these files, or nobody knows of which."""


class Refresher(Part):
    """One worker reads at a time; what is asked meanwhile is read once after it."""

    def __init__(self, app: Shell) -> None:
        """Nothing is read yet."""
        super().__init__(app)
        self.hooks = RefreshHooks()
        self._busy = False
        self._again = False
        self._fresh: set[str] = set()
        self._after: list[Callable[[], None]] = []
        self._watcher: Watcher | None = None
        self._left = False
        self._warmed: set[str] = set()
        self._pressed = 0.0
        self._resting: Timer | None = None
        self._failure = ""
        self._collecting: GarbageCollection | None = None
        """From the end of the first look on."""
        self._leaves_first_key = False
        self.had_first_look = False
        self.other_changes = 0
        """How often more may have changed than entries of memory files."""

    @property
    def idle(self) -> bool:
        """Whether nothing is being read or about to be."""
        return not self._busy

    def request(self, after: Callable[[], None] | None = None, names: frozenset[str] = frozenset()) -> None:
        """Look at the files again; `after` is called once the visible pane shows them.

        `names` says which files changed and nothing else did; without it anything may have.
        """
        self._fresh.clear()
        if not names or not names <= _ENTRIES:
            self.other_changes += 1
        self._start(after)

    def pressed(self) -> None:
        """Note that a key came: what can wait does so."""
        self._pressed = time.monotonic()

    def first(self, pane: Pane) -> None:
        """Show the first pane with the first frame where its files are short enough for that, else soon after."""
        assert self.app.workspace is not None
        if _size(self.app.workspace.memory, pane.files) <= AT_ONCE:
            try:
                snapshot = self.app.workspace.snapshot().readable()
                contents = pane.read(snapshot, self.app.clock())
            except (MemdeckError, OSError) as error:
                self.failed(error)
            else:
                self.looked(pane, contents)
                pane.focus_list()
                # What is counted for the sidebar and the header waits until the titles stand on the screen.
                pane.call_after_refresh(self._titles_stand)
                return
        pane.focus_list()
        self._after_first_frame()

    def _titles_stand(self) -> None:
        """Look again once no key comes: who sees the first titles presses one, and it does not wait for a long look."""
        self.pressed()
        self._leaves_first_key = True
        self._after_first_frame()

    def _after_first_frame(self) -> None:
        """Go on with what can wait."""
        self.had_first_look = True
        self.request()

    def show(self, pane: Pane) -> None:
        """Bring a pane that was opened up to date."""
        if pane.pane_id not in self._fresh:
            self._start(None)

    def reload(self) -> None:
        """Read again because a person asked."""
        for hook in self.hooks.changed:
            hook(frozenset())
        self.request(lambda: self.app.say("The files were read again."))

    def _start(self, after: Callable[[], None] | None) -> None:
        if after is not None:
            self._after.append(after)
        if self._busy:
            self._again = True
            return
        pane = self.app.pane
        if pane is None or self.app.workspace is None:
            return
        self._busy = True
        self._again = False
        self.app.run_worker(lambda: self._work(pane), group="look", thread=True, exit_on_error=False)

    def _work(self, pane: Pane) -> None:
        """Read for the pane that is seen, then count for the sidebar and the header; in a thread."""
        app = self.app
        worker = get_current_worker()
        try:
            assert app.workspace is not None
            large = _size(app.workspace.memory, MEMORY_FILES) > AT_ONCE
            if self._leaves_first_key:
                self._leaves_first_key = False
                self._go_on(worker, large)
            snapshot = app.workspace.snapshot().readable()
            now = app.clock()
            for hook in self.hooks.before:
                hook(pane, now)
            contents = pane.read(snapshot, now)
            if contents.refusal is not None and pane.contents is not None:
                # What was read before stays on the screen; the file may be back in a moment.
                app.post_message(ThreadReport(partial(self.failed, contents.refusal)))
            else:
                if large and pane.contents is None:
                    # Who sees the first rows presses a key: what can wait does so from then on, as after a key.
                    self._pressed = inf
                app.post_message(ThreadReport(partial(self.looked, pane, contents)))

            def go_on() -> bool:
                return self._go_on(worker, large)

            if "tasks.md" in pane.files and go_on():
                # The detail asks for a ref with each key; here they are all worked out before many keys came.
                snapshot.tasks.name_all()
            while self.hooks.once and go_on():
                self.hooks.once.pop(0)()
            for step in self.hooks.behind:
                if go_on():
                    step(pane, snapshot, now)
            if pane.pane_id not in self._warmed and go_on():
                self._warmed.add(pane.pane_id)
                pane.warm(go_on)
        except Exception as error:
            app.post_message(ThreadReport(partial(self.failed, error)))
        finally:
            app.post_message(ThreadReport(self.ended))

    def _go_on(self, worker: Worker[Any], wait: bool) -> bool:
        """Whether the worker is to go on with what can wait; with `wait` once keys and first rows are a while ago."""
        limit = time.monotonic() + LONGEST_WAIT
        while True:
            if worker.is_cancelled or self._again:
                return False
            now = time.monotonic()
            left = self._pressed + QUIET_SECONDS - now
            if not wait or left <= 0 or now >= limit:
                return True
            time.sleep(min(left, 0.05))

    # In the application's thread

    def looked(self, pane: Pane, contents: Contents) -> None:
        """Show what was read."""
        first = pane.contents is None
        if first:
            self.app.call_after_refresh(self.pressed)
        if not pane.is_attached:
            return
        self._failure = ""
        pane.put(contents, flash=not first)
        self._fresh.add(pane.pane_id)
        for hook in self.hooks.shown:
            hook(pane, first)
        if pane is self.app.pane:
            after, self._after = self._after, []
            for one in after:
                one()
        self.app.refresh_keys()

    def failed(self, error: Exception) -> None:
        """Say why the files could not be read, once for each reason."""
        if str(error) != self._failure:
            self._failure = str(error)
            if isinstance(error, MemdeckError):
                self.app.say_error(error)
            else:
                self.app.say(f"{type(error).__name__}: {error}", severity="error")
        for hook in self.hooks.failed:
            hook(error)

    def ended(self) -> None:
        """Read again if that was asked meanwhile; start watching after the first look."""
        self._busy = False
        if self._left:
            return
        if self._again:
            self._start(None)
            return
        if self._collecting is None:
            self._collecting = GarbageCollection()
        self._collecting.looked()
        self._rest_soon()
        if self._watcher is None:
            self._watch()
        for hook in self.hooks.rested:
            hook()

    def _rest_soon(self) -> None:
        """Look for garbage once nobody presses keys, however often files change meanwhile."""
        if self._resting is None:
            self._resting = self.app.set_timer(REST_SECONDS, self._rest)

    def _rest(self) -> None:
        if time.monotonic() - self._pressed < REST_SECONDS:
            self._resting = self.app.set_timer(REST_SECONDS, self._rest)
        else:
            self._resting = None
            if self._collecting is not None:
                self._collecting.rest()

    def tick(self) -> None:
        """Time went by: look again without a flash."""
        self.request()

    # The watcher

    def _watch(self) -> None:
        app = self.app
        workspace = app.workspace
        if workspace is None or not app.setup.watches:
            return
        watcher = self._watcher = workspace.watcher(
            lambda names: app.post_message(ThreadReport(partial(self.files_changed, names)))
        )

        def start() -> None:
            # What changed between the first look and here is noticed by looking once more.
            watcher.start()
            app.post_message(ThreadReport(partial(self.files_changed, frozenset())))

        app.work(start, group="watch")

    def files_changed(self, names: frozenset[str]) -> None:
        """Files changed (none are named where nobody knows which): look again; who it was is noted after the look."""
        for hook in self.hooks.changed:
            hook(names)
        self.request(names=names)

    def end(self) -> None:
        """The application is gone."""
        if self._collecting is not None:
            self._collecting.end()
            self._collecting = None
        self.stop()

    def stop(self) -> None:
        """Stop watching for good: a look that is under way starts it no more."""
        self._left = True
        watcher, self._watcher = self._watcher, None
        if watcher is not None:
            watcher.stop()
