"""The sample workspace of `memdeck demo`, and the agent that works in it."""

from __future__ import annotations
