"""The journal pane."""

from __future__ import annotations
