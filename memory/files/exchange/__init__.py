"""The memory files on their way from and to other memories: every entry as an item, and items as entries."""

from __future__ import annotations
