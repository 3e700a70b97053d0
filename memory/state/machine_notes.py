"""The machine's notes about a workspace's state, outside of it: a small JSON object that may be lost at any time.

It holds when the automation ran, and which sources it may read. The list of sources is a file of the repository, and a
repository may come from anyone. Sources inside the workspace are read unattended; a folder elsewhere only after it was
added or synced by hand on this machine.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from memory.base.json_objects import read_object
from memory.errors import MemdeckError
from memory.storage.own_folders import StateFolder
from memory.storage.private.record import PrivateRecord

from .files.model import Json, moment, stamp
from .paths import full_path


class MachineNotes:
    """The notes, in the state folder of the workspace; without such a folder nothing is remembered."""

    def __init__(self, root: Path, folder: StateFolder | None, home: Path | None) -> None:
        """Nothing is read yet; `home` is the person's home folder."""
        self._root, self._home = root, home
        self._record = None if folder is None else PrivateRecord(folder, "state", "automation.json")

    def _read(self) -> dict[str, Any]:
        with suppress(MemdeckError, OSError):
            return {} if self._record is None else read_object(self._record.read().base)
        return {}

    def _note(self, now: datetime, **new: Any) -> None:
        """Store values in the notes; where that cannot be done, they are forgotten."""
        if self._record is not None:
            with suppress(MemdeckError):
                self._record.update(
                    lambda data: json.dumps({**read_object(data), **new}).encode(), command="state", now=now
                )

    def _where(self, source: Json) -> list[str]:
        return [source["type"], os.path.realpath(full_path(source["path"], self._root, self._home))]

    def is_due(self, now: datetime, minutes: int) -> bool:
        """Return whether the last cycle was at least `minutes` ago; a last cycle in the future does not count."""
        last = moment(self._read().get("lastCycleAt"))
        return last is None or last > now or last <= now - timedelta(minutes=minutes)

    def ran(self, now: datetime) -> None:
        """Record that a cycle ran."""
        self._note(now, lastCycleAt=stamp(now))

    def take(self, sources: Iterable[Json], now: datetime) -> None:
        """Record that a person allowed these sources to be read."""
        known = self._read().get("sources", [])
        new = [where for where in map(self._where, sources) if where not in known]
        self._note(now, sources=[*known, *new])

    def refusal(self, source: Json) -> str:
        """Return why a source is not read unattended, "" where it is."""
        where, root = self._where(source), os.path.realpath(self._root)
        if where[1].startswith(root.rstrip("/") + "/") or where in self._read().get("sources", []):
            return ""
        return (
            f"{source['path']} is outside of the workspace, and you have not read it on this machine yet; "
            f"`memdeck state sync {source['id']}` does, and from then on it is read"
        )
