"""The panes, by name; each module is imported when its pane is shown for the first time."""

from __future__ import annotations

from collections.abc import Collection
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

from memory.registry import REGISTRY, PaneEntry, SystemName, registered

if TYPE_CHECKING:
    from widgets.pane.base import Pane


class PaneName(NamedTuple):
    """What is known of a pane before its module is imported: id, key, title, and its class as `module:class`."""

    id: str
    key: str
    title: str
    place: str
    files: tuple[str, ...] = ()
    """The memory files whose entries it shows; `archive/` stands for all archive files, and a file of another system
    is named as seen from the workspace."""
    letter: str = ""
    """The key that opens it after `g`, where that is not the first letter of its title."""
    system: str = "files"
    """The memory system that it shows; a system other than the memory files has its pane only where it is in use."""
    own: bool = True
    """Whether the pane is part of memdeck, not of another package."""

    def load(self) -> type[Pane]:
        """Import the pane's class; raises whatever the module of another package raises."""
        module, _, name = self.place.partition(":")
        pane: type[Pane] = getattr(import_module(module), name)
        return pane


def _named(system: SystemName, pane: PaneEntry) -> PaneName:
    return PaneName(pane.id, pane.key, pane.title, pane.place, pane.files, pane.letter, system.name, system in REGISTRY)


@cache
def all_panes() -> tuple[PaneName, ...]:
    """Return all panes in the order of the sidebar, those of other packages last and without a key of their own."""
    first, *others = registered()
    taken = set(FIXED)
    found = [*(_named(first, pane) for pane in first.panes)]
    rest = [_named(system, pane) for system in others for pane in system.panes if pane.id not in taken]
    return (
        FIXED["brief"],
        *found,
        FIXED["changes"],
        FIXED["inbox"],
        FIXED["prompt"],
        FIXED["fleet"],
        *(one if one.own else one._replace(key="") for one in rest),
    )


FIXED = {
    "brief": PaneName("brief", "1", "Brief", "widgets.panes.brief.pane:BriefPane"),
    "changes": PaneName("changes", "0", "Changes", "widgets.panes.changes.pane:ChangesPane"),
    "inbox": PaneName("inbox", "", "Inbox", "widgets.panes.inbox:InboxPane", system="review"),
    "prompt": PaneName("prompt", "", "Prompt", "widgets.panes.prompt:PromptPane", letter="r", system="prompt"),
    "fleet": PaneName("fleet", "", "Fleet", "widgets.panes.fleet:FleetPane", letter="w", system="fleet"),
}
"""The panes that cover all systems."""


def panes_for(systems: Collection[str]) -> tuple[PaneName, ...]:
    """The panes of a workspace with these systems; the panes of the memory files are always included."""
    return tuple([name for name in all_panes() if name.system == "files" or name.system in systems])


def pane_of(file: str) -> str | None:
    """The id of the pane that shows a memory file's entries, or another system given by name; None: no pane does."""
    for name in all_panes():
        if name.system != "files" and file == name.system:
            return name.id
        if file in name.files or any(part.endswith("/") and file.startswith(part) for part in name.files):
            return name.id
    return None
