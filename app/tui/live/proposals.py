"""Proposals of agents: notices new and decided ones, counts those that wait, and reads them for the inbox."""

from __future__ import annotations

import threading
from collections.abc import Hashable, Sequence
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING

from app.tui.shell import Part, Shell
from memory.errors import MemdeckError

if TYPE_CHECKING:
    from memory.review import Inbox
    from memory.review.model import Judged, WaitingProposal
    from memory.system import BriefLine

    from .refresh import Refresher

PANE = "inbox"
SYSTEM = "review"
"""The system name under which the inbox is shown; the first proposal adds it."""
BEAT_SECONDS = 1.0
"""Seconds between checks of the record, which changes without any file of the workspace."""


class AgentProposals(Part):
    """Watches the record of proposals; if no agent ever proposed anything, that costs one check of a folder."""

    def __init__(self, app: Shell, refresher: Refresher) -> None:
        """Find out only whether an agent ever proposed anything."""
        super().__init__(app)
        self._refresher = refresher
        self._stamp: Hashable = None
        self.source = InboxSource(app)
        self._note(self._look())

    def begin(self) -> None:
        """Start watching."""
        self.app.set_interval(BEAT_SECONDS, self._beat)

    def _look(self) -> Hashable:
        found: Hashable = None
        with suppress(MemdeckError, OSError):
            found = self.source.inbox.stamp() if self.app.workspace is not None else None
        return found

    def _beat(self) -> None:
        """Refresh when the record changed."""
        found = self._look()
        if found == self._stamp or not self._refresher.had_first_look:
            return
        self._stamp = found
        self._note(found)
        self._refresher.request()

    def _note(self, found: Hashable) -> None:
        """Show the pane from the first proposal on."""
        if found is not None:
            self.app.panes.more.add(SYSTEM)


class InboxSource:
    """The proposals for the inbox pane; called in threads."""

    def __init__(self, app: Shell) -> None:
        """Nothing is read yet."""
        self._app = app
        self._made: Inbox | None = None
        self._mutex = threading.Lock()

    @property
    def inbox(self) -> Inbox:
        """The inbox of the workspace."""
        from memory.review import Inbox

        assert self._app.workspace is not None
        with self._mutex:
            if self._made is None:
                self._made = Inbox(self._app.workspace)
            return self._made

    def waiting(self) -> Sequence[WaitingProposal]:
        """Return the waiting proposals, newest first; empty if they cannot be read, which `doctor` explains."""
        from memory.review.model import WaitingProposal

        if self._app.workspace is None:
            return ()
        with suppress(MemdeckError):
            return [WaitingProposal.of(one, self._app.workspace.home) for one in self.inbox.list()]
        return ()

    def count(self) -> int:
        """Return how many wait."""
        with suppress(MemdeckError):
            return self.inbox.count() if self._app.workspace is not None else 0
        return 0

    def brief_lines(self) -> tuple[BriefLine, ...]:
        """Return the line of Brief that says how many wait; empty if none does."""
        from memory.system import BriefLine

        count = self.count() if SYSTEM in self._app.panes.more else 0
        words = f"{count} proposal{'' if count == 1 else 's'} of agents"
        return (BriefLine(SYSTEM, PANE, "Inbox", words, "waiting for you"),) if count else ()

    def judged(self, ref: str, now: datetime) -> Judged:
        """Return what a proposal would do now: merged with the current files, if that is possible."""
        from memory.review.model import Judged

        proposal = self.inbox.get(ref)
        standing = self.inbox.standing(proposal, now)
        return Judged(self.inbox.views(proposal, standing.files or None), standing)
