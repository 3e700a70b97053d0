"""Thresholds: their words, their rules, and what they mean."""

from __future__ import annotations
