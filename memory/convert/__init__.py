"""Conversion between memory systems, and from the files of other tools, with a report of what has no home."""

from __future__ import annotations

from .run import Report, convert

__all__ = ["Report", "convert"]
