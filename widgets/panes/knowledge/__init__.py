"""The knowledge pane."""

from __future__ import annotations
