"""The installed version, as a constant so that `memdeck --version` imports nothing."""

from __future__ import annotations

__version__ = "0.1.0"
