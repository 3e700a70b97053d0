"""What a machine remembers of a workspace's state, outside of it: small JSON objects that may be lost at any time."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING, Any

from memory.base.json_objects import read_object
from memory.errors import MemdeckError

if TYPE_CHECKING:
    from memory.storage.places import StateFolder
    from memory.storage.record import PrivateRecord


class MachineNotes:
    """One JSON object in the state folder of a workspace; without such a folder nothing is remembered."""

    def __init__(self, folder: StateFolder | None, name: str) -> None:
        """Nothing is read yet; `name` is that of the file."""
        self._folder, self._name = folder, name

    @property
    def _record(self) -> PrivateRecord | None:
        from memory.storage.record import PrivateRecord

        return None if self._folder is None else PrivateRecord(self._folder, "state", self._name)

    def read(self) -> dict[str, Any]:
        """Return what is remembered; nothing where it cannot be read."""
        record = self._record
        if record is None:
            return {}
        with suppress(MemdeckError, OSError):
            return read_object(record.read().base)
        return {}

    def update(self, change: Callable[[dict[str, Any]], dict[str, Any]], now: datetime, *, command: str) -> None:
        """Remember what `change` makes of it; nothing is remembered where that cannot be kept."""
        record = self._record
        if record is not None:
            with suppress(MemdeckError):
                record.update(lambda data: json.dumps(change(read_object(data))).encode(), command=command, now=now)
