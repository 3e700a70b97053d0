"""The change log of a workspace: its database, its records, undo and redo."""

from __future__ import annotations
