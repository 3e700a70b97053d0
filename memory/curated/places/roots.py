"""The folders of memories by scope, in the order of precedence, and how a scope is chosen."""

from __future__ import annotations

import os
from pathlib import Path

from memory.curated.files.names import check_agent
from memory.curated.model import DEFAULT_SCOPE, SCOPES, TIERS, Root
from memory.errors import UsageError

GLOBAL_FOLDER = "memory"
_FLAGS = "memory.scope.agent_flags_invalid"


def global_root(folder: str = GLOBAL_FOLDER) -> Root:
    """Return the folder of the global scope."""
    return Root("global", None, None, "global", folder, 0)


def workspace_root() -> Root:
    """Return the folder of the workspace scope."""
    return Root("workspace", None, None, "workspace", "memory", 1)


def agent_root(agent: str, tier: str) -> Root:
    """Return the folder of an agent; UsageError `memory.scope.agent_invalid`."""
    check_agent(agent)
    return Root("agent", agent, tier, tier, f"agents/{agent}/memory", 2 if tier == "global" else 3)


def check_selector(scope: str | None, agent: str | None, tier: str | None) -> str | None:
    """Return the tier that a choice of scope means; UsageError `memory.scope.*` for one that means nothing.

    The tier of an agent is `workspace` where none is named.
    """
    if scope is not None and scope not in SCOPES:
        raise UsageError("memory.scope.invalid", f"there is no scope {scope[:40]!r}", f"one of {', '.join(SCOPES)}")
    if scope == "agent" and not agent:
        raise UsageError("memory.scope.agent_required", "the scope agent needs an agent", "name it with --agent")
    if scope in ("global", "workspace") and (agent or tier):
        raise UsageError(_FLAGS, f"the scope {scope} has no agent and no tier", "use --scope agent")
    if tier is not None:
        if tier not in TIERS:
            raise UsageError(
                "memory.scope.agent_tier_invalid", f"there is no tier {tier[:40]!r}", "workspace or global"
            )
        if not agent:
            raise UsageError(_FLAGS, "a tier is that of an agent", "name the agent with --agent")
    if agent:
        check_agent(agent)
    return (tier or "workspace") if scope == "agent" else tier


def default_scope(kind: str) -> str:
    """Return the scope of a write that names none: by its type, never `agent`."""
    return DEFAULT_SCOPE[kind]


def agents_in(store_root: Path) -> tuple[str, ...]:
    """Return the names of the agents that have a folder of memories beneath the root of a store."""
    try:
        names = sorted(os.listdir(store_root / "agents"))
    except OSError:
        return ()
    found = []
    for name in names:
        try:
            check_agent(name)
        except UsageError:
            continue
        if os.path.isdir(store_root / "agents" / name / "memory"):
            found.append(name)
    return tuple(found)
