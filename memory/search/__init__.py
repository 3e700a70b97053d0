"""Search over everything that the memory of a workspace holds."""

from __future__ import annotations

from .hits import FoundEntry, Hit, SearchAnswer
from .query.query import Query, read_day, read_query
from .records import FILE_KINDS, Record, records
from .scan import scan

__all__ = [
    "FILE_KINDS",
    "FoundEntry",
    "Hit",
    "Query",
    "Record",
    "SearchAnswer",
    "read_day",
    "read_query",
    "records",
    "scan",
]
