"""ChangedLines: a compositor that asks a widget only for the lines that are to be drawn again."""

from __future__ import annotations

from collections.abc import Iterable

from textual._compositor import ChopsUpdate, Compositor
from textual.geometry import Region
from textual.strip import Strip


class ChangedLines(Compositor):
    """Textual asks all widgets around a change for all of their lines: for a step of a cursor most of the screen."""

    _changed: tuple[Region, ...] = ()

    def render_partial_update(self) -> ChopsUpdate | None:
        """Return what changed; only widgets and lines that it touches are asked."""
        self._changed = tuple(self._dirty_regions)
        try:
            return super().render_partial_update()
        finally:
            self._changed = ()

    def _get_renders(self, crop: Region | None = None) -> Iterable[tuple[Region, Region, list[Strip]]]:
        """Yield the changed part of each widget, twice as no other part is shown, and its lines; from front to back."""
        if not self._changed:
            yield from super()._get_renders(crop)
            return
        left = self._changed
        for widget, (region, clip) in self.visible_widgets.items():
            shown = region.intersection(clip)
            touched = [one.intersection(shown) for one in left if one.overlaps(shown)]
            if touched:
                top, bottom = min(one.y for one in touched), max(one.bottom for one in touched)
                part = Region(shown.x, top, shown.width, bottom - top)
                yield part, part, widget.render_lines(part.translate(-region.offset))
                # Nothing behind a widget is seen.
                left = tuple([one for one in left if not shown.contains_region(one)])
                if not left:
                    return
