"""Messages on their way between the wire and the SDK, with recorded answers for the first of them."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Mapping
from typing import Any

from .recorded import METHODS, RecordedAnswers
from .wire import Message, Wire

LAST = 6.0
"""Seconds in which requests that came before the end of the input are still answered."""
_MOMENT = 5.0
"""Seconds for which an end that comes during the first handshake waits for what is recorded of it."""
_MANY = 64
"""Messages that may wait for the SDK; the next ones wait in the pipe."""


class Relay:
    """Passes messages between the wire and the SDK, and answers from the recording what it can before that is there.

    Messages wait in their order until the SDK takes them. What it answers to a request that has its answer already is
    compared with the recording and not sent.
    """

    def __init__(self, wire: Wire, recorded: RecordedAnswers | None) -> None:
        """Without a recording every message waits for the SDK."""
        self._wire = wire
        self._recorded = recorded
        self._condition = threading.Condition()
        self._waiting: deque[bytes] = deque()
        self._ended = False
        self._live = False
        self._era: str | None = None
        self._open: dict[str | int, Message] = {}
        self._answered: dict[str | int, Message] = {}
        self.begun = threading.Event()
        """Set with the first message, or the end of the input."""
        self.ended = threading.Event()
        """Set with the end of the input."""

    def start(self) -> None:
        """Begin to read."""
        self._wire.start(self.received)

    def received(self, message: Message | None, line: bytes) -> None:
        """Take a message from the wire; called in its reading thread, which waits where too much does."""
        with self._condition:
            if message is None:
                self._ended = True
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
        """Keep track of a request; False for one that must not reach the SDK."""
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
        """Return the recorded result of a request, None where the SDK has to answer.

        The first request decides the era of the protocol, and what comes from the other one gets an error, as does a
        listing before the handshake: errors are the SDK's affair.
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
            self._condition.wait_for(lambda: self._waiting or self._ended)
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
        """Pass on what the SDK says, but for an answer that was given already."""
        identity = message.get("id")
        if "method" not in message and isinstance(identity, (str, int)):
            with self._condition:
                asked = self._answered.pop(identity, None)
                request = asked or self._open.get(identity)
            if self._recorded is not None and request is not None and request["method"] in METHODS:
                # An error is never recorded, and takes away what was.
                self._recorded.record(request, message.get("result"))
                self._recorded.save()
            if asked is None:
                self._wire.send_line(line)
            with self._condition:
                self._open.pop(identity, None)
                self._condition.notify_all()
            return
        self._wire.send_line(line)
