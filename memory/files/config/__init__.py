"""The settings of config.md, read and edited."""

from __future__ import annotations
