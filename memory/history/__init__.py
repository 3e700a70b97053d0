"""The history of a workspace: who changed what, versions of entries, late bytes, what other programs did."""

from __future__ import annotations
