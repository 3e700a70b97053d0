"""Rules for agents in tests that are about something else than review."""

from __future__ import annotations

from datetime import UTC, datetime

from memory.review.policy import set_rule
from memory.storage import Store

NOW = datetime(2024, 1, 15, 10, 30, tzinfo=UTC)


def let_agents(store: Store) -> Store:
    """Let agents do everything at once, and return the store."""
    set_rule(store.state, "agent:*", "*", "apply", now=NOW)
    return store
