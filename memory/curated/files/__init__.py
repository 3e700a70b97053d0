"""How one memory is written: header, names, the index file, the listing of a folder."""

from __future__ import annotations
