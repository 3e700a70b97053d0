"""The operations on the smaller kinds of entries, and the edits that they make."""

from __future__ import annotations
