"""Rules for agents in tests that are about something else than review."""

from __future__ import annotations

from datetime import UTC, datetime

from memory.review.policy import change_policy, checked_rule
from memory.storage import Store

NOW = datetime(2024, 1, 15, 10, 30, tzinfo=UTC)


def let_agents(store: Store) -> Store:
    """Let agents do everything at once, and return the store."""
    change_policy(store.state, lambda old: old.with_rule(checked_rule("agent:*", "*", "apply")), now=NOW)
    return store
