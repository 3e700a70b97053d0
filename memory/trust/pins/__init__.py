"""The files pinned with a command: those that it names or loads, identified by their bytes."""

from __future__ import annotations
