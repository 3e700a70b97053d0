"""Reading and writing the files of memories: header, names, the index file, the listing of a folder."""

from __future__ import annotations
