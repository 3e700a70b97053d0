"""The line protocol over stdin and stdout, using only the standard library.

The process keeps both for itself: afterwards descriptor 0 reads nothing and descriptor 1 is stderr, so that printing
cannot break the protocol.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable
from typing import Any

from app.servers.life import point_to_nothing
from app.servers.nesting import deeper_than, strict_json

LONGEST = 4 * 1024 * 1024
"""The most bytes of one message."""
_DEEPEST = 100
PARSE_ERROR, INVALID_REQUEST = -32700, -32600
Message = dict[str, Any]


class Wire:
    """Messages in and out; an invalid line is answered at once with what is wrong with it.

    `received` is called in the reading thread with each message and its line, then once with None at the end of the
    input. `broken` is called when no one reads the answers any more.
    """

    def __init__(self, incoming: int, outgoing: int, broken: Callable[[], object]) -> None:
        """Both are descriptors that belong to this object."""
        self._in = incoming
        self._out = outgoing
        self._broken = broken
        self._writing = threading.Lock()

    @classmethod
    def of_process(cls, broken: Callable[[], object]) -> Wire:
        """Take over stdin and stdout for the protocol."""
        incoming, outgoing = os.dup(0), os.dup(1)
        os.set_inheritable(incoming, False)
        os.set_inheritable(outgoing, False)
        point_to_nothing(0, os.O_RDONLY)
        try:
            os.dup2(2, 1)
        except OSError:
            point_to_nothing(1, os.O_WRONLY)
        return cls(incoming, outgoing, broken)

    def start(self, received: Callable[[Message | None, bytes], object]) -> None:
        """Read in a separate thread until the input ends."""
        threading.Thread(target=self._read, args=(received,), name="memdeck-mcp-read", daemon=True).start()

    def _read(self, received: Callable[[Message | None, bytes], object]) -> None:
        kept, dropped = bytearray(), False
        while True:
            try:
                part = os.read(self._in, 65536)
            except OSError:
                part = b""
            if not part:
                break
            start = 0
            while (end := part.find(b"\n", start)) >= 0:
                kept += part[start:end]
                start = end + 1
                if dropped or len(kept) > LONGEST:
                    self.refuse(None, INVALID_REQUEST, f"a message has at most {LONGEST:,} bytes")
                else:
                    self._take(bytes(kept), received)
                kept.clear()
                dropped = False
            kept += part[start:]
            if len(kept) > LONGEST:
                kept.clear()
                dropped = True
        if kept and not dropped:
            self._take(bytes(kept), received)
        received(None, b"")

    def _take(self, line: bytes, received: Callable[[Message | None, bytes], object]) -> None:
        if not line.strip():
            return
        try:
            message = strict_json(line)
        except (ValueError, RecursionError):
            self.refuse(None, PARSE_ERROR, "this line is no JSON")
            return
        if not isinstance(message, dict) or message.get("jsonrpc") != "2.0" or deeper_than(message, _DEEPEST):
            self.refuse(_id(message), INVALID_REQUEST, "this is no JSON-RPC 2.0 message")
            return
        if "method" not in message and "result" not in message and "error" not in message:
            self.refuse(_id(message), INVALID_REQUEST, "this is neither a request nor an answer")
            return
        if "method" in message and not isinstance(message["method"], str):
            self.refuse(_id(message), INVALID_REQUEST, "a method is a text")
            return
        if "id" in message and "method" in message and not _is_id(message["id"]):
            self.refuse(None, INVALID_REQUEST, "an id is a text or a whole number")
            return
        if not isinstance(message.get("params", {}), dict):
            self.refuse(_id(message), INVALID_REQUEST, "params is an object")
            return
        received(message, line)

    def refuse(self, identity: str | int | None, code: int, words: str) -> None:
        """Answer with an error."""
        self.send({"jsonrpc": "2.0", "id": identity, "error": {"code": code, "message": words}})

    def send(self, message: Message) -> None:
        """Write a message as one line."""
        self.send_line(json.dumps(message, separators=(",", ":")).encode())

    def send_line(self, line: bytes) -> None:
        """Write a whole line, not mixed with lines of other threads."""
        data = memoryview(line + b"\n")
        with self._writing:
            try:
                while data:
                    data = data[os.write(self._out, data) :]
            except OSError:
                self._broken()


def _id(message: Any) -> str | int | None:
    found = message.get("id") if isinstance(message, dict) else None
    return found if _is_id(found) else None


def _is_id(value: Any) -> bool:
    return isinstance(value, (str, int)) and not isinstance(value, bool) and len(str(value)[:300]) < 300
