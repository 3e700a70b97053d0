"""The jobs of a fleet on many hosts: what may be asked of a host, asking it, and doing it there."""

from __future__ import annotations
