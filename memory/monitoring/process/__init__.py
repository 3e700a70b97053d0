"""Running an approved command so that nothing of it stays behind."""

from __future__ import annotations
