"""The operations on curated memory, in the table of operations."""

from __future__ import annotations
