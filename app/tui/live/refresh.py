"""The refresher: reads the files in a worker, the visible pane first, and keeps the screen up to date."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from functools import partial
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textual.worker import Worker, get_current_worker

from app.tui.shell import Part, Shell, ThreadReport
from memory.errors import MemdeckError
from memory.files import MEMORY_FILES
from widgets.pane.base import Pane

if TYPE_CHECKING:
    from datetime import datetime

    from memory.files.snapshot import Snapshot
    from memory.storage.watch import Watcher
    from widgets.pane.base import Contents

AT_ONCE = 8_000_000
"""Bytes of files that are read before the first frame: they take no longer than the frame itself.

In workspaces up to this size everything is counted at once, too: that is done before any key can be pressed.
"""

QUIET_SECONDS = 0.2
"""Seconds without a key after which work that can wait goes on."""

LONGEST_WAIT = 5.0
"""The most seconds that such work waits, however many keys come."""

_ENTRIES = frozenset(MEMORY_FILES) - {"config.md"}
"""Files in which only entries change; no other system and no setting depends on them."""


def _size(folder: Path, names: Iterable[str]) -> int:
    """Return the total bytes of some files; a large number if it cannot be found out."""
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
    """What other parts do at each refresh; hooks are called in the order in which they were added."""

    def __init__(self) -> None:
        """Start without hooks."""
        self.before: list[Callable[[Pane, datetime], None]] = []
        """In the reading thread, before the pane is read."""
        self.once: list[Callable[[], None]] = []
        """In that thread, after the first refresh only."""
        self.behind: list[Callable[[Pane, Snapshot, datetime], None]] = []
        """In that thread, after the pane was read: work that can wait until no keys come."""
        self.shown: list[Callable[[], None]] = []
        """A pane shows new content."""
        self.shown_first: list[Callable[[Pane], None]] = []
        """A pane shows content for the first time; called after those."""
        self.rested: list[Callable[[], None]] = []
        """Nothing more is to be read now."""
        self.failed: list[Callable[[Exception], None]] = []
        """The files could not be read."""
        self.changed: list[Callable[[frozenset[str]], None]] = []
        """The watcher saw changes of these files; empty: it is not known which."""


class Refresher(Part):
    """Reads files. One worker runs at a time; requests that come meanwhile cause one more read after it."""

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
        self._failure = ""
        self._leaves_first_key = False
        self.had_first_look = False
        self.other_changes = 0
        """How often something else than entries of memory files may have changed."""

    @property
    def idle(self) -> bool:
        """Whether nothing is being read or about to be."""
        return not self._busy

    def request(self, after: Callable[[], None] | None = None, names: frozenset[str] = frozenset()) -> None:
        """Refresh; `after` is called once the visible pane shows the result.

        `names` are the only files that changed; without it anything may have.
        """
        self._fresh.clear()
        if not names or not names <= _ENTRIES:
            self.other_changes += 1
        self._start(after)

    def pressed(self) -> None:
        """Note a key press: work that can wait is delayed."""
        self._pressed = time.monotonic()

    def first(self, pane: Pane) -> None:
        """Show the first pane in the first frame if its files are small enough for that, else soon after."""
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
                # Counting for the sidebar and the header waits until the titles are on the screen.
                pane.call_after_refresh(self._titles_stand)
                return
        pane.focus_list()
        self._after_first_frame()

    def _titles_stand(self) -> None:
        """Refresh once no key comes: the user presses a key after seeing the titles, and it must not wait for a long
        refresh.
        """
        self.pressed()
        self._leaves_first_key = True
        self._after_first_frame()

    def _after_first_frame(self) -> None:
        """Do the work that could wait."""
        self.had_first_look = True
        self.request()

    def show(self, pane: Pane) -> None:
        """Bring a pane that was opened up to date."""
        if pane.pane_id not in self._fresh:
            self._start(None)

    def reload(self) -> None:
        """Read the files again now."""
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
        """Read for the visible pane, then count for the sidebar and the header; in a thread."""
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
                # The previous content stays on the screen; the file may be back in a moment.
                app.post_message(ThreadReport(partial(self.failed, contents.refusal)))
            else:
                if large and pane.contents is None:
                    # The user presses a key after seeing the first rows, so work that can wait is delayed as after a
                    # key.
                    self._pressed = inf
                app.post_message(ThreadReport(partial(self.looked, pane, contents)))

            def go_on() -> bool:
                return self._go_on(worker, large)

            if "tasks.md" in pane.files and go_on():
                # The detail needs a ref after each key; computing all of them now is faster later.
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
        """Return whether the worker should go on; with `wait` only some time after the last key and the first rows."""
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
            hook()
        for begin in self.hooks.shown_first if first else ():
            begin(pane)
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
        """Read again if that was requested meanwhile; start watching after the first refresh."""
        self._busy = False
        if self._left:
            return
        if self._again:
            self._start(None)
            return
        if self._watcher is None:
            self._watch()
        for hook in self.hooks.rested:
            hook()

    def tick(self) -> None:
        """Refresh because time passed."""
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
            # Changes between the first refresh and here are found by one more refresh.
            watcher.start()
            app.post_message(ThreadReport(partial(self.files_changed, frozenset())))

        app.work(start, group="watch")

    def files_changed(self, names: frozenset[str]) -> None:
        """Refresh after files changed (no names: it is not known which); the change log is updated after reading."""
        for hook in self.hooks.changed:
            hook(names)
        self.request(names=names)

    def stop(self) -> None:
        """Stop watching for good: a refresh in progress does not start it again."""
        self._left = True
        watcher, self._watcher = self._watcher, None
        if watcher is not None:
            watcher.stop()
