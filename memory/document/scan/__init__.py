"""The block structure of Markdown, as far as it decides which headings are headings."""

from __future__ import annotations
