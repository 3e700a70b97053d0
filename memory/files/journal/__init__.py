"""The journal: entries by day, read, counted and edited."""

from __future__ import annotations
