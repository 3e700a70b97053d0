"""The verbs on curated memory."""

from __future__ import annotations
