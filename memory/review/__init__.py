"""Agents propose, a person decides: what waits, what accepting it would do, and accepting or rejecting it."""

from __future__ import annotations

from .inbox import Inbox, refuse_agents
from .model import row

__all__ = ["Inbox", "refuse_agents", "row"]
