"""Covered: a container that shows nothing of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.geometry import Region
from textual.strip import Strip

if TYPE_CHECKING:
    from textual.widget import Widget
else:
    # Textual takes the styles of the first base that is a widget.
    Widget = object


class Covered(Widget):
    """Mixin for containers without border, of the colour of what they lie on: what their children leave free is drawn
    by what is behind. Put it before the Textual base class.

    Textual draws each container as if it were seen, line by line, and then leaves nearly all of it out.
    """

    def render_lines(self, crop: Region) -> list[Strip]:  # noqa: ARG002
        """Nothing."""
        return []
