"""The refresher: reads the files in a worker, the visible pane first, and keeps the screen up to date."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

from app.tui.shell import Changed, Part, ThreadReport
from memory.errors import MemdeckError
from memory.storage.watch import Watcher
from widgets.pane.base import Contents, Pane

AT_ONCE = 8_000_000
"""Bytes of files that are read before the first frame: they take no longer than the frame itself."""


def size_of(folder: Path, names: Iterable[str]) -> int:
    """Return the total bytes of those of the files that exist."""
    return sum(os.stat(folder / name).st_size for name in names if os.path.exists(folder / name))


class Refresher(Part):
    """Reads files. One worker runs at a time; requests that come meanwhile cause one more read after it."""

    def set_up(self) -> None:
        """Nothing is read yet."""
        self._busy = False
        self._again = False
        self._fresh: set[str] = set()
        self._after: list[Callable[[], object]] = []
        self._watcher: Watcher | None = None
        self._left = False
        self._failure = ""
        self.had_first_look = False

    @property
    def idle(self) -> bool:
        """Whether nothing is being read or about to be."""
        return not self._busy

    def request(self, after: Callable[[], object] | None = None) -> None:
        """Refresh; `after` is called once the visible pane shows the result."""
        self._fresh.clear()
        self._start(after)

    def first(self, pane: Pane) -> None:
        """Show the first pane in the first frame if its files are small enough for that, else soon after."""
        if size_of(self.workspace.memory, pane.files) <= AT_ONCE:
            try:
                contents = pane.read(self.workspace.snapshot().readable(), self.app.clock())
            except (MemdeckError, OSError) as error:
                self.failed(error)
            else:
                self.looked(pane, contents)
                pane.focus_list()
                # Counting for the sidebar and the header waits until the titles are on the screen.
                pane.call_after_refresh(self._after_first_frame)
                return
        pane.focus_list()
        self._after_first_frame()

    def _after_first_frame(self) -> None:
        self.had_first_look = True
        self.request()

    def show(self, pane: Pane) -> None:
        """Bring a pane that was opened up to date."""
        if pane.pane_id not in self._fresh:
            self._start(None)

    def reload(self) -> None:
        """Read the files again now."""
        self.app.post_message(Changed(frozenset()))
        self.request(lambda: self.app.say("The files were read again."))

    def _start(self, after: Callable[[], object] | None) -> None:
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
        """Read for the visible pane, in a thread."""
        app = self.app
        try:
            snapshot = self.workspace.snapshot().readable()
            now = app.clock()
            if pane.pane_id in ("changes", "waiting"):
                app.outside_changes.look(now)
            contents = pane.read(snapshot, now)
            if contents.refusal is not None and pane.contents is not None:
                # The previous content stays on the screen; the file may be back in a moment.
                app.post_message(ThreadReport(partial(self.failed, contents.refusal)))
            else:
                app.post_message(ThreadReport(partial(self.looked, pane, contents)))
            app.load_parts()
            if "tasks.md" in pane.files:
                # The entry beside the list shows the ref, which depends on all tasks: no key waits for that.
                _ = snapshot.tasks.hexes
        except Exception as error:
            app.post_message(ThreadReport(partial(self.failed, error)))
        finally:
            app.post_message(ThreadReport(self.ended))

    # In the application's thread

    def looked(self, pane: Pane, contents: Contents) -> None:
        """Show what was read."""
        if not pane.is_attached:
            return
        first = pane.contents is None
        self._failure = ""
        pane.put(contents, flash=not first)
        self._fresh.add(pane.pane_id)
        if self.had_first_look:
            # What comes with the first titles is read once more after them.
            self.app.outside_changes.say_lost()
            self.app.form_session.files_changed()
            self.app.overview.show_badges()
        if first:
            self.app.navigation.shown(pane)
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
        self.app.overview.say_not_read(error)

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
        self.app.edits.seen()
        self.app.overview.request()
        self.app.schedule.begin()

    # The watcher

    def _watch(self) -> None:
        app = self.app
        if app.workspace is None or not app.setup.watches:
            return
        watcher = self._watcher = app.workspace.watcher(lambda names: app.post_message(Changed(names)))

        def start() -> None:
            # Changes between the first refresh and here are found by one more refresh.
            watcher.start()
            app.post_message(Changed(frozenset()))

        app.work(start, group="watch")

    def stop(self) -> None:
        """Stop watching for good: a refresh in progress does not start it again."""
        self._left = True
        watcher, self._watcher = self._watcher, None
        if watcher is not None:
            watcher.stop()
