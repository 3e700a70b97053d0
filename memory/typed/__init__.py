"""Typed memory: core, procedural and episodic files of registered agents, as plain files with an Aidefile."""

from __future__ import annotations

from .files import MAX_AGE, TYPES, AgentFiles, MemoryFile
from .registry import Agent, agents_of, find_agent, read_registry
from .status import AgentLook, AgentStatus, look_at

__all__ = [
    "MAX_AGE",
    "TYPES",
    "Agent",
    "AgentFiles",
    "AgentLook",
    "AgentStatus",
    "MemoryFile",
    "agents_of",
    "find_agent",
    "look_at",
    "read_registry",
]
