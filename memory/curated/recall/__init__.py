"""Recall: the words of a query, scores, shadowing, the package, and the frozen snapshot."""

from __future__ import annotations
