"""Lossless sectioned Markdown: `parse(data).dump() == data` for any bytes, and edits that change only their lines."""

from __future__ import annotations

from .content.fields import Bullet, Field, Fields
from .model import Document, parse
from .nodes import Block, Entry, Section

__all__ = ["Block", "Bullet", "Document", "Entry", "Field", "Fields", "Section", "parse"]
