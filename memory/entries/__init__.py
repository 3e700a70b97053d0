"""The entries of all memory systems by ref: what agents search, read, add, edit and remove, whichever face they use."""

from __future__ import annotations

from .desk import Desk
from .model import Item, Made, hash_of, item_of

__all__ = ["Desk", "Item", "Made", "hash_of", "item_of"]
