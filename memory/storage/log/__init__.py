"""The change log of a workspace: its database, its records, and how each file was seen last."""

from __future__ import annotations
