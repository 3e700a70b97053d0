"""Styled text: segments, glyphs, themes, Markdown, and the fallback for terminals with less."""

from __future__ import annotations
