"""The checks of `memdeck doctor`."""

from __future__ import annotations
