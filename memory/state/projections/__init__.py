"""The bundle as Markdown: five files, and the block in the entry file."""

from __future__ import annotations
