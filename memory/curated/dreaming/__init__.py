"""Dreaming: what was recalled often is gathered into one memory, through the controller."""

from __future__ import annotations
