"""The panes, by name; each module is imported when its pane is shown for the first time.

At most ten digits. Where several panes share one, it opens the first, and pressed again the next, in the order of the
sidebar. The panes of all memory systems but the memory files are the tabs of "Agent memory".
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

from memory.registry import REGISTRY, PaneEntry, SystemName, registered

if TYPE_CHECKING:
    from widgets.pane.base import Pane

MEMORY = "5"
"""The digit of "Agent memory"."""

GROUPS = {MEMORY: "Agent memory"}
"""The digits whose tabs have a name in common."""


class PaneName(NamedTuple):
    """The facts about a pane that need no import of its module: id, digit, title, and its class as `module:class`."""

    id: str
    key: str
    title: str
    place: str
    files: tuple[str, ...] = ()
    """The memory files whose entries it shows; `archive/` means all archive files, and a file of another system
    is named as seen from the workspace."""
    system: str = "files"
    """The memory system that it shows; a system other than the memory files has its pane only where it is in use."""
    own: bool = True
    """Whether the pane is part of memdeck, not of another package."""

    def load(self) -> type[Pane]:
        """Import the pane's class; raises any exception that the module of another package raises."""
        module, _, name = self.place.partition(":")
        pane: type[Pane] = getattr(import_module(module), name)
        return pane


def _named(system: SystemName, pane: PaneEntry) -> PaneName:
    own = system in REGISTRY
    key = pane.key if own and pane.key else MEMORY
    return PaneName(pane.id, key, pane.title, pane.place, pane.files, system.name, own)


FIXED = {
    "brief": PaneName("brief", "1", "Brief", "widgets.panes.brief:BriefPane"),
    "prompt": PaneName("prompt", "8", "Told to agents", "widgets.panes.prompt:PromptPane"),
    "waiting": PaneName("waiting", "9", "Waiting", "widgets.panes.waiting:WaitingPane"),
    "changes": PaneName("changes", "0", "Changes", "widgets.panes.changes:ChangesPane"),
    "fleet": PaneName("fleet", "~", "Workspaces", "widgets.panes.fleet:FleetPane"),
}
"""The panes that cover all systems; `fleet` is the switcher of workspaces, which has a key of its own."""


@cache
def all_panes() -> tuple[PaneName, ...]:
    """Return all panes by their digits, 0 last, then Workspaces."""
    found = [_named(system, pane) for system in registered() for pane in system.panes if pane.id not in FIXED]
    return tuple(sorted((*FIXED.values(), *found), key=lambda one: one.key.replace("0", ":")))


def panes_for(systems: Collection[str]) -> tuple[PaneName, ...]:
    """The panes of a workspace with these systems; the panes of the memory files are always included."""
    return tuple([name for name in all_panes() if name.system == "files" or name.system in systems])


def digits() -> Iterator[tuple[str, PaneName]]:
    """Yield each digit with the pane that it opens first."""
    seen = set[str]()
    for name in all_panes():
        if name.key.isdigit() and name.key not in seen:
            seen.add(name.key)
            yield name.key, name


def pane_of(file: str) -> str | None:
    """The id of the pane that shows a memory file's entries, or another system given by name; None: no pane does."""
    for name in all_panes():
        if name.system != "files" and file == name.system:
            return name.id
        if file in name.files or any(part.endswith("/") and file.startswith(part) for part in name.files):
            return name.id
    return None
