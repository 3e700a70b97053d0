"""The jobs of a fleet on many hosts: what can be requested of a host, requesting it, and doing it there."""

from __future__ import annotations
