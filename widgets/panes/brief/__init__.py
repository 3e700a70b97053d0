"""The brief: what needs attention now."""

from __future__ import annotations
