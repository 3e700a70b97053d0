"""Facts: short notes that agents keep in `.aegis/memory/memories.jsonl`, search, and get put into their prompts."""

from __future__ import annotations

from .model import Deleted, Fact, Kept, Refused, Unread
from .store import FactStore, Look

__all__ = ["Deleted", "Fact", "FactStore", "Kept", "Look", "Refused", "Unread"]
