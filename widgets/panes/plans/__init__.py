"""The plans pane."""

from __future__ import annotations
