"""Several versions of a file or an entry: what a change did, three-way merges, and earlier ones restored."""

from __future__ import annotations
