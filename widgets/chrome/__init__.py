"""What surrounds a pane: header, footer, sidebar, frame, key hints."""

from __future__ import annotations
