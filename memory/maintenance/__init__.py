"""Maintenance: the rules that keep the memory files small, their plan, the independent check, and the report."""

from __future__ import annotations
