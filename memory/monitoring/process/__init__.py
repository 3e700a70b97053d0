"""Running an approved command so that none of its processes remains."""

from __future__ import annotations
