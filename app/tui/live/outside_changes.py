"""Outside changes: after each refresh, what other programs changed is added to the change log."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Sequence
from contextlib import suppress
from datetime import datetime
from functools import partial

from app.tui.shell import ACTOR, Part, ThreadReport
from memory.errors import MemdeckError
from memory.history.changes import row, views_of
from memory.history.outside import LostFile, OutsideRemoval, lost_files, outside_removals
from memory.review import undo_redo
from memory.storage.log.history import unturned
from memory.workspace import Workspace
from widgets.pane.base import Pane
from widgets.panes.changes import LoggedChange

GIVEN_SECONDS = 5.5
"""Seconds after which a just lost file is checked again: the log allows nearly as long for its return."""

MOST = 1000
"""The count stops here; a larger number would tell no more."""

QUIET = (ACTOR, "monitor")
"""Actors whose changes are not counted: the user's own, and the results of checks, which Monitors shows."""


class OutsideChanges(Part):
    """Counts what others changed since Changes was last viewed, and reports each problem with the log once."""

    def set_up(self) -> None:
        """Nothing changed yet."""
        self._one = threading.Lock()
        self.count = 0
        self._seen: int | None = None
        self._newest = 0
        self._counted: Hashable = None
        self._said: set[str] = set()
        self._found = (False, False)
        self._turns = (False, False)
        self._sure = False
        self.removals: tuple[OutsideRemoval, ...] = ()
        """The changes by other programs that removed entries which are still missing."""
        self.waiting: tuple[OutsideRemoval, ...] = ()
        """The same, as the reading thread last found them."""
        self.missing: tuple[LostFile, ...] = ()
        """The files that are missing or empty, as the reading thread last found them."""
        self.lost: tuple[LostFile, ...] = ()
        """Those of them that are recorded in the change log."""
        self.reversals: list[Callable[[], None]] = []
        """What undo does first, the last one next: decisions since the last change, which no log of changes has."""

    def look(self, now: datetime) -> bool:
        """Log what other programs did since the last call; return True if that was anything. For the reading thread."""
        with self._one, self.workspace.together.glance():
            return self._look(self.workspace, now)

    def _look(self, workspace: Workspace, now: datetime) -> bool:
        history = workspace.store.history
        found = 0
        with suppress(MemdeckError):
            if self._seen is None:
                seen = self.app.pane_state.seen_change
                self._seen = history.state()[0] if seen is None else seen
            found = workspace.notice(now)
        count = self.count
        # Proposals accepted for memory outside the workspace are in another log.
        states = undo_redo.state(workspace, ACTOR)
        current = (states, self._seen or 0)
        if self._counted != current:
            count = history.count(self._seen or 0, QUIET, MOST)
            with suppress(MemdeckError):
                self._found = undo_redo.undo_and_redo_available(workspace, ACTOR)
                self.waiting = outside_removals(workspace, now)
                self._counted = current
        self._newest = states[0][0]
        warnings = tuple(warning for warning in history.warnings if warning not in self._said)
        self._said.update(warnings)
        self.missing = lost_files(workspace)
        report = partial(self._noticed, count, warnings, self._found, self.waiting, self.missing)
        self.app.post_message(ThreadReport(report))
        return found > 0

    @property
    def seen(self) -> int | None:
        """The newest change that was on view in Changes; None: the log was never read."""
        return self._seen

    def looked_at(self) -> None:
        """Mark all changes as seen: Changes is open."""
        self._seen = max(self._seen or 0, self._newest)
        if self.count:
            self.count = 0
            self.app.overview.show_badges()

    def lost_in(self, pane: Pane | None) -> LostFile | None:
        """Return the file of a pane that is missing or empty, else None."""
        if pane is None:
            return None
        return next((one for one in self.lost if one.name in pane.files), None)

    def say_lost(self) -> None:
        """Let each pane say what its lost file contained and which key restores it."""
        for pane in self.app.panes.mounted.values():
            lost = self.lost_in(pane)
            if lost is None or lost.time is None:
                pane.say_lost("")
                continue
            local, now = lost.time.astimezone(self.app.zone), self.app.clock().astimezone(self.app.zone)
            since = f"{local:%H:%M}" if local.date() == now.date() else f"{local:%Y-%m-%d %H:%M}"
            pane.say_lost(f"{lost.sentence(since)}: {self.app.key_of('change.undo')} brings it back.")

    def can_undo_or_redo(self, way: str) -> bool:
        """Return whether there was something to undo or redo at the last refresh, or a file that undo restores."""
        if way == "undo" and self.lost and self.lost_in(self.app.pane) is not None:
            return True
        return self._turns[way == "redo"] or (way == "undo" and bool(self.reversals))

    def may_undo_or_redo(self, way: str) -> bool:
        """Return whether there is something to undo or redo, or may be, because something is or was written since the
        refresh.
        """
        settled = self._sure and self.app.edits.idle and self.app.refresher.idle
        return not settled or self.can_undo_or_redo(way)

    def undo_next(self, act: Callable[[], None]) -> None:
        """Let undo call `act` next, unless something is written before."""
        self.reversals.append(act)
        self.app.refresh_keys()

    def changed(self) -> None:
        """Note that a change was written: what can be undone is known after the next refresh."""
        self._sure = False
        self.reversals.clear()

    def _noticed(
        self,
        count: int,
        warnings: tuple[str, ...],
        turns: tuple[bool, bool],
        removals: tuple[OutsideRemoval, ...],
        missing: tuple[LostFile, ...],
    ) -> None:
        """Show how much is new; in the application's thread.

        `count`: the unseen changes of others; `warnings`: problems with the log; `turns`: whether there is something to
        undo and to redo; `removals`: what other programs removed; `missing`: the lost files.
        """
        self._sure = True
        if turns != self._turns:
            self._turns = turns
            self.app.refresh_keys()
        pane = self.app.pane
        if pane is not None and pane.pane_id == "changes":
            self.looked_at()
        elif count != self.count:
            self.count = count
            self.app.overview.show_badges()
        for warning in warnings:
            self.app.say(warning, title="History", severity="warning")
        if any(one.change is None for one in missing):
            # Too recent: programs leave such a state for a moment, and nothing triggers a refresh when it is over.
            self.app.set_timer(GIVEN_SECONDS, self.app.refresher.request)
        lost = tuple(one for one in missing if one.change is not None)
        if lost != self.lost:
            self.lost = lost
            self.app.refresh_keys()
            self.app.overview.show_badges()
        self.say_lost()
        if removals != self.removals:
            self.removals = removals
            self.app.refresh_keys()

    # The change log for the pane Changes; called in threads

    def newest(self, limit: int) -> Sequence[LoggedChange]:
        """Return the newest changes, the newest first."""
        workspace = self.app.workspace
        if workspace is None:
            return []
        found = undo_redo.list_changes(workspace, limit=limit)
        rows = [row(one.record) for one in found]
        return [{**one, "summary": unturned(one["summary"])} if one["undoneBy"] else one for one in rows]

    def told(self, ref: str) -> Sequence[object]:
        """Return what a change did, entry by entry."""
        workspace = self.app.workspace
        if workspace is None:
            return ()
        found = undo_redo.find_change(workspace, ref, ACTOR)
        return views_of(workspace, found.record, found.history)
