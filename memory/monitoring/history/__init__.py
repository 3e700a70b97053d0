"""The history of monitors: uptime, outages, latency."""

from __future__ import annotations
