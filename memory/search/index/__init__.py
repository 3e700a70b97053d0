"""The index: its tables, finding changes in the files, writing and querying it."""

from __future__ import annotations
