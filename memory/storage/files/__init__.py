"""Opening, recognising, locking and watching the files of a workspace."""

from __future__ import annotations
