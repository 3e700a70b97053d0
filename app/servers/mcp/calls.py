"""Calls: tools and resources run by the core; answers are plain data, errors included."""

from __future__ import annotations

import threading
from collections.abc import Callable, Container, Mapping
from contextlib import AbstractContextManager, suppress
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from memory.errors import MemdeckError, NotFoundError, RefusedError, UsageError
from memory.storage.changes import is_agent
from memory.systems.entries import EntryAccess, error_json

from .definitions import BRIEF_URI, FILE_URI, INSTRUCTIONS, Tool, operations, tools

if TYPE_CHECKING:
    from memory.workspace import Workspace


Json = dict[str, Any]
LONGEST_FILE = 1_000_000
"""The most bytes of a file that is served as a resource."""


class Calls:
    """Everything one server does for its clients; can be shared between threads, one call at a time.

    `begun` is held during a call, so that the server ends only after a change in progress.
    """

    instructions = INSTRUCTIONS

    def __init__(
        self,
        workspace: Callable[[], Workspace],
        clock: Callable[[], datetime],
        *,
        actor: str | None = None,
        read_only: bool = False,
        busy: AbstractContextManager[object] | None = None,
    ) -> None:
        """`workspace` opens it; where there is none yet, every call tries again, and its error is the answer.

        `actor` is the actor of changes; without one it is the client's name.
        """
        self.begun = busy or threading.Lock()
        self._open = workspace
        self._actor = actor
        self.clock = clock
        with suppress(MemdeckError):
            _ = self.entries
        self._operations = operations()
        self._offer(tools(read_only=read_only))

    def _offer(self, offered: tuple[Tool, ...]) -> None:
        self.offered = offered
        self._known = {tool.name: tool for tool in offered}

    @cached_property
    def workspace(self) -> Workspace:
        """The workspace; MemdeckError if it cannot be opened."""
        return self._open()

    @cached_property
    def entries(self) -> EntryAccess:
        """The entries of the workspace; errors as there."""
        return EntryAccess(self.workspace, self.clock)

    def actor(self, client: str | None) -> str:
        """Return the actor of a client's changes: `agent:` and the name it gives itself."""
        if self._actor is not None:
            # All calls here come from agents: they never act as the user.
            return self._actor if is_agent(self._actor) else f"agent:{self._actor}"
        name = "".join(one if one.isalnum() or one in "-_." else "-" for one in (client or "").lower()[:40]).strip("-")
        return f"agent:{name or 'mcp'}"

    def call(self, name: str, arguments: Mapping[str, Any] | None, client: str | None) -> tuple[Json, bool]:
        """Return the structured answer of a tool, and whether it is an error; nothing is raised."""
        try:
            with self.begun:
                return self.done(name, arguments, self.actor(client)), False
        except MemdeckError as error:
            return error_json(error), True
        except RecursionError:
            return error_json(UsageError("mcp.arguments", "the arguments are too deep", "send flat values")), True
        except Exception as error:
            what = f"{type(error).__name__}: {error}"[:300]
            return error_json(MemdeckError("internal", what, "please report it")), True

    def done(self, name: str, arguments: Mapping[str, Any] | None, actor: str) -> Json:
        """Return the structured answer of a tool called by `actor`; MemdeckError."""
        self.refuse_unknown(name, self._operations)
        given = {key: one for key, one in (arguments or {}).items() if one is not None}
        try:
            values = self._operations[name].read(given)
        except UsageError as error:
            raise UsageError("mcp.arguments", error.message, error.hint, **error.details) from None
        answer: Json = getattr(self.entries, name)(**values, actor=actor)
        return answer

    def refuse_unknown(self, name: str, every: Container[str]) -> None:
        """Raise an error unless a tool is offered: RefusedError `mcp.read_only` for one of `every` that is not, else
        NotFoundError `mcp.no_tool`.
        """
        if name not in self._known:
            if name in every:
                words = f"{name} is not offered by this server"
                raise RefusedError("mcp.read_only", words, "it may only read, or have another toolset")
            raise NotFoundError("mcp.no_tool", f"there is no tool {name[:60]!r}", f"use {', '.join(self._known)}")

    def warm(self) -> None:
        """Read the files and update the index, so that the first call does not have to.

        It does not delay the end: only derived data is changed. Errors are reported when a tool is called.
        """
        with suppress(Exception):
            self.entries.search("memory", limit=1)
            self.entries.brief()

    # -- resources ----------------------------------------------------------------------------------------------

    def files(self) -> list[str]:
        """Return the existing memory files, relative to the workspace."""

        with self.begun:
            names = [name for system in self.workspace.systems() for name in system.files()]
            return [name for name in dict.fromkeys(names) if (self.workspace.root / name).is_file()]

    def resource(self, uri: str, client: str | None = None) -> str:
        """Return the text of a resource; MemdeckError if there is none."""
        if uri == BRIEF_URI:
            with self.begun:
                text: str = self.entries.brief(actor=self.actor(client))["text"]
                return text
        if uri.startswith(FILE_URI):
            return self._file(uri.removeprefix(FILE_URI))
        raise NotFoundError("mcp.no_resource", f"there is no resource {uri[:80]!r}", "list them")

    def _file(self, path: str) -> str:
        from memory.base.safe_text import visible
        from memory.document.lines import decode

        name = unquote(path)
        known = name in self.files()
        with self.begun:
            found = self.workspace.together.find(name) if known else None
            if found is None:
                raise NotFoundError(
                    "mcp.no_resource", f"{name[:80]!r} is not a memory file of this workspace", "list them"
                )
            data = found[0].read(found[1]).data
        if len(data) > LONGEST_FILE:
            raise RefusedError("mcp.large", f"{name[:80]} is larger than {LONGEST_FILE:,} bytes", "read its entries")
        return visible(decode(data), newlines=True)
