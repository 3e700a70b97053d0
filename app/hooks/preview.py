"""What an agent of a client is told: what the client's hook sends, else what the agent gets when it asks."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING

from app.connect.clients import CLIENTS
from memory.prompts import Told

from .run import told_apart

if TYPE_CHECKING:
    from memory.search.searcher import Searcher
    from memory.workspace import Workspace


def told(
    workspace: Workspace,
    now: datetime,
    client: str,
    message: str = "",
    *,
    agent: str = "",
    budget: int | None = None,
    searcher: Callable[[], Searcher],
) -> Told:
    """Return what an agent is told at the start of a session, or for a message; errors as `memory.prompts.brief`.

    A client that is not known is one with all hooks. `agent` is whose pins and mutes count, by default the client's.
    """
    from memory.prompts import DEFAULT_BUDGET, MESSAGE_TOKENS, START_TOKENS, brief, for_message

    name = agent or client
    event = "prompt" if message.strip() else "session-start"
    known = CLIENTS.get(client)
    if known is not None and event not in known.events:
        found = brief(workspace, now, message, budget or DEFAULT_BUDGET, searcher() if message.strip() else None, name)
        lacks = "no hooks" if not known.events else "no hook for a message"
        return Told(found, f"{known.title} has {lacks}: the agent gets this when it calls the tool `brief`")
    if event == "session-start":
        return Told(brief(workspace, now, budget=budget or START_TOKENS, agent=name))
    apart = told_apart(workspace)
    return Told(for_message(workspace, now, message, budget or MESSAGE_TOKENS, searcher(), apart, name))
