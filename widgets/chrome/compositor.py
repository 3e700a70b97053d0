"""SparseCompositor: draws for a picture only what has changed since the last one, and Covered, which draws nothing."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from itertools import combinations
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

from rich.console import Console, ConsoleOptions, RenderResult
from rich.control import Control
from textual._compositor import Compositor, CompositorUpdate
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget


class Drawn(NamedTuple):
    """A strip and the cell of the screen at which it begins."""

    y: int
    x: int
    strip: Strip


class DrawnUpdate(CompositorUpdate):
    """Strips for places of the screen, line by line, left to right."""

    def __init__(self, drawn: Iterable[Drawn]) -> None:
        self.drawn = sorted(drawn, key=itemgetter(0, 1))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Give them to Rich."""
        for y, x, strip in self.drawn:
            yield Control.move_to(x, y).segment
            yield from strip

    def render_segments(self, console: Console) -> str:
        """Return what is written to the terminal."""
        return "".join([f"\x1b[{y + 1};{x + 1}H{strip.render(console)}" for y, x, strip in self.drawn])


class SparseCompositor(Compositor):
    """Asks each widget for those of its cells that changed and that nothing covers.

    Textual asks every widget of the screen for all its lines, for a single line as well, cuts the lines of the whole
    screen where widgets meet, and leaves nearly all of it out.
    """

    @property
    def visible_widgets(self) -> dict[Widget, tuple[Region, Region]]:
        """The widgets in the picture, the uppermost first, with their region and what clips it.

        One that says `is_shut` keeps its place and is left out, with all that is in it.
        """
        if self._visible_widgets is None:
            seen = super().visible_widgets
            shut = {widget for widget in seen if getattr(widget, "is_shut", False)}
            if shut:
                seen = {one: place for one, place in seen.items() if shut.isdisjoint(one.ancestors_with_self)}
            self._visible_widgets = seen
        return self._visible_widgets

    def shut_changed(self) -> None:
        """Forget what is in the picture: a widget was shut, or is so no longer."""
        self._visible_widgets = self._cuts = self._layers_visible = None

    def update_widgets(self, widgets: set[Widget]) -> None:
        """Note what widgets have to draw anew, those in the picture: the others are drawn once they come into it.

        For one of the others Textual would work out all places again, whenever the next one is asked for; widgets that
        are shown with the next layout would seem to have been there before it, and stay undrawn.
        """
        super().update_widgets(widgets & self.visible_widgets.keys())

    _places: tuple[object, list[tuple[Widget, Region, Region]]] = (None, [])

    @property
    def _seen(self) -> list[tuple[Widget, Region, Region]]:
        """The widgets in the picture, the uppermost first, with their region and what is seen of it."""
        visible = self.visible_widgets
        if self._places[0] is not visible:
            seen = [(widget, region, region.intersection(clip)) for widget, (region, clip) in visible.items()]
            self._places = (visible, [place for place in seen if place[2]])
        return self._places[1]

    def render_partial_update(self) -> DrawnUpdate | None:  # type: ignore[override]
        """Draw what changed, from the uppermost widgets down to those behind them; None if nothing did."""
        left = _apart(self._dirty_regions) or list(_rectangles(self._regions_to_spans(self._dirty_regions)))
        self._dirty_regions.clear()
        if not left:
            return None
        drawn: list[Drawn] = []
        for widget, region, shown in self._seen:
            if any(map(shown.overlaps, left)):
                behind: list[Region] = []
                for part in left:
                    here = part.intersection(shown)
                    lines = widget.render_lines(here.translate(-region.offset)) if here else []
                    for y, strip in zip(here.line_range, lines, strict=False):
                        # A view whose scrollbar is about to come may draw for another width already.
                        drawn.append(Drawn(y, here.x, strip.adjust_cell_length(here.width)))
                    # A widget that draws nothing there leaves it to what is behind it.
                    behind += _without(part, here) if lines else (part,)
                if not behind:
                    break
                left = behind
        return DrawnUpdate(drawn)


FEW = 12
"""So many regions are compared with each other, which takes less time than looking at each of their lines."""


def _apart(regions: Collection[Region]) -> list[Region]:
    """Return the regions themselves if they are few and none of them overlaps another one, else none."""
    found = [region for region in regions if region]
    if len(found) > FEW or any(one.overlaps(other) for one, other in combinations(found, 2)):
        return []
    return found


def _rectangles(spans: Iterable[tuple[int, int, int]]) -> Iterator[Region]:
    """Join spans, `(y, from, to)` in order of their lines, that lie right below each other with the same ends."""
    open_spans: dict[tuple[int, int], Region] = {}
    for y, start, end in spans:
        above = open_spans.get((start, end))
        if above is not None and above.bottom == y:
            open_spans[start, end] = Region(start, above.y, end - start, above.height + 1)
            continue
        if above is not None:
            yield above
        open_spans[start, end] = Region(start, y, end - start, 1)
    yield from open_spans.values()


def _without(whole: Region, part: Region) -> Iterator[Region]:
    """Return what is left of a rectangle without one that lies within it: above, below, left and right of that."""
    if part.y > whole.y:
        yield Region(whole.x, whole.y, whole.width, part.y - whole.y)
    if part.bottom < whole.bottom:
        yield Region(whole.x, part.bottom, whole.width, whole.bottom - part.bottom)
    if part.x > whole.x:
        yield Region(whole.x, part.y, part.x - whole.x, part.height)
    if part.right < whole.right:
        yield Region(part.right, part.y, whole.right - part.right, part.height)


if TYPE_CHECKING:
    Mixin = Widget
else:
    # Textual takes the styles of the first base that is a widget.
    Mixin = object


class Covered(Mixin):
    """Mixin for containers without border, of the colour of what they lie on: what their children leave free is drawn
    by what is behind. Put it before the Textual base class.

    Textual draws each container as if it were seen, line by line, and then leaves nearly all of it out.
    """

    def render_lines(self, crop: Region) -> list[Strip]:  # noqa: ARG002
        """Nothing."""
        return []
