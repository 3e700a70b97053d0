"""What keys and palette entries do."""

from __future__ import annotations
