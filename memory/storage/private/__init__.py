"""The private state of memdeck outside of a workspace: its folder, small records, drafts, derived databases."""

from __future__ import annotations
