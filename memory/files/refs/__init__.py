"""Refs: the short names of entries, and what they are derived from."""

from __future__ import annotations
