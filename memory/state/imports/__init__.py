"""Sessions of agents as evidence: which files a source holds, and what each of them says.

Only text that the person and the agent wrote counts: no output of tools, no messages of the system, no thinking, and
nothing of the side conversations with subagents.
"""

from __future__ import annotations

from .discover import TYPES, SourceItem, discover
from .read import ImportedItem, read_item

__all__ = ["TYPES", "ImportedItem", "SourceItem", "discover", "read_item"]
