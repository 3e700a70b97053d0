"""SparseCompositor: draws for a picture only what has changed since the last one."""

from __future__ import annotations

from collections.abc import Iterable

from textual._compositor import ChopsUpdate, Compositor
from textual.geometry import Region
from textual.strip import Strip


class SparseCompositor(Compositor):
    """Asks for the lines of those widgets that lie where something changed.

    Textual asks every widget of the screen for all its lines, for a single line as well, and leaves nearly all of it
    out. What lies in one place always changes together: also what is covered there, or covers it, is asked.
    """

    def __init__(self) -> None:
        """Nothing changed yet."""
        super().__init__()
        self._changed: tuple[Region, ...] = ()

    def render_partial_update(self) -> ChopsUpdate | None:
        """Draw what changed."""
        self._changed = tuple(self._dirty_regions)
        try:
            return super().render_partial_update()
        finally:
            self._changed = ()

    def _get_renders(self, crop: Region | None = None) -> Iterable[tuple[Region, Region, list[Strip]]]:
        """Yield region, clip and lines of each widget, as far as something changed there; all without changes."""
        if not self._changed:
            yield from super()._get_renders(crop)
            return
        for widget, (region, clip) in self.visible_widgets.items():
            shown = region.intersection(clip)
            parts = [part for change in self._changed if (part := shown.intersection(change))]
            if parts:
                top = min([part.y for part in parts])
                height = max([part.bottom for part in parts]) - top
                lines = Region(shown.x - region.x, top - region.y, shown.width, height)
                yield Region(shown.x, top, shown.width, height), clip, widget.render_lines(lines)
