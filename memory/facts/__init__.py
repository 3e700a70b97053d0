"""Facts: short notes that agents keep in `.aegis/memory/memories.jsonl`, search, and get put into their prompts."""

from __future__ import annotations

from .model import Deleted, Fact, KeptFact, RefusedFact, UnreadLine
from .store import FactsLook, FactStore

__all__ = ["Deleted", "Fact", "FactStore", "FactsLook", "KeptFact", "RefusedFact", "UnreadLine"]
