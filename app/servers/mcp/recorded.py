"""Recorded answers: the SDK's own answers to the handshake and to listings that depend on nothing but versions.

Loading the SDK takes over a second, and clients go on without a slow server. On a later start such a question is
answered as the SDK answered it before, while the SDK loads; then the SDK gets every message from the first one on, and
what it answers to those that have an answer already is compared and not sent. A question counts as the same where it
has the same method, the same protocol version and the same shape.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from .definitions import INSTRUCTIONS, PROMPTS, TEMPLATES, tools

if TYPE_CHECKING:
    from memory.storage.places import StateFolder

FILE = "mcp-answers.json"
METHODS = frozenset({"initialize", "server/discover", "ping", "tools/list", "prompts/list", "resources/templates/list"})
"""What is answered from a recording: all that says the same in every workspace at every time."""
_VERSIONS = frozenset({"protocolVersion", "io.modelcontextprotocol/protocolVersion"})
_FREE = frozenset(
    {"clientInfo", "io.modelcontextprotocol/clientInfo", "capabilities", "io.modelcontextprotocol/clientCapabilities"}
)
"""What clients say of themselves: no answer depends on what stands in it, only on its being an object."""


class RecordedAnswers:
    """The recorded answers of one workspace's servers with the same options."""

    def __init__(self, folder: StateFolder, *, version: str, read_only: bool) -> None:
        """Nothing is read yet; `version` is memdeck's."""
        from memory.storage.private.answers import Answers

        self.read_only = read_only
        self._file = Answers(folder, FILE, key_of(version, read_only))
        self._answers: dict[str, Any] | None = None
        self._new = False

    @property
    def known(self) -> bool:
        """Whether anything is recorded."""
        if self._answers is None:
            self._answers = self._file.read()
        return bool(self._answers)

    def answer(self, message: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return the result for a request; None where nothing is recorded."""
        if self._answers is None:
            self._answers = self._file.read()
        name = question_of(message)
        found = None if name is None else self._answers.get(name)
        return found if isinstance(found, dict) else None

    def record(self, message: Mapping[str, Any], result: Mapping[str, Any] | None) -> None:
        """Note what the SDK answered; one that differs from what was recorded replaces it, None takes it away."""
        name = question_of(message)
        if name is None or self.answer(message) == result:
            return
        assert self._answers is not None
        self._answers.pop(name, None)
        if result is not None:
            self._answers[name] = dict(result)
        self._new = True

    def save(self) -> None:
        """Keep what is new."""
        if self._new and self._answers is not None:
            self._new = False
            self._file.write(self._answers)


def question_of(message: Mapping[str, Any]) -> str | None:
    """Return what names a question among all that have the same answer; None for one that is not recorded."""
    if message.get("method") not in METHODS or "id" not in message:
        return None
    params = message.get("params")
    if isinstance(params, dict) and params.get("cursor") is not None:
        return None
    return json.dumps([message["method"], _shape(params, "")], sort_keys=True)


def _shape(value: Any, key: str) -> Any:
    if key in _VERSIONS and isinstance(value, str):
        return f"={value[:40]}"
    if isinstance(value, dict):
        return (
            "{}"
            if key in _FREE and _is_plain(key, value)
            else {name[:80]: _shape(one, name) for name, one in value.items()}
        )
    if isinstance(value, list):
        return [_shape(one, key) for one in value[:20]] + [len(value)]
    return type(value).__name__


def _is_plain(key: str, value: Mapping[str, Any]) -> bool:
    """Tell whether what a client says of itself is what the protocol expects there."""
    if key.endswith("clientInfo"):
        return all(isinstance(value.get(name), str) for name in ("name", "version"))
    return all(isinstance(one, dict) for one in value.values())


def key_of(version: str, read_only: bool) -> str:
    """Return what the answers depend on: versions of memdeck, the SDK and Python, the options, and what is offered."""
    offered = json.dumps([INSTRUCTIONS, PROMPTS, TEMPLATES, [tool.json() for tool in tools(read_only=read_only)]])
    told = json.dumps([version, sdk_version(), sys.version, read_only, offered, _source()])
    return hashlib.sha256(told.encode()).hexdigest()


def sdk_version() -> str:
    """Return the version of the SDK as its folder says, without loading it; empty where it is not installed."""
    spec = find_spec("mcp")
    if spec is None or not spec.submodule_search_locations:
        return ""
    folder = os.path.dirname(next(iter(spec.submodule_search_locations)))
    try:
        names = os.listdir(folder)
    except OSError:
        return ""
    return ",".join(
        sorted(name for name in names if name.startswith(("mcp-", "mcp_types-")) and name.endswith(".dist-info"))
    )


def _source() -> list[int]:
    """Return when the module that builds the server was changed: of an editable install it may be at any time."""
    try:
        return [os.stat(os.path.join(os.path.dirname(__file__), "server.py")).st_mtime_ns]
    except OSError:
        return []
