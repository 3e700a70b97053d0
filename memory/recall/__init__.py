"""Search over everything that the memory of a workspace holds."""

from __future__ import annotations

from .records import KINDS, Record, records
from .scan import Hit, scan, words_of

__all__ = ["KINDS", "Hit", "Record", "records", "scan", "words_of"]
