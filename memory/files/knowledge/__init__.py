"""Knowledge: sections of entries, read and edited."""

from __future__ import annotations
