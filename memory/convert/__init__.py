"""Conversion between memory systems, and from the files of other tools, with a report of what cannot be converted."""

from __future__ import annotations

from .run import ConversionReport, convert

__all__ = ["ConversionReport", "convert"]
