"""Repaint: a widget of which some lines are to be drawn anew tells its screen at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from textual.geometry import Region

if TYPE_CHECKING:
    from textual.screen import Screen
    from textual.widget import Widget
else:
    # Textual takes the styles of the first base that is a widget.
    Widget = object


class Repaint(Widget):
    """Mixin for widgets that change with keys; put it before the Textual base class.

    Textual has each widget wake up first, and send its screen a message: two turns of the loop for each of the widgets
    that a key changes.
    """

    def refresh(self, *regions: Region, repaint: bool = True, layout: bool = False, recompose: bool = False) -> Self:
        """Draw regions anew, all of it without any; only for regions, as a step of a cursor has them, it is quick."""
        screen = self._screen_if_seen() if regions and repaint and not layout and not recompose else None
        if screen is None:
            return super().refresh(*regions, repaint=repaint, layout=layout, recompose=recompose)
        self._layout_cache.clear()
        self._set_dirty(*regions)
        screen._dirty_widgets.add(self)
        screen.check_idle()
        return self

    def _screen_if_seen(self) -> Screen[object] | None:
        """The screen if it draws this where it stands; None where it is about to be laid out, or is not shown."""
        if not self._is_mounted or self._layout_required or not self.is_attached:
            return None
        screen = self.screen
        # While a screen is laid out or drawn, it forgets at the end what it was told meanwhile.
        takes = getattr(screen, "takes_repaints", False) and not screen._layout_required
        return screen if takes and self in screen._compositor.visible_widgets else None
