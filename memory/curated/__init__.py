"""Curated memory: one Markdown file a memory, each write decided by a controller and recorded before a file changes.

`places` says where memories are, `files` how one is written, `control` decides and applies, `index` holds the
databases, `recall` finds and packs, `operations` is the one list of what faces offer. Follows seed 001.
"""

from __future__ import annotations
