"""The verbs on project state."""

from __future__ import annotations
