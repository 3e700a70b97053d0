"""Looking: reads the files in a worker, the visible pane first, and keeps everything on the screen true."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textual.timer import Timer
from textual.worker import Worker, get_current_worker

from app.tui.garbage_collection import Collecting
from app.tui.messages import Briefed, Counted, FilesChanged, Looked, LookEnded, LookFailed
from app.tui.part import Part
from memory.errors import MemdeckError
from memory.files.snapshot import MEMORY_FILES
from widgets.pane.base import Pane

from . import header_status as header

if TYPE_CHECKING:
    from app.tui.app import MemdeckApp
    from memory.base.problems import Problem
    from memory.files.snapshot import Snapshot
    from memory.storage.watch import Watcher
    from widgets.pane.offers import Badge


AT_ONCE = 8_000_000
"""Bytes of files that are read before the first frame: they take no longer than the frame itself.

Workspaces of at most so many are counted at once as well, for that is done before anybody can press a key.
"""

QUIET_SECONDS = 0.2
"""How long no key came when what can wait goes on."""

LONGEST_WAIT = 5.0
"""The most seconds that it waits, however many keys come."""

SCHEDULING = frozenset({"monitors.md", "config.md"})
"""The files that say what runs by itself, and when."""

REST_SECONDS = 2.0
"""How long no key came when garbage is looked for."""


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


class Looking(Part):
    """One worker reads at a time; what is asked meanwhile is read once after it."""

    def __init__(self, app: MemdeckApp) -> None:
        """Nothing is read yet."""
        super().__init__(app)
        self._busy = False
        self._again = False
        self._fresh: set[str] = set()
        self._after: list[Callable[[], None]] = []
        self._watcher: Watcher | None = None
        self._badges: dict[str, Badge] = {}
        self._warmed: set[str] = set()
        self._pressed = 0.0
        self._resting: Timer | None = None
        self._failure = ""
        self._collecting = Collecting()
        self.had_first_look = False
        self.problems: tuple[Problem, ...] = ()
        """What was wrong in the files at the last look, where they are few enough to be looked through."""

    @property
    def idle(self) -> bool:
        """Whether nothing is being read or about to be."""
        return not self._busy

    def request(self, after: Callable[[], None] | None = None) -> None:
        """Look at the files again; `after` is called once the visible pane shows them."""
        self._fresh.clear()
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
                self.failed(LookFailed(error))
            else:
                self.looked(Looked(pane, contents))
                pane.focus_list()
                # What is counted for the sidebar and the header waits until the titles stand on the screen.
                pane.call_after_refresh(self._after_first_frame)
                return
        pane.focus_list()
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
        self.app.watching.look_soon()
        self.request(lambda: self.app.say("The files were read again."))

    def _start(self, after: Callable[[], None] | None) -> None:
        if after is not None:
            self._after.append(after)
        if self._busy:
            self._again = True
            return
        pane = self.app.navigation.pane
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
            snapshot = app.workspace.snapshot().readable()
            now = app.clock()
            if pane.pane_id == "changes":
                app.noticing.look(now)
            contents = pane.read(snapshot, now)
            if contents.refusal is not None and pane.contents is not None:
                # What was read before stays on the screen; the file may be back in a moment.
                app.post_message(LookFailed(contents.refusal))
            else:
                app.post_message(Looked(pane, contents))
            if "tasks.md" in pane.files:
                # The detail asks for a ref with each key; here they are all worked out before many keys came.
                snapshot.tasks.name_all()
            large = _size(app.workspace.memory, MEMORY_FILES) > AT_ONCE

            def go_on() -> bool:
                return self._go_on(worker, large)

            if pane.pane_id != "changes" and go_on():
                app.noticing.look(now)
            for step in (self._count, self._brief):
                if go_on():
                    step(snapshot, now)
            if go_on():
                app.drafting.look()
            if pane.pane_id not in self._warmed and go_on():
                self._warmed.add(pane.pane_id)
                pane.warm(go_on)
        except Exception as error:
            app.post_message(LookFailed(error))
        finally:
            app.post_message(LookEnded())

    def _go_on(self, worker: Worker[Any], wait: bool) -> bool:
        """Whether the worker is to go on with what can wait; with `wait` once the keys are quiet."""
        limit = time.monotonic() + LONGEST_WAIT
        while True:
            if worker.is_cancelled or self._again:
                return False
            now = time.monotonic()
            left = self._pressed + QUIET_SECONDS - now
            if not wait or left <= 0 or now >= limit:
                return True
            time.sleep(min(left, 0.05))

    def _count(self, snapshot: Snapshot, now: Any) -> None:
        badges = {}
        for name in self.app.navigation.panes:
            try:
                badge = name.load().badge(snapshot, now)
                if any(snapshot.refused(file) for file in name.files if file in MEMORY_FILES):
                    badge = replace(badge, alert=True)
                badges[name.id] = badge
            except Exception:  # A pane of another package must not take the numbers of the others with it.
                if name.own:
                    raise
        self.app.post_message(Counted(badges))

    def _brief(self, snapshot: Snapshot, now: Any) -> None:
        from memory.files.status import brief
        from memory.systems import brief_lines_of, systems_of

        found = brief(snapshot, now)
        notice = self.app.watching.notice(snapshot, now)
        refused = header.not_read(snapshot.refusals.values())
        undone = self.app.noticing.waiting
        alerts = refused + header.taken_back(undone) + header.alerts(found, now, snapshot.zone, self.app.glyphs, notice)
        news = self.app.morning.news(now)
        assert self.app.workspace is not None
        # Only the brief shows it, and an agent may have very many files.
        stand = brief_lines_of(self.app.workspace, now) if "brief" in self.app.navigation.mounted else ()
        if header.is_small(found):
            others = tuple(
                problem
                for system in systems_of(self.app.workspace)
                if system.name != "files"
                for problem in system.check()
            )
            others = tuple(one.problem() for one in self.app.noticing.missing if one.change is not None) + others
            upkeep = header.upkeep(self.app.workspace, snapshot, now) + header.upkeep_of_others(self.app.workspace, now)
            self.app.post_message(Briefed(alerts, notice, found.problems + others, upkeep, news, stand, undone))
        else:
            self.app.post_message(Briefed(alerts, notice, news=news, others=stand, undone=undone))

    # In the application's thread

    def looked(self, message: Looked) -> None:
        """Show what was read."""
        pane = message.pane
        if not pane.is_attached:
            return
        first = pane.contents is None
        self._failure = ""
        pane.put(message.contents, flash=not first)
        self.app.noticing.say_lost()
        if "filling" in self.app.__dict__:
            # Where no form was ever opened there is none to tell.
            self.app.filling.files_changed()
        self._fresh.add(pane.pane_id)
        self.show_badges()
        if pane is self.app.navigation.pane:
            if first:
                self.app.navigation.first_look(pane)
            after, self._after = self._after, []
            for one in after:
                one()
        self.app.refresh_keys()

    def counted(self, message: Counted) -> None:
        """Show how much is in each pane."""
        self._badges = dict(message.badges)
        self.show_badges()

    def show_badges(self) -> None:
        """Draw the sidebar's numbers again; a worker may have counted them while the application ends."""
        if not self.app.desk.is_mounted or not self.app.is_running:
            return
        from widgets.chrome.sidebar import PaneEntry

        entries = []
        for name in self.app.navigation.panes:
            badge = self._badges.get(name.id)
            count = (self.app.noticing.count or None) if name.id == "changes" else (badge.count if badge else None)
            alert = bool(badge and badge.alert) or any(one.name in name.files for one in self.app.noticing.lost)
            entries.append(PaneEntry(name.id, name.key, name.title, count, alert))
        self.app.desk.sidebar.set_entries(entries)

    def briefed(self, message: Briefed) -> None:
        """Show what needs attention in the header."""
        if not self.app.desk.is_mounted or not self.app.is_running:
            return
        self.app.desk.header.alerts = message.alerts
        self.problems = message.problems
        pane = self.app.navigation.mounted.get("brief")
        if pane is not None and pane.contents is not None:
            pane.say_more(  # type: ignore[attr-defined]
                message.problems, message.upkeep, message.notice, message.news, message.others, message.undone
            )

    def failed(self, message: LookFailed) -> None:
        """Say why the files could not be read."""
        error = message.error
        if str(error) == self._failure:
            return
        self._failure = str(error)
        if isinstance(error, MemdeckError):
            self.app.say_error(error)
        else:
            self.app.say(f"{type(error).__name__}: {error}", severity="error")

    def ended(self) -> None:
        """Read again if that was asked meanwhile; start watching after the first look."""
        self._busy = False
        if self._again:
            self._start(None)
        else:
            self.app.changing.seen()
            self._collecting.begin()
            self._rest_soon()
            if self._watcher is None:
                self._watch()
            self.app.watching.begin()

    def _rest_soon(self) -> None:
        """Look for garbage once nobody presses keys, however often files change meanwhile."""
        if self._resting is None:
            self._resting = self.app.set_timer(REST_SECONDS, self._rest)

    def _rest(self) -> None:
        if time.monotonic() - self._pressed < REST_SECONDS:
            self._resting = self.app.set_timer(REST_SECONDS, self._rest)
        else:
            self._resting = None
            self._collecting.rest()

    def tick(self) -> None:
        """Time went by: look again without a flash."""
        self.request()

    # The watcher

    def _watch(self) -> None:
        app = self.app
        workspace = app.workspace
        if workspace is None or not app.watches:
            return
        watcher = self._watcher = workspace.watcher(lambda names: app.post_message(FilesChanged(names)))

        def start() -> None:
            # What changed between the first look and here is noticed by looking once more.
            watcher.start()
            app.post_message(FilesChanged(frozenset()))

        app.run_worker(start, group="watch", thread=True, exit_on_error=False)

    def files_changed(self, names: frozenset[str]) -> None:
        """Files changed (none are named where nobody knows which): look again; who it was is noted after the look."""
        if not names or names & SCHEDULING:
            self.app.watching.look_soon()
        self.request()

    def end(self) -> None:
        """The application is gone."""
        self._collecting.end()

    def stop(self) -> None:
        """Stop watching."""
        watcher, self._watcher = self._watcher, None
        if watcher is not None:
            watcher.stop()
