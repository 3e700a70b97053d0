"""How fields are read: what values they take, and in which forms agents and people write them."""

from __future__ import annotations
