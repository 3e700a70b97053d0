"""The consent to prune the folders that an Aidefile names."""

from __future__ import annotations

import os
from pathlib import Path

from memory.errors import BlockedError, MemdeckError
from memory.registry import workspace_of
from memory.trust.asks import Ask, hidden_in, hidden_in_name
from memory.trust.consent import Trust, blocked_json

from .aidefile import Aidefile
from .files import AgentFiles
from .registry import Agent
from .status import USUAL, May, folder_refusal, folders_text


def ask_of(agent: Agent, aidefile: Aidefile, found: AgentFiles) -> Ask:
    """Return an agent's ask; it does not depend on the workspace from which the agent is seen."""
    text = folders_text(aidefile)
    refusal = folder_refusal(aidefile, found)
    hidden = hidden_in(text) or hidden_in_name(agent.name)
    why = refusal.message if refusal is not None else f"it holds the hidden character {hidden}" if hidden else ""
    file = os.path.relpath(agent.folder / "Aidefile", _root(agent))
    usual = "the folders of every agent without settings" if text == USUAL else ""
    return Ask("folders", "typed", text, agent.name, file, 0, ambiguous=why, usual=usual)


def may_prune(state_home: Path) -> May:
    """Return a function that returns why an agent's folders may not be pruned now, None if they may.

    The folders of an agent without settings may be pruned. Others need an approval in the state folder, and so do the
    usual ones once others were approved: BlockedError `trust.blocked`.
    """

    def why_not(agent: Agent, aidefile: Aidefile, found: AgentFiles) -> MemdeckError | None:
        ask = ask_of(agent, aidefile, found)
        decision = Trust(state_home, _root(agent)).decide(ask)
        if decision.allowed:
            return None
        folders = f"{aidefile.procedural_real[:80]!r} and {aidefile.episodic_real[:80]!r}"
        return BlockedError(
            "trust.blocked",
            f"the folders of {agent.name[:60]!r}, {folders}, are not pruned: {decision.why}",
            f"`memdeck trust list -w {_root(agent)}` shows what waits for an approval",
            blocked=[blocked_json(ask, decision)],
        )

    return why_not


def _root(agent: Agent) -> Path:
    """Return the workspace whose approvals count for an agent."""
    real = os.path.realpath(agent.folder)
    return Path(workspace_of(real) or real)
