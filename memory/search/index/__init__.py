"""The index: its tables, what is new in the files, writing it and asking it."""

from __future__ import annotations
