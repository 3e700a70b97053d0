"""Changes as server-sent events: each change of the log once, by any actor."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Callable
from datetime import datetime
from typing import TYPE_CHECKING, Any

from memory.errors import BusyError, MemdeckError
from memory.history.changes import row

if TYPE_CHECKING:
    from memory.storage.changes import ChangeRecord
    from memory.workspace import Workspace

MOST = 16
"""The most streams at one time."""
BEHIND = 200
"""The most changes that a client gets at once; it is told of a gap where there were more."""
PAUSE = 1.0
"""Seconds between two looks for changes."""
HEARTBEAT = 15
"""Looks without a change after which a stream sends a sign of life."""


class ChangeEvents:
    """Sends changes to streams; the files are looked at only while there is a stream."""

    def __init__(self, workspace: Workspace, clock: Callable[[], datetime], busy: threading.Lock) -> None:
        """There are no streams yet."""
        self._workspace, self._clock, self._busy = workspace, clock, busy
        self._open = 0
        self._closed = False

    def close(self) -> None:
        """End all streams."""
        self._closed = True

    def stream(self, since: str | None, run: Callable[..., Any]) -> AsyncIterator[bytes]:
        """Return the events after the change `since`, or from the next one on; BusyError `http.busy`.

        `run` is what runs a function that reads files, and waits for its result.
        """
        if self._closed or self._open >= MOST:
            raise BusyError("http.busy", f"{MOST} streams are open", "close one")
        return self._events(since, run)

    async def _events(self, since: str | None, run: Callable[..., Any]) -> AsyncIterator[bytes]:
        self._open += 1
        try:
            newest = await run(self._newest)
            last = newest[0].seq if newest else 0
            yield b": memdeck\n\n"
            if since is not None:
                known = next((record.seq for record in newest if record.id == since), None)
                if known is None:
                    yield _event("gap", {"since": since[:80]})
                last = last if known is None else known
            quiet = 0
            while not self._closed:
                newest = await run(self._newest)
                new = [record for record in reversed(newest) if record.seq > last]
                if len(new) == BEHIND:
                    yield _event("gap", {})
                for record in new:
                    yield _event("change", row(record), record.id)
                last, quiet = (new[-1].seq, 0) if new else (last, quiet + 1)
                if quiet == HEARTBEAT:
                    quiet = 0
                    yield b":\n\n"
                await asyncio.sleep(PAUSE)
        finally:
            self._open -= 1

    def _newest(self) -> tuple[ChangeRecord, ...]:
        try:
            with self._busy:
                self._workspace.notice(self._clock())
                return self._workspace.store.history.list(limit=BEHIND)
        except MemdeckError:
            return ()


def _event(kind: str, data: dict[str, Any], name: str | None = None) -> bytes:
    lines = [f"event: {kind}"] + ([f"id: {name}"] if name is not None else []) + [f"data: {json.dumps(data)}"]
    return "\n".join(lines).encode() + b"\n\n"
