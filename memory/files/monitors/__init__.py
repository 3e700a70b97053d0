"""The monitors of monitors.md, and their edits."""

from __future__ import annotations
