"""The verbs on monitors."""

from __future__ import annotations
