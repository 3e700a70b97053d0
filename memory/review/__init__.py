"""Review: the changes that agents propose, and that a person accepts, edits or rejects."""

from __future__ import annotations

from .inbox import Inbox, refuse_agents
from .model import ProposalStanding, row

__all__ = ["Inbox", "ProposalStanding", "refuse_agents", "row"]
