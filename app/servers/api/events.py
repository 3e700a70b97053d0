"""Changes as server-sent events: each change of the log once, by any actor."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING, Any

from memory.errors import BusyError, MemdeckError
from memory.history.changes import row

if TYPE_CHECKING:
    from memory.storage.changes import ChangeRecord
    from memory.storage.watch import Watcher
    from memory.workspace import Workspace

MOST = 16
"""The most streams at one time."""
BEHIND = 200
"""The most changes that a client gets when it reconnects, and that wait for a slow one."""
HEARTBEAT = 15.0
"""Seconds after which a stream without news sends a sign of life."""


class ChangeEvents:
    """Sends changes to streams; the files are watched only while there is a stream."""

    def __init__(self, workspace: Workspace, clock: Callable[[], datetime], busy: threading.Lock) -> None:
        """There are no streams yet."""
        self._workspace = workspace
        self._clock = clock
        self._busy = busy
        self._streams: set[_Stream] = set()
        self._watcher: Watcher | None = None
        self._last = 0
        self._mutex = threading.Lock()
        self._closed = False

    def open(self, loop: asyncio.AbstractEventLoop, since: str | None) -> _Stream:
        """Return a new stream, which begins after the change `since`, or with the next one; MemdeckError.

        It reads files: call it in a thread.
        """
        with self._mutex:
            if self._closed or len(self._streams) >= MOST:
                raise BusyError("http.busy", f"{MOST} streams are open", "close one")
            newest = self._newest()
            if self._watcher is None:
                self._last = newest[0].seq if newest else 0
                self._watcher = self._workspace.watcher(self._look)
                self._watcher.start()
            stream = _Stream(loop)
            if since is not None:
                missed = [record for record in newest if record.seq <= self._last]
                known = next((index for index, record in enumerate(missed) if record.id == since), None)
                if known is None:
                    stream.put("gap", None, {"since": since[:80]})
                for record in reversed(missed[: known or 0]):
                    stream.put("change", record.id, row(record))
            self._streams.add(stream)
            return stream

    def leave(self, stream: _Stream) -> None:
        """Remove a stream; after the last one, nothing is watched any more."""
        with self._mutex:
            self._streams.discard(stream)
            watcher = None if self._streams else self._watcher
            if watcher is not None:
                self._watcher = None
        if watcher is not None:
            watcher.stop()

    def close(self) -> None:
        """End all streams."""
        with self._mutex:
            self._closed = True
            for stream in self._streams:
                stream.end()

    def _newest(self) -> tuple[ChangeRecord, ...]:
        with self._busy:
            self._workspace.notice(self._clock())
            return self._workspace.store.history.list(limit=BEHIND)

    def _look(self, _names: frozenset[str]) -> None:
        try:
            newest = self._newest()
        except MemdeckError:
            return
        with self._mutex:
            new = [record for record in reversed(newest) if record.seq > self._last]
            if not new:
                return
            if len(new) == BEHIND:
                for stream in self._streams:
                    stream.put("gap", None, {})
            self._last = new[-1].seq
            for record in new:
                for stream in self._streams:
                    stream.put("change", record.id, row(record))


class _Stream:
    """The events for one client, in order."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._queue: asyncio.Queue[bytes | None] = asyncio.Queue()

    def put(self, event: str, name: str | None, data: dict[str, Any]) -> None:
        """Add an event, from any thread; a client that does not read is dropped."""
        lines = [f"event: {event}"] + ([f"id: {name}"] if name is not None else []) + [f"data: {json.dumps(data)}"]
        self._send("\n".join(lines).encode() + b"\n\n")

    def end(self) -> None:
        """End the stream, from any thread."""
        self._send(None)

    def _send(self, data: bytes | None) -> None:
        def add() -> None:
            self._queue.put_nowait(None if self._queue.qsize() > 2 * BEHIND else data)

        with suppress(RuntimeError):  # the loop has ended
            self._loop.call_soon_threadsafe(add)

    async def read(self) -> AsyncIterator[bytes]:
        """Yield the events to send, until the stream ends."""
        yield b": memdeck\n\n"
        while True:
            try:
                data = await asyncio.wait_for(self._queue.get(), HEARTBEAT)
            except TimeoutError:
                yield b":\n\n"
                continue
            if data is None:
                return
            yield data
