"""Dreaming: memories that were recalled often are gathered into one memory, through the controller."""

from __future__ import annotations
