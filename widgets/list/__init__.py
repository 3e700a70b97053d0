"""Lists that draw lines: rows, columns, selection, outlines, boards."""

from __future__ import annotations
