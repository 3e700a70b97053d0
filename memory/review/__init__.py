"""Review: what agents want to change and a person decides about, accepts, edits or rejects."""

from __future__ import annotations

from .inbox import Inbox, refuse_agents
from .model import ProposalStanding, row

__all__ = ["Inbox", "ProposalStanding", "refuse_agents", "row"]
