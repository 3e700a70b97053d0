"""The verbs that serve a workspace to agents, programs and a browser."""

from __future__ import annotations
