"""How monitors were: uptime, outages, latency."""

from __future__ import annotations
