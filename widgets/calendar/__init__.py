"""Days, months and years."""

from __future__ import annotations
