"""The history of a workspace: who changed what, undo and redo, versions of entries, what other programs did."""

from __future__ import annotations
