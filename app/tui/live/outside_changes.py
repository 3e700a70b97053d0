"""Outside changes: what other programs changed is added to the change log, and counted until Changes is viewed."""

from __future__ import annotations

import threading
from collections.abc import Hashable, Sequence
from contextlib import suppress
from datetime import datetime
from typing import NamedTuple

from app.tui.shell import ACTOR
from app.tui.spine import Part
from memory.errors import MemdeckError
from memory.files.versions.diff import ChangeView
from memory.history import logs
from memory.history.changes import row, views_of
from memory.history.outside import LostFile, OutsideRemoval, lost_files, outside_removals
from memory.history.undo import unturned
from widgets.panes.changes import OUTSIDE, LoggedChange, short_actor

MOST = 1000
"""The count stops here; a larger number would tell no more."""

QUIET = (ACTOR, "monitor")
"""Actors whose changes are not counted: the user's own, and the results of checks, which Monitors shows."""


class Outside(NamedTuple):
    """What a look at the log found.

    `unseen`: how many changes of others were not seen; `newest`: the place of the newest change; `turns`: whether there
    is something to undo and to redo; `removals`: what other programs removed; `missing`: the files that are missing or
    empty; `warnings`: the problems with the log; `told`: what another program did last, where that is to be said.
    """

    unseen: int = 0
    newest: int = 0
    turns: tuple[bool, bool] = (False, False)
    removals: tuple[OutsideRemoval, ...] = ()
    missing: tuple[LostFile, ...] = ()
    warnings: tuple[str, ...] = ()
    told: str = ""


class OutsideChanges(Part):
    """Logs outside changes, and reads the log for the pane Changes."""

    def set_up(self) -> None:
        """Nothing changed yet."""
        self._one = threading.Lock()
        self.seen: int | None = None
        """The newest change that was on view in Changes; None: the log was never read."""
        self._counted: Hashable = None
        self._said: set[str] = set()
        self._told = ""
        self._last = Outside()

    def look(self, now: datetime) -> Outside:
        """Log what other programs did since the last call, and return what the log says now; for a thread."""
        workspace, history = self.workspace, self.workspace.store.history
        with self._one, workspace.together.glance():
            with suppress(MemdeckError):
                if self.seen is None:
                    seen = self.app.pane_state.seen_change
                    self.seen = history.state()[0] if seen is None else seen
                workspace.notice(now)
            found = self._last
            # Proposals accepted for memory outside the workspace are in another log.
            states = logs.state(workspace.together, ACTOR)
            if self._counted != (states, self.seen):
                told = self._newest() if self.app.setup.tells and 0 < found.newest < states[0][0] else found.told
                unseen = history.count(self.seen or 0, QUIET, MOST)
                found = found._replace(unseen=unseen, newest=states[0][0], told=told)
                with suppress(MemdeckError):
                    turns = logs.undo_and_redo_available(workspace.together, ACTOR)
                    found = found._replace(turns=turns, removals=outside_removals(workspace, now))
                    self._counted = (states, self.seen)
            self._last = found._replace(missing=lost_files(workspace), warnings=tuple(history.warnings))
            return self._last

    def _newest(self) -> str:
        record = logs.list_changes(self.workspace.together, limit=1)[0].record
        if record.actor == OUTSIDE:
            name, _, did = record.summary.partition(": ")
            return f"Another program {did if ' ' in did else f'{did} {name}'}"
        return "" if record.actor in QUIET else f"{short_actor(record.actor)}: {record.summary}"

    def take(self, found: Outside) -> None:
        """Note what a look found, and say what is wrong; in the application's thread."""
        app, state = self.app, self.app.state
        before = (state.turns, state.removals, state.lost)
        state.turns, state.removals, state.sure = found.turns, found.removals, True
        state.lost = tuple(one for one in found.missing if one.change is not None)
        state.count = found.unseen
        if app.pane is not None and app.pane.pane_id == "changes":
            self.viewed()
        if found.told not in ("", self._told):
            self._told = found.told
            app.say(found.told)
        for warning in found.warnings:
            if warning not in self._said:
                self._said.add(warning)
                app.say(warning, title="History", severity="warning")
        for pane in state.mounted.values():
            lost, zone = state.lost_in(pane), app.zone
            words = ""
            if lost is not None and lost.time is not None:
                local, now = lost.time.astimezone(zone), app.clock().astimezone(zone)
                since = f"{local:%H:%M}" if local.date() == now.date() else f"{local:%Y-%m-%d %H:%M}"
                words = f"{lost.sentence(since)}: {app.key_of('change.undo')} brings it back."
            pane.say_lost(words)
        if before != (state.turns, state.removals, state.lost):
            app.refresh_keys()

    def viewed(self) -> None:
        """Mark all changes as seen: Changes is open. Before the first look nothing is known of them."""
        if self.seen is not None:
            self.seen = max(self.seen, self._last.newest)
        self.app.state.count = 0

    # For the pane Changes; called in threads

    def newest(self, limit: int) -> Sequence[LoggedChange]:
        """Return the newest changes, the newest first."""
        self.look(self.app.clock())
        rows = [row(one.record) for one in logs.list_changes(self.workspace.together, limit=limit)]
        return [{**one, "summary": unturned(one["summary"])} if one["undoneBy"] else one for one in rows]

    def told(self, ref: str) -> Sequence[ChangeView]:
        """Return what a change did, entry by entry."""
        found = logs.find_change(self.workspace.together, ref, ACTOR)
        return views_of(found.log.history, found.record)
