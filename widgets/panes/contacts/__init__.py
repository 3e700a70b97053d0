"""The contacts pane."""

from __future__ import annotations
