"""Proposals of agents: notices that one came or was decided, counts those that wait, and reads them for the inbox."""

from __future__ import annotations

import threading
from collections.abc import Hashable, Sequence
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING

from app.tui.part import Part
from memory.errors import MemdeckError

if TYPE_CHECKING:
    from app.tui.shell import Shell
    from memory.review import Inbox
    from memory.review.model import Judged, WaitingProposal
    from memory.systems import BriefLine

    from .refresh import Refresher

PANE = "inbox"
SYSTEM = "review"
"""What stands for the proposals among the systems of a workspace: their pane comes with the first of them."""
BEAT_SECONDS = 1.0
"""How often the record is looked at, which takes no file of the workspace to change."""


class AgentProposals(Part):
    """Looks at the record of proposals; where no agent ever proposed anything that is one look at a folder."""

    def __init__(self, app: Shell, refresher: Refresher) -> None:
        """Nothing is known yet but whether an agent ever proposed anything."""
        super().__init__(app)
        self._refresher = refresher
        self._stamp: Hashable = None
        self.source = InboxSource(app)
        self._note(self._look())

    def begin(self) -> None:
        """Look from now on."""
        self.app.set_interval(BEAT_SECONDS, self._beat)

    def _look(self) -> Hashable:
        found: Hashable = None
        with suppress(MemdeckError, OSError):
            found = self.source.inbox.stamp() if self.app.workspace is not None else None
        return found

    def _beat(self) -> None:
        """Read again once the record is another one."""
        found = self._look()
        if found == self._stamp or not self._refresher.had_first_look:
            return
        self._stamp = found
        self._note(found)
        self._refresher.request()

    def _note(self, found: Hashable) -> None:
        """The pane is there from the first proposal on."""
        if found is not None:
            self.app.panes.more.add(SYSTEM)


class InboxSource:
    """The proposals as the inbox pane asks for them; called in threads."""

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
        """The proposals that wait, newest first; none where they cannot be read, which `doctor` explains."""
        from memory.review.model import WaitingProposal

        if self._app.workspace is None:
            return ()
        with suppress(MemdeckError):
            return [WaitingProposal.of(one, self._app.workspace.home) for one in self.inbox.list()]
        return ()

    def count(self) -> int:
        """How many wait."""
        with suppress(MemdeckError):
            return self.inbox.count() if self._app.workspace is not None else 0
        return 0

    def brief_lines(self) -> tuple[BriefLine, ...]:
        """The line of Brief: how many wait; none where none does."""
        from memory.systems import BriefLine

        count = self.count() if SYSTEM in self._app.panes.more else 0
        words = f"{count} proposal{'' if count == 1 else 's'} of agents"
        return (BriefLine(SYSTEM, PANE, "Inbox", words, "waiting for you"),) if count else ()

    def judged(self, ref: str, now: datetime) -> Judged:
        """What a proposal would do now: merged with what the files say, where that goes."""
        from memory.review.model import Judged

        proposal = self.inbox.get(ref)
        standing = self.inbox.standing(proposal, now)
        return Judged(self.inbox.views(proposal, standing.files or None), standing)
