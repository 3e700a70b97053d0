"""The words of a query: its syntax, stems, names, typos, and the ranking of entries."""

from __future__ import annotations
