"""The changes pane: the log of every writer."""

from __future__ import annotations
