"""Daily logs: what was done to memory, one Markdown file a day, made of the events."""

from __future__ import annotations
