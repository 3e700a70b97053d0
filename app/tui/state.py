"""State: what the application shows and knows now. Only handlers in its thread change it; everything may read it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

from memory.workspace import Workspace
from widgets.pane.base import Pane
from widgets.panes import PaneName, all_panes, panes_for

if TYPE_CHECKING:
    from memory.history.outside import LostFile, OutsideRemoval
    from memory.storage.private.drafts import Draft


@cache
def panes_by_id() -> dict[str, PaneName]:
    """Return all panes by id."""
    return {name.id: name for name in all_panes()}


class State:
    """The open panes, what waits for the user, and what can be undone."""

    def __init__(self, workspace: Workspace | None) -> None:
        """No pane is open yet."""
        self.workspace = workspace
        self.open: Pane | None = None
        """The visible pane."""
        self.mounted: dict[str, Pane] = {}
        """The panes that were opened so far, by id."""
        self.had_first_look = False
        """Whether the first titles were drawn; what takes longer begins after them."""
        self.pressed = 0.0
        """When the last key was pressed, by `time.monotonic`."""
        self.reading = False
        """Whether files are being read."""
        self.writing = 0
        """How many changes are being written, or wait to be."""
        self.jobs: list[Any] = []
        """The running jobs, the oldest first."""
        self.left_drafts: tuple[Draft, ...] = ()
        """Forms that were not saved, newest first."""
        self.count = 0
        """How many changes of others were not seen in Changes yet."""
        self.removals: tuple[OutsideRemoval, ...] = ()
        """The changes by other programs that removed entries which are still missing."""
        self.lost: tuple[LostFile, ...] = ()
        """The files that are missing or empty, and recorded in the change log as lost."""
        self.turns = (False, False)
        """Whether there was something to undo and to redo at the last look."""
        self.sure = False
        """Whether nothing was written since that look."""
        self.back: Callable[[], object] | None = None
        """What Escape does in the open pane: opens the search results that led here; None where none did."""
        self.reversals: list[Callable[[], None]] = []
        """What undo does first, the last one next: decisions since the last change, which no log of changes has."""

    @property
    def names(self) -> tuple[PaneName, ...]:
        """The panes of the workspace, and those of other systems that the user opened anyway."""
        known = panes_by_id()
        systems = () if self.workspace is None else self.workspace.system_names()
        return panes_for({*systems, *[known[pane_id].system for pane_id in self.mounted]})

    def lost_in(self, pane: Pane | None) -> LostFile | None:
        """Return the file of a pane that is missing or empty, else None."""
        return None if pane is None else next((one for one in self.lost if one.name in pane.files), None)

    def can_turn(self, way: str) -> bool:
        """Return whether there was something to `undo` or `redo` at the last look, or a file that undo restores."""
        if way == "undo" and (self.reversals or self.lost_in(self.open) is not None):
            return True
        return self.turns[way == "redo"]

    def may_turn(self, way: str) -> bool:
        """Return whether something can be undone or redone, or may be, because something was written since the look."""
        return self.can_turn(way) or not self.sure or self.reading or self.writing > 0

    def wrote(self) -> None:
        """Note that a change was written: what can be undone is known after the next look."""
        self.sure = False
        self.reversals.clear()
