"""Changes from outside: what other programs did goes into the change log after each look, where they are read."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from contextlib import suppress
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING

from app.tui.commands.context import ACTOR
from app.tui.part import Part
from app.tui.threads import ThreadReport
from memory.errors import MemdeckError

if TYPE_CHECKING:
    from app.tui.pane_state import PaneState
    from app.tui.shell import Shell
    from memory.files.plans.model import Plan
    from memory.files.snapshot import Snapshot
    from memory.history.lost_files import LostFile
    from memory.history.taken_back import Undone
    from memory.storage.log.records import ChangeRecord
    from memory.workspace import Workspace
    from widgets.pane.base import Pane
    from widgets.panes.changes.logged_change import LoggedChange

    from .refresh import Refresher

GIVEN_SECONDS = 5.5
"""When to look again at a file that went just now: so long the change log gives it to come back, and a little more."""

MOST = 1000
"""The largest number that is counted; more is no better to know."""

QUIET = (ACTOR, "monitor")
"""Whose changes nobody has to look at: one's own, and results of checks, which Monitors shows."""


class OutsideChanges(Part):
    """Counts what others changed since somebody looked at Changes, and says once what is wrong with the log."""

    def __init__(self, app: Shell, refresher: Refresher, pane_state: PaneState) -> None:
        """Nothing changed yet."""
        super().__init__(app)
        self._refresher, self._pane_state = refresher, pane_state
        self.on_change: list[Callable[[], None]] = []
        """Called when something is counted anew, or a file is lost or back."""
        self.on_undone: list[Callable[[Sequence[Undone]], None]] = []
        """Called with what another program took back and nobody was told of."""
        self.count = 0
        self._seen: int | None = None
        self._newest = 0
        self._counted: Hashable = None
        self._said: set[str] = set()
        self._found = (False, False)
        self._turns = (False, False)
        self._sure = False
        self.undone: tuple[Undone, ...] = ()
        """What saves of other programs took back of memdeck's changes, and nobody decided about."""
        self.waiting: tuple[Undone, ...] = ()
        """The same, as the thread that reads found it last."""
        self.missing: tuple[LostFile, ...] = ()
        """The files that are gone or empty, as the thread that reads found them last."""
        self.lost: tuple[LostFile, ...] = ()
        """Those of them that the change log has."""
        self._told: set[str] = set()

    def look_first(self, pane: Pane, now: datetime) -> None:
        """Look before the pane of the changes is read, for it shows what is found."""
        if pane.pane_id == "changes":
            self.look(now)

    def look_behind(self, pane: Pane, _snapshot: Snapshot, now: datetime) -> None:
        """Look once another pane was read."""
        if pane.pane_id != "changes":
            self.look(now)

    def look(self, now: datetime) -> bool:
        """Note what other programs did since the last look; True if that was anything. For the thread that reads."""
        workspace = self.app.workspace
        assert workspace is not None
        with workspace.together.glance():
            return self._look(workspace, now)

    def _look(self, workspace: Workspace, now: datetime) -> bool:
        history = workspace.store.history
        found = 0
        with suppress(MemdeckError):
            if self._seen is None:
                seen = self._pane_state.seen_change
                self._seen = history.state()[0] if seen is None else seen
            found = workspace.notice(now)
        from memory.review import taking_back

        state = history.state()
        count = self.count
        # What was accepted about memory outside of the workspace stands in another log.
        stand = (taking_back.state(workspace, ACTOR), self._seen or 0)
        if self._counted != stand:
            count = history.count(self._seen or 0, QUIET, MOST)
            with suppress(MemdeckError):
                self._found = taking_back.turnable(workspace, ACTOR)
                self._counted = stand
        self._newest = state[0]
        warnings = tuple(warning for warning in history.warnings if warning not in self._said)
        self._said.update(warnings)
        undone: tuple[Undone, ...] = ()
        if history.taken_back():
            from memory.history.taken_back import undone_changes

            with suppress(MemdeckError):
                undone = undone_changes(workspace)
        self.waiting = undone
        from memory.history.lost_files import lost_files

        self.missing = lost_files(workspace)
        report = partial(self._noticed, count, warnings, self._found, undone, self.missing)
        self.app.post_message(ThreadReport(report))
        return found > 0

    @property
    def seen(self) -> int | None:
        """The newest change that somebody could have looked at in Changes; None: the log was never read."""
        return self._seen

    def looked_at(self) -> None:
        """Changes is open: what is in it is seen."""
        self._seen = max(self._seen or 0, self._newest)
        if self.count:
            self.count = 0
            self._say_change()

    def _say_change(self) -> None:
        for hook in self.on_change:
            hook()

    def lost_in(self, pane: Pane | None) -> LostFile | None:
        """The file of a pane that is gone or empty, None where there is none."""
        if pane is None:
            return None
        return next((one for one in self.lost if one.name in pane.files), None)

    def say_lost(self) -> None:
        """Let each pane say what its file held and which key brings it back."""
        key = self.app.key_of("change.undo")
        for pane in self.app.panes.mounted.values():
            lost = self.lost_in(pane)
            if lost is None or lost.time is None:
                pane.say_lost("")
                continue
            local, now = lost.time.astimezone(self.app.zone), self.app.clock().astimezone(self.app.zone)
            since = f"{local:%H:%M}" if local.date() == now.date() else f"{local:%Y-%m-%d %H:%M}"
            pane.say_lost(f"{lost.sentence(since)}: {key} brings it back.")

    def can_turn(self, way: str) -> bool:
        """Whether there was something to undo or to redo at the last look, or a file to bring back by undo."""
        if way == "undo" and self.lost and self.lost_in(self.app.pane) is not None:
            return True
        return self._turns[way == "redo"]

    def may_turn(self, way: str, *, writing: bool) -> bool:
        """Whether there is something to undo or to redo, or may be, for something is written or was since."""
        settled = self._sure and not writing and self._refresher.idle
        return not settled or self.can_turn(way)

    def changed(self) -> None:
        """A change was written: what can be undone is known with the next look."""
        self._sure = False

    def _noticed(
        self,
        count: int,
        warnings: tuple[str, ...],
        turns: tuple[bool, bool],
        undone: tuple[Undone, ...],
        missing: tuple[LostFile, ...],
    ) -> None:
        """Show how much is new; in the application's thread.

        `count`: the changes of others that nobody looked at; `warnings`: what is wrong with the log; `turns`: whether
        there is something to undo and to redo; `undone`: what other programs took back; `missing`: the lost files.
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
            self._say_change()
        for warning in warnings:
            self.app.say(warning, title="History", severity="warning")
        if any(one.change is None for one in missing):
            # Too fresh: programs leave such states behind for a moment, and nobody wakes us when it is over.
            self.app.set_timer(GIVEN_SECONDS, self._refresher.request)
        lost = tuple(one for one in missing if one.change is not None)
        if lost != self.lost:
            self.lost = lost
            self.app.refresh_keys()
            self._say_change()
        self.say_lost()
        if undone != self.undone:
            self.undone = undone
            self.app.refresh_keys()
        new = [one for one in self.undone if one.id not in self._told]
        self._told.update(one.id for one in new)
        if new:
            for hook in self.on_undone:
                hook(new)


class LogSource:
    """The change log as the changes pane asks for it; called in threads."""

    def __init__(self, app: Shell) -> None:
        """Nothing is read yet."""
        self._app = app
        self._past: tuple[object, Sequence[tuple[datetime, str | None]]] = (None, ())

    def page(self, limit: int, before: int | None) -> Sequence[LoggedChange]:
        """The newest changes before a place, newest first."""
        from memory.history.changes import list_changes

        workspace = self._app.workspace
        return [] if workspace is None else [logged(one) for one in list_changes(workspace, limit=limit, before=before)]

    def stamp(self) -> object:
        """The newest change, how many there are, and how many are undone."""
        workspace = self._app.workspace
        return None if workspace is None else workspace.store.history.state()

    def told(self, ref: str) -> Sequence[object]:
        """What a change did, entry by entry."""
        from memory.history.changes import views_of

        workspace = self._app.workspace
        return () if workspace is None else views_of(workspace, workspace.store.history.get(ref))

    def past(self, plan: Plan) -> Sequence[tuple[datetime, str | None]]:
        """The versions of a plan's entry, the oldest first; nothing where the log cannot be read."""
        from memory.history.versions import versions_of

        workspace = self._app.workspace
        if workspace is None or workspace.state is None:
            return ()
        with suppress(MemdeckError, OSError):
            key, known = (plan.ref, self.stamp()), self._past
            if known[0] != key:
                versions = versions_of(workspace, plan.ref)
                # Another thread may keep the past of another plan meanwhile.
                known = self._past = (key, [(one.record.time, one.source) for one in reversed(versions)])
            return known[1]
        return ()


def logged(record: ChangeRecord) -> LoggedChange:
    """A change of the log as the pane lists it."""
    from memory.history.changes import file_name
    from memory.storage.log.undo import unturned
    from widgets.panes.changes.logged_change import ChangedEntry, LoggedChange

    return LoggedChange(
        record.id,
        record.seq,
        record.time,
        record.actor,
        (unturned(record.summary) if record.undone_by else record.summary) or record.operation,
        record.operation,
        record.undone_by,
        record.kept,
        tuple(file_name(path) for path in record.paths),
        tuple(ChangedEntry(file_name(one.file), one.ref, one.title, one.kind) for one in record.touched),
        record.undoes or record.redoes,
    )
