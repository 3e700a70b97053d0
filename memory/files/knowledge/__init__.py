"""Knowledge: facts and decisions, hints about them, and moving them."""

from __future__ import annotations
