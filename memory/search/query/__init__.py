"""The words of a query: its language, stems, names, typos, and how an entry is ranked."""

from __future__ import annotations
