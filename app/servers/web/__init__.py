"""The application in a browser of the same machine."""

from __future__ import annotations
