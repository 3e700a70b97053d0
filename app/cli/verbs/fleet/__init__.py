"""The verbs on many workspaces."""

from __future__ import annotations
