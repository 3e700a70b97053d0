"""What other programs did to the files of a workspace, noted in its history."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING

from memory.errors import MemdeckError

if TYPE_CHECKING:
    from memory.workspace import Workspace


def notice(workspace: Workspace, now: datetime) -> int:
    """Note what other programs did to the files of all systems since they were seen last; see `Workspace.notice`."""
    history = workspace.store.history
    names = workspace.files() | set(history.to_look_at())
    readable = []
    with workspace.together.glance():
        for name in sorted(names):
            with suppress(MemdeckError):
                found = workspace.together.find(name)
                if found is not None:
                    found[0].read(found[1])
                    readable.append(name)
        return history.notice(readable, now)
