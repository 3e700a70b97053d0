"""Review: what agents want to change and a person decides about, accepts, edits or rejects."""

from __future__ import annotations

from .inbox import Inbox
from .model import ProposalStanding, row
from .person import refuse_agents

__all__ = ["Inbox", "ProposalStanding", "refuse_agents", "row"]
