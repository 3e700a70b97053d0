"""The memory systems by name: where each lives, and where its code is; the one list that a new system joins.

Nothing of a system is imported before somebody asks for it.
"""

from __future__ import annotations

import os
from typing import NamedTuple


class SystemName(NamedTuple):
    """One memory system before anything of it is imported.

    `mark` is the file or folder, from the workspace on, by which a workspace is recognised; `place` its class as
    `module:class` (see `memory.systems.System`); `kinds` what can be found in it, in the order in which equally good
    finds are listed; `title` what people call it.

    `listed` is a file of the home folder that may name further folders of the system, which lie anywhere in a
    workspace. A folder of such a system, found by its mark, is a workspace itself only where no other one is around it.
    """

    name: str
    title: str
    mark: str
    place: str
    kinds: tuple[str, ...]
    listed: str = ""


REGISTRY: tuple[SystemName, ...] = (
    SystemName(
        "files",
        "workspace memory",
        ".aiter/memory",
        "memory.systems.files:WorkspaceMemory",
        ("tasks", "journal", "knowledge", "contacts", "plans", "monitors", "config"),
    ),
    SystemName("facts", "facts", ".aegis/memory", "memory.systems.facts:Facts", ("facts",)),
    SystemName(
        "typed", "typed memory", "Aidefile", "memory.systems.typed:TypedMemory", ("typed",), listed=".aide/config.toml"
    ),
    SystemName("state", "project state", ".agent-memory", "memory.systems.state:ProjectState", ("state",)),
)
"""All systems, in the order in which they are shown."""

KINDS: tuple[str, ...] = tuple(kind for system in REGISTRY for kind in system.kinds)
"""The kinds of records of all systems, in the order in which equally good finds are listed."""


def workspace_of(start: str) -> str | None:
    """Return the workspace that a folder (absolute) lies in: the nearest one upwards that holds any system.

    One with the mark of a `listed` system alone belongs to the workspace around it, if there is one, so that its
    files have one history wherever one stands.
    """
    folder, found = start, None
    while True:
        if any(not system.listed and os.path.isdir(f"{folder}/{system.mark}") for system in REGISTRY):
            return folder
        if found is None and holds_memory(folder):
            found = folder
        parent = os.path.dirname(folder)
        if parent == folder:
            return found
        folder = parent


def holds_memory(folder: str) -> bool:
    """Tell whether a folder is a workspace: whether any system has its mark there, a file for a `listed` one."""
    return any((os.path.isfile if system.listed else os.path.isdir)(f"{folder}/{system.mark}") for system in REGISTRY)
