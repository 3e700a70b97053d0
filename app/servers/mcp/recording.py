"""Recording in advance: the SDK's answers to a first handshake, requested before any client does.

A client that gives up on a slow server ends the very start whose answers would be recorded, and each later start is
just as slow. Here the SDK itself is asked what clients ask first, without a client.
"""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from .recorded import RecordedAnswers

if TYPE_CHECKING:
    from memory.workspace import Workspace

Json = dict[str, Any]
HANDSHAKES = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
"""Protocol versions that begin with a handshake; the newest comes last, because its listings are kept."""
WITHOUT = ("2026-07-28",)
"""Protocol versions in which each request names the version."""
_LISTINGS = ("tools/list", "prompts/list", "resources/templates/list")
_EMPTY: tuple[Json | None, ...] = (None, {}, {"_meta": {"progressToken": 0}})
"""The parameters of a listing: some clients leave them out, some request progress reports."""
_CLIENT = {"name": "memdeck", "version": "0"}
_LONGEST = 20.0
"""Seconds for the SDK to answer; later answers are not recorded."""


def record_ahead(
    workspace: Workspace, recorded: RecordedAnswers, clock: Callable[[], datetime], say: Callable[[], object]
) -> None:
    """Record the missing answers to what clients ask first; `say` is called before the SDK is loaded."""
    missing = [
        questions for questions in _sessions() if any("id" in one and recorded.answer(one) is None for one in questions)
    ]
    if not missing:
        return
    say()
    from .calls import Calls
    from .sdk import leave_out_unused
    from .watched import WatchedResources

    leave_out_unused()
    from .sdk_stream import serve

    calls = Calls(lambda: workspace, clock, read_only=recorded.read_only)
    watched = WatchedResources(calls)
    for questions in missing:
        serve(calls, watched, _Asking(questions, recorded))
    recorded.save()


def _sessions() -> Iterator[list[Json]]:
    """Yield what clients of each version send first, with and without optional parameters."""
    for version in HANDSHAKES:
        opening = {"protocolVersion": version, "capabilities": {}, "clientInfo": _CLIENT}
        plain = [(name, params) for name in (*_LISTINGS, "ping") for params in _EMPTY]
        yield [
            _request(0, "initialize", opening),
            {"jsonrpc": "2.0", "method": "notifications/initialized"},
            *(_request(number, *one) for number, one in enumerate(plain, 1)),
        ]
    for version in WITHOUT:
        meta = {
            "io.modelcontextprotocol/protocolVersion": version,
            "io.modelcontextprotocol/clientInfo": _CLIENT,
            "io.modelcontextprotocol/clientCapabilities": {},
        }
        yield [_request(number, name, {"_meta": meta}) for number, name in enumerate(("server/discover", *_LISTINGS))]


def _request(number: int, method: str, params: Json | None) -> Json:
    told = {"jsonrpc": "2.0", "id": number, "method": method}
    return told if params is None else told | {"params": params}


class _Asking:
    """A client that asks one question after the other and records the answers."""

    def __init__(self, questions: list[Json], recorded: RecordedAnswers) -> None:
        self._questions = deque(questions)
        self._recorded = recorded
        self._asked: Json | None = None
        self._condition = threading.Condition()

    def next(self) -> bytes | None:
        """Return the next question after the previous one is answered; None after the last."""
        with self._condition:
            if not self._condition.wait_for(lambda: self._asked is None, timeout=_LONGEST) or not self._questions:
                return None
            question = self._questions.popleft()
            self._asked = question if "id" in question else None
        return json.dumps(question).encode()

    def send(self, message: Mapping[str, Any], _line: bytes) -> None:
        """Record an answer."""
        with self._condition:
            if self._asked is not None and message.get("id") == self._asked["id"] and "method" not in message:
                self._recorded.record(self._asked, message.get("result"))
                self._asked = None
                self._condition.notify_all()
