"""What waits for the user: proposals of agents, approvals and removals, read for the pane "Waiting" and counted."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from functools import cached_property

from app.tui.shell import ACTOR
from app.tui.spine import Part
from memory.errors import MemdeckError
from memory.files.snapshot import Snapshot
from memory.history import logs
from memory.history.changes import row
from memory.history.outside import OutsideRemoval
from memory.monitoring.overview import Notice, WaitingAsk
from memory.review.inbox import Inbox, Judged
from memory.review.proposals import Proposal
from memory.storage.merging import MergedChange
from memory.storage.own_folders import short_path
from widgets.panes.waiting import Decision

from .outside_changes import Outside

LATELY, MOST = timedelta(days=7), 20
"""For how long, and how many of what was decided is listed."""


class AgentProposals(Part):
    """Watches the record of proposals, and reads what waits in threads.

    If no agent ever proposed anything, that costs one check of a folder.
    """

    def set_up(self) -> None:
        """Find out only whether an agent ever proposed anything."""
        self._stamp: Hashable = self._look()

    def _look(self) -> Hashable:
        with suppress(MemdeckError, OSError):
            return self.inbox.stamp() if self.app.workspace is not None else None
        return None

    def refresh(self) -> None:
        """Tell that the record changed."""
        found = self._look()
        if found != self._stamp and self.app.state.had_first_look:
            self._stamp = found
            self.app.changed()

    @cached_property
    def inbox(self) -> Inbox:
        """The inbox of the workspace."""
        return Inbox(self.workspace.together)

    def approvals(self, snapshot: Snapshot, now: datetime) -> Sequence[WaitingAsk]:
        """Return what needs an approval."""
        notice: Notice = self.app.schedule.notice(snapshot, now)
        return notice.waiting

    def removals(self) -> Sequence[OutsideRemoval]:
        """Return the changes by other programs that removed entries which are still missing."""
        found: Outside = self.app.outside_changes.look(self.app.clock())
        return found.removals

    def proposals(self) -> Sequence[Proposal]:
        """Return the waiting proposals, newest first; empty if they cannot be read, which `doctor` explains."""
        with suppress(MemdeckError):
            home = self.workspace.home
            return [replace(one, place=short_path(one.place, home)) for one in self.inbox.list()]
        return ()

    def decided(self, now: datetime) -> Sequence[Decision]:
        """Return what was decided in the last days and can be taken back, newest first."""
        since, found = now - LATELY, list[tuple[datetime, Decision]]()
        with suppress(MemdeckError):
            for one in self.inbox.list(("accepted", "rejected"), limit=MOST):
                if one.decided_at is not None and one.decided_at >= since and not self._undone(one):
                    found.append((one.decided_at, one))
        for record in self.app.schedule.trust().list()[-MOST:]:
            with suppress(ValueError):
                if (at := datetime.fromisoformat(record.when)) >= since:
                    found.append((at, record))
        found.sort(key=lambda pair: pair[0], reverse=True)
        return [one for _, one in found[:MOST]]

    def _undone(self, one: Proposal) -> bool:
        """Return whether the change of an accepted proposal was taken back."""
        if one.change_id is None:
            return False
        found = logs.find_change(self.workspace.together, one.change_id, ACTOR)
        return bool(row(found.record)["undoneBy"])

    def count(self) -> int:
        """Return how many wait."""
        with suppress(MemdeckError):
            return self.inbox.count()
        return 0

    def judged(self, ref: str, now: datetime) -> Judged:
        """Return what a proposal would do now, entry by entry, and whether it fits the current files.

        Of an accepted one what it did.
        """
        proposal = self.inbox.get(ref)
        if proposal.change_id is not None:
            return Judged(self.app.outside_changes.told(proposal.change_id), MergedChange("decided"))
        return self.inbox.judged(proposal, now)
