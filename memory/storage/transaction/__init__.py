"""One change of one or more files: planned, staged, committed, recovered after a crash."""

from __future__ import annotations
