"""Changes as server-sent events: each change of the log once, by whomever it was made."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Callable
from datetime import datetime
from typing import TYPE_CHECKING, Any

from app.servers.life import Busy
from memory.errors import BusyError, MemdeckError

if TYPE_CHECKING:
    from memory.storage.log.records import ChangeRecord
    from memory.storage.watch import Watcher
    from memory.workspace import Workspace

MOST = 16
"""Streams at one time."""
BEHIND = 200
"""So many changes a client that comes back is told at most, and so many wait for a slow one."""
HEARTBEAT = 15.0
"""Seconds after which a stream without news says that it lives."""


class ChangeEvents:
    """Tells streams of changes; the files are watched only while there is one."""

    def __init__(self, workspace: Workspace, clock: Callable[[], datetime], busy: Busy) -> None:
        """Nobody listens yet."""
        self._workspace = workspace
        self._clock = clock
        self._busy = busy
        self._streams: set[_Stream] = set()
        self._watcher: Watcher | None = None
        self._last = 0
        self._mutex = threading.Lock()
        self._closed = False

    def open(self, loop: asyncio.AbstractEventLoop, since: str | None) -> _Stream:
        """Return a new stream, which begins behind the change `since`, else with the next one; MemdeckError.

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
                    stream.put("change", record.id, _row(record))
            self._streams.add(stream)
            return stream

    def leave(self, stream: _Stream) -> None:
        """Forget a stream; nothing is watched any more when it was the last."""
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
        from memory.history.changes import list_changes

        with self._busy:
            self._workspace.notice(self._clock())
            return list_changes(self._workspace, limit=BEHIND)

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
                    stream.put("change", record.id, _row(record))


def _row(record: ChangeRecord) -> dict[str, Any]:
    from memory.history.changes import row

    return row(record)


class _Stream:
    """The news for one client, in their order."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._queue: asyncio.Queue[bytes | None] = asyncio.Queue()

    def put(self, event: str, name: str | None, data: dict[str, Any]) -> None:
        """Add an event, from any thread; a client that does not read is left."""
        lines = [f"event: {event}"] + ([f"id: {name}"] if name is not None else []) + [f"data: {json.dumps(data)}"]
        self._send("\n".join(lines).encode() + b"\n\n")

    def end(self) -> None:
        """End the stream, from any thread."""
        self._send(None)

    def _send(self, data: bytes | None) -> None:
        def add() -> None:
            self._queue.put_nowait(None if self._queue.qsize() > 2 * BEHIND else data)

        try:
            self._loop.call_soon_threadsafe(add)
        except RuntimeError:  # the loop has ended
            pass

    async def read(self) -> AsyncIterator[bytes]:
        """Yield what is to be sent, until the stream ends."""
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
