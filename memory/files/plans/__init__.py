"""Plans: orchestration.md and its archives, their phases, progress and problems."""

from __future__ import annotations
