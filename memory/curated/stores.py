"""The stores of curated memory, and their folders of memories by scope, in the order of precedence."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

from memory.errors import UsageError
from memory.storage import PrivateState, Store
from memory.storage.changes import PlainReading
from memory.storage.own_folders import agh_home

from .files.names import check_agent, is_agent
from .model import INDEX, SCOPES, TIERS, Root

GLOBAL_FOLDER = "memory"
_FLAGS = "memory.scope.agent_flags_invalid"


class CuratedReading(PlainReading):
    """Reads the files of curated memory for the history: each file is restored as a whole."""

    def authored(self, path: str, data: bytes) -> bytes:
        """Return the bytes that people and agents wrote: none of an index, which is made from the memories."""
        return b"" if path.rpartition("/")[2] == INDEX else data

    def document(self, path: str, data: bytes) -> None:  # noqa: ARG002
        """Return None: a memory is one file and has no entries."""
        return


def person_store(home: Path, state_home: Path | None) -> Store:
    """Return the store of `$AGH_HOME`; `state_home` is None for the one that the environment names."""
    own = agh_home(os.environ, home)
    return Store(own, state=PrivateState(state_home, own, home), workspace=own, reading=CuratedReading())


def outside(_root: Path, home: Path, state_home: Path) -> Iterator[Store]:
    """Yield the person's store, where its folder exists."""
    store = person_store(home, state_home)
    if store.root.is_dir():
        yield store


def global_root(folder: str) -> Root:
    """Return the folder of the global scope."""
    return Root("global", None, None, "global", folder, 0)


def workspace_root() -> Root:
    """Return the folder of the workspace scope."""
    return Root("workspace", None, None, "workspace", "memory", 1)


def agent_root(agent: str, tier: str) -> Root:
    """Return the folder of an agent; UsageError `memory.scope.agent_invalid`."""
    check_agent(agent)
    return Root("agent", agent, tier, tier, f"agents/{agent}/memory", 2 if tier == "global" else 3)


def root_of(scope: str, agent: str | None, tier: str | None, global_folder: Callable[[], str]) -> Root:
    """Return the folder of a scope, that of an agent where one is named; `global_folder` returns the global one."""
    if agent is not None and tier is not None:
        return agent_root(agent, tier)
    return global_root(global_folder()) if scope == "global" else workspace_root()


def check_selector(scope: str | None, agent: str | None, tier: str | None) -> str | None:
    """Return the tier of a choice of scope; UsageError `memory.scope.*` for an invalid choice.

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


def agents_in(store_root: Path) -> tuple[str, ...]:
    """Return the names of the agents that have a folder of memories beneath the root of a store."""
    try:
        names = sorted(os.listdir(store_root / "agents"))
    except OSError:
        return ()
    return tuple(name for name in names if is_agent(name) and os.path.isdir(store_root / "agents" / name / "memory"))
