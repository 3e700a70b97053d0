"""The verbs on the memory files of a workspace: one module a file."""

from __future__ import annotations
