"""The brief: what needs a person now."""

from __future__ import annotations
