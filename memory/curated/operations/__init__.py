"""The operations on curated memory, in one registry from which every face is made."""

from __future__ import annotations
