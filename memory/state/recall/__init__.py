"""Recall: events are merged into the bundle, by titles and by likeness."""

from __future__ import annotations
