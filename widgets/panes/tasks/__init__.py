"""The tasks pane: list, board and calendar."""

from __future__ import annotations
