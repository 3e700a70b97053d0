"""Forms, drafts, conflicts, and the user's own editor."""

from __future__ import annotations
