"""The application's clock: the real one, or one that starts at a given time and runs on from there."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta


class Clock:
    """Gives the time as an aware datetime in UTC when it is called."""

    def __init__(self, start: datetime | None = None, *, timer: Callable[[], float] = time.monotonic) -> None:
        """`start` (aware) is the time now; without it the machine's clock counts. `timer` returns seconds."""
        self._start = start
        self._timer = timer
        self._begun = timer()

    def __call__(self) -> datetime:
        """Return the time."""
        if self._start is None:
            return datetime.now(UTC)
        return self._start.astimezone(UTC) + timedelta(seconds=self._timer() - self._begun)
