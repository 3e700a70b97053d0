"""Search over everything that the memory of a workspace holds."""

from __future__ import annotations

from .hits import Answer, Entry, Hit
from .query import Query, read_day, read_query
from .records import KINDS, Record, records
from .scan import scan

__all__ = ["KINDS", "Answer", "Entry", "Hit", "Query", "Record", "read_day", "read_query", "records", "scan"]
