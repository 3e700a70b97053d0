"""The memory systems by name: where each lives, and where its code is; the one list that a new system joins.

Nothing of a system is imported before it is asked for.
"""

from __future__ import annotations

import os
from functools import cache

from .system_name import BrokenSystem, PaneEntry, SystemName, VerbName

_CLI, _FILES, _PANES = "app.cli.verbs.", "app.cli.verbs.files.", "widgets.panes."

REGISTRY: tuple[SystemName, ...] = (
    SystemName(
        "files",
        "workspace memory",
        ".aiter/memory",
        "memory.systems.files:WorkspaceMemory",
        ("tasks", "journal", "knowledge", "contacts", "plans", "monitors", "config"),
        verbs=(
            VerbName("tasks", _FILES + "tasks:tasks", "List, add, edit, start, finish and remove tasks."),
            VerbName("journal", _FILES + "journal:journal", "List, add, show, edit and remove journal entries."),
            VerbName("knowledge", _FILES + "knowledge:knowledge", "List, add, edit and remove facts and decisions."),
            VerbName(
                "contacts", _FILES + "contacts:contacts", "List, add, edit and remove channels, routes and people."
            ),
            VerbName(
                "orchestration",
                _FILES + "orchestration:orchestration",
                "List plans, their phases and their progress.",
            ),
            VerbName("monitors", _CLI + "monitors.monitors:monitors", "List, add, edit, remove and run monitors."),
            VerbName("config", _FILES + "config:config", "List, get, set and unset the workspace's settings."),
        ),
        panes=(
            PaneEntry("tasks", "Tasks", _PANES + "tasks.pane:TasksPane", ("tasks.md",), "2"),
            PaneEntry("journal", "Journal", _PANES + "journal.pane:JournalPane", ("journal.md",), "3"),
            PaneEntry("knowledge", "Knowledge", _PANES + "knowledge.pane:KnowledgePane", ("knowledge.md",), "4"),
            PaneEntry("contacts", "Contacts", _PANES + "contacts.pane:ContactsPane", ("contacts.md",), "5"),
            PaneEntry("plans", "Plans", _PANES + "plans.pane:PlansPane", ("orchestration.md",), "6"),
            PaneEntry("monitors", "Monitors", _PANES + "monitors.pane:MonitorsPane", ("monitors.md",), "7"),
            PaneEntry("config", "Config", _PANES + "config.pane:ConfigPane", ("config.md",), "8"),
            PaneEntry("archive", "Archive", _PANES + "archive:ArchivePane", ("archive/",), "9"),
        ),
    ),
    SystemName(
        "facts",
        "facts",
        ".aegis/memory",
        "memory.systems.facts:Facts",
        ("facts",),
        verbs=(VerbName("facts", _CLI + "facts:facts", "Store, search, delete and inject short notes for prompts."),),
        panes=(PaneEntry("facts", "Facts", _PANES + "facts:FactsPane", (".aegis/memory/memories.jsonl",)),),
    ),
    SystemName(
        "typed",
        "typed memory",
        "Aidefile",
        "memory.systems.typed:TypedMemory",
        ("typed",),
        listed=".aide/config.toml",
        outside="memory.typed.stores:outside",
        verbs=(
            VerbName(
                "typed",
                _CLI + "typed.agents:typed",
                "The typed memory of agents: prune, merge, promote, lock, failures.",
            ),
        ),
        panes=(PaneEntry("typed", "Typed", _PANES + "typed:TypedPane", letter="y"),),
    ),
    SystemName(
        "state",
        "project state",
        ".agent-memory",
        "memory.systems.state:ProjectState",
        ("state",),
        verbs=(
            VerbName(
                "state", _CLI + "state.bundle:state", "Project state: init, recall, query, validate, sync, checkpoints."
            ),
        ),
        panes=(PaneEntry("state", "State", _PANES + "state.pane:StatePane", (".agent-memory/", "docs/agent-memory/")),),
    ),
    SystemName(
        "curated",
        "curated memory",
        ".agh/workspace.toml",
        "memory.systems.curated:CuratedMemory",
        ("curated",),
        is_file=True,
        outside="memory.curated.stores:outside",
        verbs=(
            VerbName(
                "curated",
                _CLI + "curated.verbs:curated",
                "Curated memory: write, search, decisions, recall, snapshots.",
            ),
        ),
        panes=(PaneEntry("curated", "Curated", _PANES + "curated.pane:CuratedPane", (".agh/",), letter="u"),),
    ),
)
"""The systems that memdeck brings, in the order in which they are shown."""


@cache
def _installed() -> tuple[tuple[SystemName, ...], tuple[BrokenSystem, ...]]:
    from .installed import installed

    return installed(REGISTRY)


def registered() -> tuple[SystemName, ...]:
    """Return all systems, those of other packages last; they are looked for once in a process."""
    return (*REGISTRY, *_installed()[0])


def broken() -> tuple[BrokenSystem, ...]:
    """Return the systems of other packages that cannot be used."""
    return _installed()[1]


def forget_installed() -> None:
    """Look for the systems of other packages again, for a process in which packages come and go."""
    _installed.cache_clear()


def system_name(name: str) -> SystemName:
    """Return what is registered under a name; KeyError where nothing is."""
    found = next((one for one in registered() if one.name == name), None)
    if found is None:
        raise KeyError(name)
    return found


def kinds() -> tuple[str, ...]:
    """Return the kinds of records of all systems, in the order in which equally good finds are listed."""
    return tuple(kind for system in registered() for kind in system.kinds)


def workspace_of(start: str) -> str | None:
    """Return the workspace that a folder (absolute) lies in: the nearest one upwards that holds any system.

    One with the mark of a `listed` system alone belongs to the workspace around it, if there is one, so that its
    files have one history wherever one stands.
    """
    folder, found = start, None
    systems = registered()
    while True:
        if any(not system.listed and system.marks(folder) for system in systems):
            return folder
        if found is None and holds_memory(folder):
            found = folder
        parent = os.path.dirname(folder)
        if parent == folder:
            return found
        folder = parent


def holds_memory(folder: str) -> bool:
    """Tell whether a folder is a workspace: whether any system has its mark there."""
    return any(system.marks(folder) for system in registered())
