"""The little that is remembered of a workspace outside of it: when it was maintained and changed last."""

from __future__ import annotations

import os
from datetime import datetime
from pathlib import Path
from typing import Any

from memory.named_tuple import NamedTuple
from memory.storage import fsio
from memory.storage.files import errnos as faults
from memory.storage.places import StateFolder

STATE = "state.json"

_SIZE = 160
"""Bytes of the record, padded with spaces: so it can be written over itself."""


class RecordedTimes(NamedTuple):
    """The aware times that the guard against a clock that jumped back compares with; None where there is none
    yet.
    """

    last_maintenance: datetime | None = None
    last_change: datetime | None = None

    @property
    def latest(self) -> datetime | None:
        """The later of the two."""
        times = [time for time in (self.last_maintenance, self.last_change) if time is not None]
        return max(times, default=None)


class PrivateState:
    """The record of one workspace in its private state folder; written under the workspace's lock only."""

    def __init__(self, home: Path, workspace: Path, person: Path | None = None) -> None:
        """`home` is `$XDG_STATE_HOME`, `person` the person's home folder; nothing is read or made yet."""
        self.folder = StateFolder(home, workspace, person)

    def read(self) -> RecordedTimes:
        """Return what is recorded; a file that is missing or damaged counts as nothing recorded.

        RefusedError `state.*` when the folder is not one to rely on.
        """
        return _read(self.folder.read(STATE))

    def record(
        self,
        *,
        last_maintenance: datetime | None = None,
        last_change: datetime | None = None,
        owner: str = "",
        folder: int | None = None,
    ) -> None:
        """Note one or both times, in one step; `owner` is the system whose lock is held, `folder` the state folder
        where the caller has it open.

        RefusedError `state.*`, MemdeckError `file.io`.
        """
        import json

        recorded = self.read() if folder is None else _read(self.folder.read_in(STATE, folder, regular=True))
        if last_maintenance is not None:
            recorded = recorded._replace(last_maintenance=last_maintenance)
        if last_change is not None:
            recorded = recorded._replace(last_change=last_change)
        text = json.dumps(
            {
                "lastMaintenance": recorded.last_maintenance and recorded.last_maintenance.isoformat(),
                "lastChange": recorded.last_change and recorded.last_change.isoformat(),
            }
        )
        try:
            opened = self.folder.open() if folder is None else folder
            try:
                # Not synced: after a power cut an older time, or none, is good enough for what it guards against.
                fsio.put_in_place(STATE, opened, text.encode().ljust(_SIZE - 1) + b"\n", owner=owner)
            finally:
                if folder is None:
                    os.close(opened)
        except OSError as error:
            raise faults.writing(error, f"{self.folder.path}/{STATE}") from error


def _read(data: bytes | None) -> RecordedTimes:
    """Read a record back, nothing where it is none."""
    if data is None:
        return RecordedTimes()
    import json

    try:
        values = json.loads(data)
    except (ValueError, RecursionError):
        return RecordedTimes()
    if not isinstance(values, dict):
        return RecordedTimes()
    return RecordedTimes(_time(values.get("lastMaintenance")), _time(values.get("lastChange")))


def _time(value: Any) -> datetime | None:
    """Read an aware time back, None for whatever is none."""
    try:
        time = datetime.fromisoformat(value)
    except (TypeError, ValueError):
        return None
    return time if time.tzinfo is not None else None
