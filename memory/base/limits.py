"""How much of a file that people write by hand is read: front matter, Aidefiles and settings."""

from __future__ import annotations

MAX_BYTES = 64 * 1024

MAX_DEPTH = 8
"""How many lists and mappings may lie inside each other below the top one."""
