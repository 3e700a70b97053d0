"""Providers: programs of other packages that are notified of memory events and add to what agents read.

Another package offers one by the entry point `memdeck.curated_providers`, which names an object of a subclass of
`Provider`: it overrides what it handles, and memdeck does all else itself.
"""

from __future__ import annotations

from memory.curated.model import Json

__all__ = ["NotHandled", "Provider"]


class NotHandled(Exception):
    """Raised by a provider to leave something to memdeck; not a failure."""


class Provider:
    """A provider; `name` is the name by which it is selected, `tools` are the names of the tools that it adds.

    A call may take `memory.provider.timeout`; five failures in a row open a breaker for half a minute. What it returns
    is data: texts that the content scan rejects are left out.
    """

    name: str = ""
    tools: tuple[str, ...] = ()

    def prompt_block(self, scope: str, agent_name: str | None, workspace_id: str) -> str:
        """Return Markdown for the snapshot of a session."""
        raise NotHandled

    def recall(self, query: str, limit: int, workspace_id: str) -> list[Json]:
        """Return the answers to a query, the best first: objects with `title` and `body`."""
        raise NotHandled

    def embed(self, texts: list[str]) -> list[list[float]]:
        """Return a vector of length 1 for each text, for recall by meaning."""
        raise NotHandled

    def prefetch(self, query: str, session_id: str, workspace_id: str) -> None:
        """Prepare for a session whose subject is `query`."""
        raise NotHandled

    def turn(self, session_id: str, role: str, content: str, turn_seq: int | None) -> None:
        """Handle a turn of a session."""
        raise NotHandled

    def session_end(self, session_id: str, workspace_id: str) -> None:
        """Handle the end of a session."""
        raise NotHandled

    def session_switch(self, before: str, after: str) -> None:
        """Handle the switch to another session."""
        raise NotHandled

    def pre_compress(self, session_id: str, content: str) -> str:
        """Return notes that must survive when a client shortens a session."""
        raise NotHandled

    def on_write(self, decision: Json) -> None:
        """Handle a decision that changed a memory; it does not include contents."""
        raise NotHandled
