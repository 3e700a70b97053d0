"""The verbs of the command line, one module or room a noun."""

from __future__ import annotations
