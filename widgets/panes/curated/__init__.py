"""The pane of curated memory."""

from __future__ import annotations
