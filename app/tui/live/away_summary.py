"""What happened while nobody looked, and what waits for a decision; for the brief, found in a worker."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING

from app.tui.commands.context import ACTOR
from app.tui.part import Part
from memory.errors import MemdeckError

if TYPE_CHECKING:
    from app.tui.pane_state import PaneState
    from app.tui.shell import Shell
    from memory.history.news import News


class AwaySummary(Part):
    """Reads the change log and the decisions; what cannot be read is left out, for the brief is no place to fail."""

    def __init__(self, app: Shell, pane_state: PaneState) -> None:
        """Nothing was asked yet."""
        super().__init__(app)
        self._pane_state = pane_state
        self._since: datetime | None = None
        self._noticed = False

    def news(self, now: datetime) -> tuple[News, ...]:
        """What others changed since somebody left the application here, newest first; nothing at the first time."""
        workspace = self.app.workspace
        if workspace is None or workspace.state is None:
            return ()
        if not self._noticed:
            # Read once: what is remembered changes when this session ends.
            self._noticed = True
            self._since = self._pane_state.looked_last
            if self._since is not None:
                with suppress(MemdeckError, OSError):
                    workspace.notice(now)
        if self._since is None:
            return ()
        from memory.history.news import MOST, news_of

        with suppress(MemdeckError, OSError):
            return news_of(workspace.store.history.list(MOST, since=self._since), mine=ACTOR)
        return ()
