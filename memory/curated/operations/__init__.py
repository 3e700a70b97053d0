"""The operations on curated memory, in one registry from which all interfaces are built."""

from __future__ import annotations
