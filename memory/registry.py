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
    """

    name: str
    title: str
    mark: str
    place: str
    kinds: tuple[str, ...]


REGISTRY: tuple[SystemName, ...] = (
    SystemName(
        "files",
        "workspace memory",
        ".aiter/memory",
        "memory.systems.files:WorkspaceMemory",
        ("tasks", "journal", "knowledge", "contacts", "plans", "monitors", "config"),
    ),
)
"""All systems, in the order in which they are shown."""

KINDS: tuple[str, ...] = tuple(kind for system in REGISTRY for kind in system.kinds)
"""The kinds of records of all systems, in the order in which equally good finds are listed."""


def holds_memory(folder: str) -> bool:
    """Tell whether a folder is a workspace: whether any system has its mark there."""
    return any(os.path.exists(f"{folder}/{system.mark}") for system in REGISTRY)
