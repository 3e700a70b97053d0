"""Lossless sectioned Markdown: `parse(data).dump() == data` for any bytes, and edits that change only their lines."""

from __future__ import annotations

from .lines import Bullet, Field, FieldValues
from .model import Document, parse
from .nodes import Block, Entry, Section, bare

__all__ = ["Block", "Bullet", "Document", "Entry", "Field", "FieldValues", "Section", "bare", "parse"]
