"""What an agent of a client is told: what the client's hook sends, or what the agent gets on request."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from app.connect.clients import CLIENTS
from memory.prompts.brief import DEFAULT_BUDGET, MESSAGE_TOKENS, START_TOKENS, brief, for_message
from memory.prompts.sheet import PromptPreview, Sheet, read_choices
from memory.search.searcher import Searcher
from memory.workspace import Workspace

from .sessions import HookSession


def told(
    workspace: Workspace,
    now: datetime,
    client: str,
    message: str = "",
    *,
    agent: str = "",
    budget: int | None = None,
    searcher: Callable[[], Searcher],
) -> PromptPreview:
    """Return what an agent is told at the start of a session, or for a message; errors as `memory.prompts.brief`.

    An unknown client counts as one with all hooks. `agent` is who is told, by default the client.
    """
    name = agent or client
    event = "prompt" if message.strip() else "session-start"
    known = CLIENTS.get(client)
    sheet = Sheet(workspace.state).rows()
    if known is not None and event not in known.events:
        found = brief(workspace, now, message, budget or DEFAULT_BUDGET, searcher() if message.strip() else None, name)
        lacks = "no hooks" if not known.events else "no hook for a message"
        why = f"{known.title} has {lacks}: the agent gets this when it calls the tool `brief`"
        return PromptPreview(found, why, sheet)
    if event == "session-start":
        since = HookSession(workspace, "", f"agent:{client}").last_begun
        most = budget or read_choices(workspace.state).budget or START_TOKENS
        return PromptPreview(brief(workspace, now, budget=most, agent=name, since=since), sheet=sheet)
    found = for_message(workspace, now, message, budget or MESSAGE_TOKENS, searcher())
    return PromptPreview(found, sheet=sheet)
