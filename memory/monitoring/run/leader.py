"""The lead of a workspace: one process at a time runs its monitors, be it cron's or an open application's."""

from __future__ import annotations

import fcntl
import os
import time
from types import TracebackType
from typing import TYPE_CHECKING

from memory.errors import BusyError
from memory.storage import fsio

if TYPE_CHECKING:
    from memory.storage.places import StateFolder

NAME = "monitors.lock"
"""The lead of one run: nobody else runs monitors meanwhile."""
WATCH = "watch.lock"
"""The lead of an open application: no other one keeps the schedule while it is open. Runs of cron need only `NAME`."""


class Leader:
    """A lock on a permanent file in the private state folder, which the system gives up when its holder dies."""

    def __init__(self, folder: StateFolder | None, name: str = NAME) -> None:
        """Nothing is opened yet; without a folder there is nobody to share with, and the lead is free."""
        self._folder = folder
        self._name = name
        self._fd = -1

    def take(self, wait: float = 0.0) -> bool:
        """Take the lead, waiting so many seconds for it; tell whether it is ours. RefusedError `state.*`."""
        if self._folder is None:
            return True
        folder = self._folder.open()
        try:
            fd = fsio.open_lock(self._name, folder, self._name)
        finally:
            os.close(folder)
        deadline = time.monotonic() + wait
        try:
            while True:
                try:
                    fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    left = deadline - time.monotonic()
                    if left <= 0:
                        os.close(fd)
                        return False
                    time.sleep(min(0.02, left))
        except BaseException:
            os.close(fd)
            raise
        self._fd = fd
        return True

    def release(self) -> None:
        """Let another one lead."""
        fd, self._fd = self._fd, -1
        if fd >= 0:
            os.close(fd)

    def __enter__(self) -> Leader:
        """Take the lead at once; BusyError `monitors.busy` where another process has it."""
        if not self.take():
            raise busy()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Release it."""
        self.release()


def busy() -> BusyError:
    """Return the error of whoever needs the lead and cannot have it."""
    return BusyError(
        "monitors.busy", "another process runs the monitors of this workspace", "try again when it is done"
    )
