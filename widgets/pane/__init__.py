"""What all panes share: list, entry, filter, sort and links."""

from __future__ import annotations
