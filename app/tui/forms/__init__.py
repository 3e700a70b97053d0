"""Forms, drafts, conflicts, and the person's own editor."""

from __future__ import annotations
