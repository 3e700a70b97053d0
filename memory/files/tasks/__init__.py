"""Tasks: tasks.md and its archives, read, checked, ordered and edited."""

from __future__ import annotations
