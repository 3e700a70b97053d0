"""Curated memory: one Markdown file per memory; a controller decides each write and records it before files change.

`stores` knows the folders of memories, `files` reads and writes one file, `control` decides and applies, `index` holds
the databases, `recall` finds and packs, `operations` is the one list of what faces offer.
"""

from __future__ import annotations
