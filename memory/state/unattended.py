"""What a machine remembers of a workspace's automation, outside of it: when it ran, and which sources are its own.

The list of sources is a file of the repository, and a repository may come from anybody. What lies in the workspace is
read by itself; a folder elsewhere only after it was added or synced by hand on this machine.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from .files.model import Json, moment, stamp
from .machine_notes import MachineNotes

if TYPE_CHECKING:
    from memory.storage.places import StateFolder


class Unattended:
    """The record of one workspace; without a state folder nothing is remembered, and nothing outside is read."""

    def __init__(self, root: Path, folder: StateFolder | None) -> None:
        """Nothing is read yet."""
        self._root = root
        self._notes = MachineNotes(folder, "automation.json")

    def is_due(self, now: datetime, minutes: int) -> bool:
        """Tell whether the last cycle was at least so many minutes ago; one that is to come counts as none."""
        last = moment(self._notes.read().get("lastCycleAt"))
        return last is None or last > now or last <= now - timedelta(minutes=minutes)

    def ran(self, now: datetime) -> None:
        """Note that a cycle ran; where that cannot be kept, the next one comes sooner."""
        self._notes.update(lambda notes: {**notes, "lastCycleAt": stamp(now)}, now, command="state")

    def take(self, sources: Iterable[Json], now: datetime) -> None:
        """Note that a person let these sources be read."""
        known = self._notes.read().get("sources")
        kept = [one for one in known if isinstance(one, list)] if isinstance(known, list) else []
        for source in sources:
            kept += [entry] if (entry := _entry(source)) not in kept else []
        self._notes.update(lambda notes: {**notes, "sources": kept}, now, command="state")

    def refusal(self, source: Json) -> str:
        """Return why a source is not read unattended, "" where it is."""
        real, root = os.path.realpath(source["path"]), os.path.realpath(self._root)
        if real.startswith(root.rstrip("/") + "/"):
            return ""
        known = self._notes.read().get("sources")
        if isinstance(known, list) and _entry(source) in known:
            return ""
        return (
            f"{source['path']} lies outside of the workspace, and nobody read it on this machine yet; "
            f"`memdeck state sync {source['id']}` does, and from then on it is read"
        )


def _entry(source: Json) -> list[str]:
    return [source["type"], os.path.realpath(source["path"])]
