"""Thresholds: their syntax, their rules, and their meaning."""

from __future__ import annotations
