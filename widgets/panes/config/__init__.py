"""The config pane."""

from __future__ import annotations
