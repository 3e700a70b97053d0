"""The panes, by name; each module is imported when its pane is shown for the first time."""

from __future__ import annotations

from collections.abc import Collection
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from widgets.pane.base import Pane


class PaneName(NamedTuple):
    """One pane before anything of it is imported: id, key, title, the module here and the class in it."""

    id: str
    key: str
    title: str
    module: str
    class_name: str
    files: tuple[str, ...] = ()
    """The memory files whose entries it shows; `archive/` stands for all archive files, and a file of another system
    is named as seen from the workspace."""
    letter: str = ""
    """What opens it after `g`, where that is not the first letter of its title."""
    system: str = "files"
    """The memory system that it shows: that of another one than the memory files is there only with its system."""

    def load(self) -> type[Pane]:
        """Import the pane's class."""
        pane: type[Pane] = getattr(import_module(f"widgets.panes.{self.module}"), self.class_name)
        return pane


PANES: tuple[PaneName, ...] = (
    PaneName("brief", "1", "Brief", "brief.pane", "BriefPane"),
    PaneName("tasks", "2", "Tasks", "tasks.pane", "TasksPane", ("tasks.md",)),
    PaneName("journal", "3", "Journal", "journal.pane", "JournalPane", ("journal.md",)),
    PaneName("knowledge", "4", "Knowledge", "knowledge.pane", "KnowledgePane", ("knowledge.md",)),
    PaneName("contacts", "5", "Contacts", "contacts.pane", "ContactsPane", ("contacts.md",)),
    PaneName("plans", "6", "Plans", "plans.pane", "PlansPane", ("orchestration.md",)),
    PaneName("monitors", "7", "Monitors", "monitors.pane", "MonitorsPane", ("monitors.md",)),
    PaneName("config", "8", "Config", "config.pane", "ConfigPane", ("config.md",)),
    PaneName("archive", "9", "Archive", "archive", "ArchivePane", ("archive/",)),
    PaneName("changes", "0", "Changes", "changes.pane", "ChangesPane"),
    PaneName("facts", "", "Facts", "facts", "FactsPane", (".aegis/memory/memories.jsonl",), system="facts"),
    PaneName("typed", "", "Typed", "typed", "TypedPane", letter="y", system="typed"),
    PaneName("state", "", "State", "state.pane", "StatePane", (".agent-memory/", "docs/agent-memory/"), system="state"),
)
"""All panes in the order of the sidebar."""


def panes_for(systems: Collection[str]) -> tuple[PaneName, ...]:
    """The panes of a workspace that holds these systems; those of the memory files are always there."""
    return tuple(name for name in PANES if name.system == "files" or name.system in systems)


def pane_of(file: str) -> str | None:
    """The id of the pane that shows the entries of a memory file, or another system by its name; None: no pane does."""
    for name in PANES:
        if name.system != "files" and file == name.system:
            return name.id
        if file in name.files or any(part.endswith("/") and file.startswith(part) for part in name.files):
            return name.id
    return None
