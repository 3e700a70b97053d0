"""The entries of all memory systems by ref: what agents search, read, add, edit and remove, through any interface."""

from __future__ import annotations

from .access import EntryAccess
from .model import EntryItem, Made, hash_of, item_of

__all__ = ["EntryAccess", "EntryItem", "Made", "hash_of", "item_of"]
