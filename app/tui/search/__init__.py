"""The search screen."""

from __future__ import annotations
