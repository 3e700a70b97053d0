"""Links between entries of the memory files."""

from __future__ import annotations
