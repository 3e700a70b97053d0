"""The server over stdin and stdout: recorded answers at once, then the SDK, which takes over the whole stream."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from app.servers.life import Life

from .recorded import METHODS, RecordedAnswers
from .wire import Message, Wire

if TYPE_CHECKING:
    from .calls import Calls
    from .watched import WatchedResources

LAST = 6.0
"""Seconds in which requests that came before the end of the input are still answered."""
_MOMENT = 5.0
"""Seconds to wait for answers worth recording if the input ends during the first handshake."""
_MANY = 64
"""The most messages that may wait for the SDK; further ones wait in the pipe."""
_MORE = 2.0
"""Seconds after `LAST` in which the process ends, even if something still waits."""
_SOON = 0.3
"""Seconds without a first message after which the SDK is loaded anyway."""


class Relay:
    """Passes messages between the wire and the SDK, and answers from the recording what it can before the SDK is ready.

    Messages wait in order until the SDK reads them. The SDK's answer to a request that is already answered is compared
    with the recording and not sent.
    """

    def __init__(self, wire: Wire, recorded: RecordedAnswers | None) -> None:
        """Without a recording every message waits for the SDK."""
        self._wire = wire
        self._recorded = recorded
        self._condition = threading.Condition()
        self._waiting: deque[bytes] = deque()
        self._live = False
        self._era: str | None = None
        self._open: dict[str | int, Message] = {}
        self._answered: dict[str | int, Message] = {}
        self.begun = threading.Event()
        """Set with the first message, or the end of the input."""
        self.ended = threading.Event()
        """Set with the end of the input."""

    def start(self) -> None:
        """Start reading."""
        self._wire.start(self.received)

    def received(self, message: Message | None, line: bytes) -> None:
        """Receive a message from the wire; called in its reading thread, which waits while too many are queued."""
        with self._condition:
            if message is None:
                self.ended.set()
            else:
                self._condition.wait_for(lambda: len(self._waiting) < _MANY)
                if not self._note(message):
                    self.begun.set()
                    return
                self._waiting.append(line)
            self._condition.notify_all()
        self.begun.set()

    def _note(self, message: Message) -> bool:
        """Track a request; return False for one that must not reach the SDK."""
        method, identity = message.get("method"), message.get("id")
        if method == "notifications/cancelled":
            params = message.get("params")
            gone = params.get("requestId") if isinstance(params, dict) else None
            if isinstance(gone, (str, int)):
                self._open.pop(gone, None)
        if not isinstance(method, str) or not isinstance(identity, (str, int)):
            return True
        if identity in self._open or (not self._live and identity in self._answered):
            self._wire.refuse(identity, -32600, "a request with this id is not answered yet")
            return False
        result = self._known(message)
        if result is None:
            if method != "subscriptions/listen":
                self._open[identity] = message
            return True
        self._answered[identity] = message
        self._wire.send({"jsonrpc": "2.0", "id": identity, "result": result})
        return True

    def _known(self, message: Message) -> dict[str, Any] | None:
        """Return the recorded result of a request, None if the SDK has to answer.

        The first request decides the era of the protocol. Requests of the other era get an error, and so does a listing
        before the handshake: the SDK sends those errors.
        """
        params = message.get("params")
        meta = params.get("_meta") if isinstance(params, dict) else None
        modern = isinstance(meta, dict) and "io.modelcontextprotocol/protocolVersion" in meta
        opens = message["method"] == "initialize"
        first = self._era is None
        if first:
            self._era = "legacy" if opens else "modern" if modern else "other"
        if self._live or self._recorded is None or self._era == "other":
            return None
        if opens:
            return self._recorded.answer(message) if first else None
        return self._recorded.answer(message) if modern == (self._era == "modern") else None

    def next(self) -> bytes | None:
        """Return the next message for the SDK, None at the end of the input once all requests are answered."""
        with self._condition:
            self._live = True
            self._condition.wait_for(lambda: self._waiting or self.ended.is_set())
            if self._waiting:
                line = self._waiting.popleft()
                self._condition.notify_all()
                return line
            self._condition.wait_for(lambda: not self._open and not self._answered, timeout=LAST)
        return None

    def finish(self) -> None:
        """Wait a moment for answers that are worth recording: a client that left will start the server again."""
        if self._recorded is None or self._recorded.known:
            return
        with self._condition:
            self._condition.wait_for(
                lambda: not any(one["method"] in METHODS for one in self._open.values()), timeout=_MOMENT
            )

    def send(self, message: Mapping[str, Any], line: bytes) -> None:
        """Send a message of the SDK, unless it answers a request that is already answered."""
        identity = message.get("id")
        if "method" not in message and isinstance(identity, (str, int)):
            with self._condition:
                asked = self._answered.pop(identity, None)
                request = asked or self._open.get(identity)
            if self._recorded is not None and request is not None and request["method"] in METHODS:
                # Errors are never recorded, and delete what was recorded.
                self._recorded.record(request, message.get("result"))
                self._recorded.save()
            if asked is None:
                self._wire.send_line(line)
            with self._condition:
                self._open.pop(identity, None)
                self._condition.notify_all()
            return
        self._wire.send_line(line)


class Begun(NamedTuple):
    """A server that gives its first answers before anything else is loaded."""

    life: Life
    relay: Relay


def begin(recorded: RecordedAnswers | None) -> Begun:
    """Take stdin and stdout, and return once the first message is answered or has to wait for the SDK.

    It also returns after a moment without a message: then loading goes on, which slows down answers meanwhile.
    """
    life = Life()
    relay = Relay(Wire.of_process(life.end), recorded)
    life.before.append(relay.finish)
    life.watch(parent=True)
    threading.Thread(target=_leave, args=(relay, life), name="memdeck-mcp-leave", daemon=True).start()
    relay.start()
    if recorded is not None and recorded.known:
        relay.begun.wait(_SOON)
    return Begun(life, relay)


def _leave(relay: Relay, life: Life) -> None:
    """End the process some time after its input, even if no one reads its last answers."""
    relay.ended.wait()
    time.sleep(LAST + _MORE)
    life.end()


def serve_stdio(calls: Calls, watched: WatchedResources, begun: Begun) -> None:
    """Serve one client on stdin and stdout until it leaves; this ends the process."""
    from .sdk import leave_out_unused

    leave_out_unused()
    from .sdk_stream import run

    begun.life.busy.at_rest(calls.rest)
    run(calls, watched, begun.relay)
    begun.life.end()
