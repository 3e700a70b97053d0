"""The monitors pane."""

from __future__ import annotations
