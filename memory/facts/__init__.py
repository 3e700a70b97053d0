"""Facts: short notes that agents keep in `.aegis/memory/memories.jsonl`, search, and get put into their prompts."""

from __future__ import annotations

from memory.facts.model import Answer, Fact, UnreadLine

from .store import FactsLook, FactStore

__all__ = ["Answer", "Fact", "FactStore", "FactsLook", "UnreadLine"]
