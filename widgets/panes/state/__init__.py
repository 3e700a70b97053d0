"""The state pane: bundle, backlog, sources and checkpoints of project state."""

from __future__ import annotations
