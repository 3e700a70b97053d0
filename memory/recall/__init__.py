"""Search over everything that the memory of a workspace holds."""

from __future__ import annotations

from memory.registry import KINDS

from .records import FILE_KINDS, Record, records
from .scan import Hit, scan, words_of

__all__ = ["FILE_KINDS", "KINDS", "Hit", "Record", "records", "scan", "words_of"]
