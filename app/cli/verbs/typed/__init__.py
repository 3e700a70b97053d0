"""The verbs on typed memory."""

from __future__ import annotations
