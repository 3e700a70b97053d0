"""The settings of config.md, and the operations on them."""

from __future__ import annotations
