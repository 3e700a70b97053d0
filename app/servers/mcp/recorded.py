"""Recorded answers: the SDK's own answers to the handshake and to listings that depend only on versions.

Loading the SDK takes over a second, and clients give up on slow servers. On a later start such a question gets the
answer that the SDK gave before, while the SDK loads. Then the SDK gets every message from the first one on, and its
answers to questions that are already answered are compared and not sent. Two questions are the same if method, protocol
version and shape are the same.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Mapping
from functools import cached_property
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from .definitions import INSTRUCTIONS, PROMPTS, TEMPLATES, tools

if TYPE_CHECKING:
    from memory.storage.own_folders import StateFolder

FILE = "mcp-answers.json"
METHODS = frozenset({"initialize", "server/discover", "ping", "tools/list", "prompts/list", "resources/templates/list"})
"""The methods that are answered from a recording: their answers are the same in every workspace at any time."""
_VERSIONS = frozenset({"protocolVersion", "io.modelcontextprotocol/protocolVersion"})
_FREE = frozenset(
    {"clientInfo", "io.modelcontextprotocol/clientInfo", "capabilities", "io.modelcontextprotocol/clientCapabilities"}
)
"""What clients say about themselves: answers depend only on its being an object, not on its content."""


class RecordedAnswers:
    """The recorded answers of servers of one workspace with the same options."""

    def __init__(self, folder: StateFolder, *, version: str, read_only: bool) -> None:
        """Nothing is read yet; `version` is memdeck's."""
        from memory.storage.private.answers import Answers

        self.read_only = read_only
        self._file = Answers(folder, FILE, key_of(version, read_only))
        self._new = False

    @cached_property
    def _answers(self) -> dict[str, Any]:
        return self._file.read()

    @property
    def known(self) -> bool:
        """Whether anything is recorded."""
        return bool(self._answers)

    def answer(self, message: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return the recorded result for a request; None if there is none."""
        name = question_of(message)
        found = None if name is None else self._answers.get(name)
        return found if isinstance(found, dict) else None

    def record(self, message: Mapping[str, Any], result: Mapping[str, Any] | None) -> None:
        """Record an answer of the SDK; a different one replaces the recorded one, None deletes it."""
        name = question_of(message)
        if name is None or self.answer(message) == result:
            return
        self._answers.pop(name, None)
        if result is not None:
            self._answers[name] = dict(result)
        self._new = True

    def save(self) -> None:
        """Save new recordings."""
        if self._new:
            self._new = False
            self._file.write(self._answers)


def question_of(message: Mapping[str, Any]) -> str | None:
    """Return the name of a question, which is the same for all with the same answer; None if it is not recorded."""
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
    """Return whether what a client says about itself has the form that the protocol expects."""
    if key.endswith("clientInfo"):
        return all(isinstance(value.get(name), str) for name in ("name", "version"))
    return all(isinstance(one, dict) for one in value.values())


def key_of(version: str, read_only: bool) -> str:
    """Return a key of what answers depend on: versions of memdeck, the SDK and Python, options, and the offer."""
    offered = json.dumps([INSTRUCTIONS, PROMPTS, TEMPLATES, [tool.json() for tool in tools(read_only=read_only)]])
    told = json.dumps([version, sdk_version(), sys.version, read_only, offered, _source()])
    return hashlib.sha256(told.encode()).hexdigest()


def sdk_version() -> str:
    """Return the version of the SDK from its folder, without loading it; empty if it is not installed."""
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
    """Return when the module that builds the server was changed: in an editable install that can be at any time."""
    try:
        return [os.stat(os.path.join(os.path.dirname(__file__), "server.py")).st_mtime_ns]
    except OSError:
        return []
