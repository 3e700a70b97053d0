"""The consent to prune the folders that an Aidefile has chosen, for whoever prunes."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from memory.errors import BlockedError, MemdeckError
from memory.registry import workspace_of
from memory.trust.folders import folders_ask, is_usual

if TYPE_CHECKING:
    from memory.trust.consent import Ask
    from memory.typed.aidefile import Aidefile
    from memory.typed.files import AgentFiles
    from memory.typed.prune import May
    from memory.typed.registry import Agent


def ask_of(agent: Agent, aidefile: Aidefile, found: AgentFiles) -> Ask:
    """Return what an agent asks for, the same wherever one stands."""
    return folders_ask(agent, os.path.relpath(agent.folder / "Aidefile", _root(agent)), aidefile, found)


def may_prune(state_home: Path | None) -> May:
    """Return the function that says why an agent's folders may not be pruned now, None where they may.

    The folders of an agent without settings may; others need an approval in the state folder, and so do they once
    others were approved. BlockedError `trust.blocked`, RefusedError `typed.folder`.
    """

    def why_not(agent: Agent, aidefile: Aidefile, found: AgentFiles) -> MemdeckError | None:
        from memory.trust.consent import Trust, blocked_json
        from memory.typed.folders import folder_refusal

        refusal = folder_refusal(aidefile, found)
        if refusal is not None:
            return refusal
        ask = ask_of(agent, aidefile, found)
        if state_home is None:
            return None if is_usual(ask) else _blocked(agent, aidefile, "there is no state folder to keep approvals in")
        decision = Trust(state_home, _root(agent)).decide(ask)
        if decision.allowed:
            return None
        return _blocked(agent, aidefile, decision.why, blocked=[blocked_json(ask, decision)])

    return why_not


def _blocked(agent: Agent, aidefile: Aidefile, why: str, **details: object) -> BlockedError:
    folders = f"{aidefile.procedural_real[:80]!r} and {aidefile.episodic_real[:80]!r}"
    return BlockedError(
        "trust.blocked",
        f"the folders of {agent.name[:60]!r}, {folders}, are not pruned: {why}",
        f"`memdeck trust list -w {_root(agent)}` shows what waits for an approval",
        **details,
    )


def _root(agent: Agent) -> Path:
    """Return the workspace whose approvals count for an agent."""
    real = os.path.realpath(agent.folder)
    return Path(workspace_of(real) or real)
