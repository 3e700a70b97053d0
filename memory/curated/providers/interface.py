"""What a provider of memories is: a class that overrides what it handles; all else memdeck does by itself.

Another package offers one by the entry point `memdeck.curated_providers`, which names an object of such a class.
"""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]


class NotHandled(Exception):
    """Says that a provider leaves something to memdeck; no failure."""


class Provider:
    """A provider; `name` is what people select it by, `tools` are the names of tools that it brings.

    A call may take `memory.provider.timeout`; five failures in a row open a breaker for half a minute. What it returns
    is data: texts that the content scan rejects are left out.
    """

    name: str = ""
    tools: tuple[str, ...] = ()

    def prompt_block(self, scope: str, agent_name: str | None, workspace_id: str) -> str:
        """Return Markdown for the snapshot of a session."""
        raise NotHandled

    def recall(self, query: str, limit: int, workspace_id: str) -> list[Json]:
        """Return what answers a query, the best first: objects with `title` and `body`."""
        raise NotHandled

    def prefetch(self, query: str, session_id: str, workspace_id: str) -> None:
        """Get ready for a session that will be about something."""
        raise NotHandled

    def turn(self, session_id: str, role: str, content: str, turn_seq: int | None) -> None:
        """Take note of a turn."""
        raise NotHandled

    def session_end(self, session_id: str, workspace_id: str) -> None:
        """Take note that a session has ended."""
        raise NotHandled

    def session_switch(self, before: str, after: str) -> None:
        """Take note that another session goes on."""
        raise NotHandled

    def pre_compress(self, session_id: str, content: str) -> str:
        """Return notes that are to survive when a client shortens a session."""
        raise NotHandled

    def on_write(self, decision: Json) -> None:
        """Take note of a decision that changed a memory; contents are no part of it."""
        raise NotHandled


class BuiltInProvider(Provider):
    """The built-in provider: memdeck itself, which handles everything."""

    name = "local"


METHODS = (
    "prompt_block", "recall", "prefetch", "turn", "session_end", "session_switch", "pre_compress", "on_write"
)  # fmt: skip
"""The names of what a provider may handle."""
