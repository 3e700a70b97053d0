"""Reads the files in a worker for the visible pane, after the start and after each `Changed`."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from textual.message import Message

from app.tui.shell import ThreadReport, known_error
from app.tui.spine import Changed, Part
from memory.base.safe_text import visible
from memory.errors import MemdeckError
from memory.storage.watch import Watcher
from widgets.chrome.header import Alert
from widgets.pane.base import Contents, Pane
from widgets.text.styled_text import Piece, line

AT_ONCE = 8_000_000
"""Bytes of files that are read before the first frame: they take no longer than the frame itself."""


def size_of(folder: Path, names: Iterable[str]) -> int:
    """Return the total bytes of those of the files that exist."""
    return sum(os.stat(folder / name).st_size for name in names if os.path.exists(folder / name))


def not_read(error: Exception) -> Alert:
    """Return the alert that the screen does not show the current content of a file."""
    return Alert(line(Piece(f"not read: {visible(str(error))[:60]}", "alert")))


@dataclass
class Shown(Message):
    """A pane shows what was read; `first`: it showed nothing before."""

    pane: Pane
    first: bool


class Rest(Message):
    """Nothing is being read any more."""


class Refresher(Part):
    """Reads files. One worker runs at a time; requests that come meanwhile cause one more read after it."""

    def set_up(self) -> None:
        """Nothing is read yet."""
        self._again = False
        self._fresh: set[str] = set()
        self._watcher: Watcher | None = None
        self._left = False
        self._failure = ""

    def first(self, pane: Pane) -> None:
        """Show the first pane in the first frame if its files are small enough for that, else soon after."""
        pane.focus_list()
        if size_of(self.workspace.memory, pane.files) <= AT_ONCE:
            try:
                contents = pane.read(self.workspace.snapshot().readable(), self.app.clock())
            except (MemdeckError, OSError) as error:
                self.failed(error)
            else:
                self._show(pane, contents)
                # Counting for the sidebar and the header waits until the titles are on the screen.
                pane.call_after_refresh(self._after_first_frame)
                return
        self._after_first_frame()

    def _after_first_frame(self) -> None:
        self.app.state.had_first_look = True
        # In a thread of its own, so that no key waits for an import while large files are read.
        self.app.work(self.app.load_parts, group="parts")
        self.read()

    def read(self) -> None:
        """Read for the visible pane, because files or the time changed."""
        self._fresh.clear()
        self._start()

    def show(self, pane: Pane) -> None:
        """Bring a pane that was opened up to date."""
        if pane.pane_id not in self._fresh:
            self._start()

    def _start(self) -> None:
        pane = self.app.pane
        if self.app.state.reading:
            self._again = True
        elif pane is not None and self.app.workspace is not None:
            self.app.state.reading, self._again = True, False
            self.app.run_worker(lambda: self._work(pane), group="look", thread=True, exit_on_error=False)

    def _work(self, pane: Pane) -> None:
        """Read for a pane, in a thread."""
        app = self.app
        try:
            snapshot = self.workspace.snapshot().readable()
            contents = pane.read(snapshot, app.clock())
            if contents.refusal is not None and pane.contents is not None:
                # The previous content stays on the screen; the file may be back in a moment.
                app.post_message(ThreadReport(partial(self.failed, contents.refusal)))
            else:
                app.post_message(ThreadReport(partial(self._show, pane, contents)))
            if "tasks.md" in pane.files:
                # The entry beside the list shows the ref, which depends on all tasks: no key waits for that.
                _ = [task.ref for task in snapshot.tasks.items[:1]]
        except Exception as error:
            app.post_message(ThreadReport(partial(self.failed, error)))
        finally:
            app.post_message(ThreadReport(self._ended))

    # In the application's thread

    def _show(self, pane: Pane, contents: Contents) -> None:
        """Show what was read."""
        if not pane.is_attached:
            return
        first = pane.contents is None
        self._failure = ""
        pane.put(contents, flash=not first)
        self._fresh.add(pane.pane_id)
        if pane is self.app.pane:
            after, self.app.after_reading = self.app.after_reading, []
            for act in after:
                act()
        self.app.post_message(Shown(pane, first))
        self.app.refresh_keys()

    def failed(self, error: Exception) -> None:
        """Say why the files could not be read, once for each reason, and in the header until they can be read."""
        if str(error) != self._failure:
            self._failure = str(error)
            self.app.say_error(known_error(error))
        self.app.main_screen.header.alerts = (not_read(error),)

    def _ended(self) -> None:
        """Read again if that was requested meanwhile; start watching after the first read."""
        self.app.state.reading = False
        if self._left:
            return
        if self._again:
            self._start()
            return
        if self._watcher is None and self.app.setup.watches:
            self._watch()
        self.app.post_message(Rest())

    # The watcher

    def _watch(self) -> None:
        app = self.app
        watcher = self._watcher = self.workspace.watcher(lambda names: app.post_message(Changed(names)))

        def start() -> None:
            # Changes between the first read and here are found by one more.
            watcher.start()
            app.post_message(Changed(frozenset()))

        app.work(start, group="watch")

    def stop(self) -> None:
        """Stop watching for good: a read in progress does not start it again."""
        self._left = True
        watcher, self._watcher = self._watcher, None
        if watcher is not None:
            watcher.stop()
