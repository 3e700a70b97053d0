"""The lead of a workspace: one process at a time runs its monitors, whether it is a cron job or an open application."""

from __future__ import annotations

import os

from memory.storage import fsio
from memory.storage.lock import take
from memory.storage.own_folders import StateFolder

NAME = "monitors.lock"
"""The lead of one run: no other process runs monitors meanwhile."""
WATCH = "watch.lock"
"""The lead of an open application: no other one runs the schedule while it is open. Cron jobs need only `NAME`."""


class Leader:
    """A lock on a permanent file in the private state folder, which the system releases when its holder dies."""

    def __init__(self, folder: StateFolder, name: str = NAME) -> None:
        """Nothing is opened yet."""
        self._folder = folder
        self._name = name
        self._fd = -1

    def take(self, wait: float = 0.0) -> bool:
        """Take the lead, waiting up to `wait` seconds; return whether this succeeded. RefusedError `state.*`."""
        with self._folder.opened() as folder:
            self._fd = fsio.open_lock(self._name, folder, self._name)
        taken = False
        try:
            taken = take(self._fd, wait)
        finally:
            if not taken:
                self.close()
        return taken

    def close(self) -> None:
        """Release the lead if it was taken."""
        fd, self._fd = self._fd, -1
        if fd >= 0:
            os.close(fd)
