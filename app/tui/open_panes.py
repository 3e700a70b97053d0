"""OpenPanes: which panes were opened so far, which of them is seen, and how much room lists have."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from widgets.panes import PaneName, all_panes, panes_for

if TYPE_CHECKING:
    from memory.workspace import Workspace
    from widgets.pane.base import Pane


@cache
def panes_by_id() -> dict[str, PaneName]:
    """All panes by id."""
    return {name.id: name for name in all_panes()}


class OpenPanes:
    """State only: `Navigation` changes it, every part may look at it."""

    def __init__(self, only: str | None = None) -> None:
        """No pane is open yet; `only` is the one that alone is there, None: all are."""
        self.only = only
        self.open: Pane | None = None
        """The pane that is seen."""
        self.mounted: dict[str, Pane] = {}
        """The panes that were opened so far, by id."""
        self.more: set[str] = set()
        """What else is there beside the systems of the workspace, such as proposals of agents."""
        self.zoomed: bool | None = None
        """Whether lists take the whole pane; None: as it was remembered."""

    def names(self, workspace: Workspace | None) -> tuple[PaneName, ...]:
        """Return the panes that a workspace has, and those of other systems that somebody opened all the same."""
        if self.only is not None:
            return (panes_by_id()[self.only],)
        systems = () if workspace is None else workspace.system_names()
        return panes_for({*systems, *self.more, *(panes_by_id()[pane_id].system for pane_id in self.mounted)})
