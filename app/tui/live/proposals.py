"""Proposals of agents: notices new and decided ones, counts those that wait, and reads them for the inbox."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from contextlib import suppress
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING

from app.tui.shell import Part
from memory.errors import MemdeckError
from memory.review import Inbox
from memory.review.model import Judged, WaitingProposal
from memory.system import BriefLine

if TYPE_CHECKING:
    from app.tui.app import MemdeckApp

PANE = "inbox"
SYSTEM = "review"
"""The system name under which the inbox is shown; the first proposal adds it."""


class AgentProposals(Part):
    """Watches the record of proposals, and reads it in threads for the inbox pane.

    If no agent ever proposed anything, that costs one check of a folder.
    """

    def __init__(self, app: MemdeckApp) -> None:
        """Find out only whether an agent ever proposed anything."""
        super().__init__(app)
        self._stamp: Hashable = None
        self.ever = False
        """Whether an agent ever proposed anything."""
        self._note(self._look())

    def _look(self) -> Hashable:
        with suppress(MemdeckError, OSError):
            return self.inbox.stamp() if self.app.workspace is not None else None
        return None

    def refresh(self) -> None:
        """Refresh when the record changed."""
        found = self._look()
        if found == self._stamp or not self.app.refresher.had_first_look:
            return
        self._stamp = found
        self._note(found)
        self.app.refresher.request()

    def _note(self, found: Hashable) -> None:
        """Show the pane from the first proposal on."""
        if found is not None:
            self.ever = True
            self.app.panes.more.add(SYSTEM)

    @cached_property
    def inbox(self) -> Inbox:
        """The inbox of the workspace."""
        return Inbox(self.workspace)

    def waiting(self) -> Sequence[WaitingProposal]:
        """Return the waiting proposals, newest first; empty if they cannot be read, which `doctor` explains."""
        if self.app.workspace is None:
            return ()
        with suppress(MemdeckError):
            return [WaitingProposal.of(one, self.app.workspace.home) for one in self.inbox.list()]
        return ()

    def count(self) -> int:
        """Return how many wait."""
        with suppress(MemdeckError):
            return self.inbox.count() if self.app.workspace is not None else 0
        return 0

    def brief_lines(self) -> tuple[BriefLine, ...]:
        """Return the line of Brief that says how many wait; empty if none does."""
        count = self.count() if SYSTEM in self.app.panes.more else 0
        words = f"{count} proposal{'' if count == 1 else 's'} of agents"
        return (BriefLine(SYSTEM, PANE, "Inbox", words, "waiting for you"),) if count else ()

    def judged(self, ref: str, now: datetime) -> Judged:
        """Return what a proposal would do now: merged with the current files, if that is possible."""
        proposal = self.inbox.get(ref)
        standing = self.inbox.standing(proposal, now)
        return Judged(self.inbox.views(proposal, standing.files or None), standing)
