"""Checking one monitor: measuring a command, a file, an address, and the result."""

from __future__ import annotations
