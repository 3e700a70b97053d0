"""Jumping: the places on the screen that can be jumped to, and the labels to type for them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from widgets.detail import Detail
from widgets.list.line_list import GUTTER, LineList
from widgets.list.rows import find, is_item

from .sidebar import Sidebar

if TYPE_CHECKING:
    from textual.screen import Screen

LETTERS = "asdfghjklqwertyuiopzxcvbnm"
"""What labels are made of, the home row first."""


@dataclass(frozen=True, slots=True)
class JumpPlace:
    """A cell of the screen that can be jumped to, and the function that does it; `label` if it has a fixed one.

    `ends`: a label of two letters ends at the cell instead of beginning there.
    """

    x: int
    y: int
    go: Callable[[], None]
    label: str = ""
    ends: bool = False


def jump_places(screen: Screen[object]) -> list[JumpPlace]:
    """Every pane, row and link in view, from the top to the bottom of each part."""
    found: list[JumpPlace] = []
    for widget in screen.query("*"):
        if isinstance(widget, LineList | Detail) and _is_shown(widget):
            found.extend(_rows(widget) if isinstance(widget, LineList) else _links(widget))
    return found


def _is_shown(widget: LineList | Detail) -> bool:
    return widget.size.height > 0 and all(node.display for node in widget.ancestors_with_self if hasattr(node, "size"))


def _rows(listed: LineList) -> Iterator[JumpPlace]:
    region = listed.scrollable_content_region
    top = round(listed.scroll_y)
    for y, key in enumerate(listed.rows[top : top + region.height]):
        if is_item(key):
            # The number of a pane is its label: it is marked where it is drawn.
            label = listed.label_of(key) if isinstance(listed, Sidebar) else ""
            yield JumpPlace(region.x + (GUTTER if label else 0), region.y + y, partial(_go_to_row, listed, key), label)


def _go_to_row(listed: LineList, key: object) -> None:
    if isinstance(listed, Sidebar):
        listed.choose(key)
    else:
        place = find(listed.rows, key)
        if place >= 0:
            listed.move_to(place)
        listed.focus()


def _links(detail: Detail) -> Iterator[JumpPlace]:
    region = detail.scrollable_content_region
    top = round(detail.scroll_y)
    for row, number in detail.link_rows.items():
        if top <= row < top + region.height:
            # In the margin, where it hides nothing, and a cell away from the text.
            yield JumpPlace(region.x - 2, region.y + row - top, partial(detail.follow_link, number), ends=True)


def labels(places: list[JumpPlace]) -> list[str]:
    """A label for each place; none is a prefix of another. Labels have two letters only where one is not enough."""
    count = sum(not place.label for place in places)
    pairs = 0
    while len(LETTERS) - pairs + pairs * len(LETTERS) < count and pairs < len(LETTERS):
        pairs += 1
    single = LETTERS[: len(LETTERS) - pairs]
    made = iter([*single, *(first + second for first in LETTERS[len(single) :] for second in LETTERS)])
    return [place.label or next(made, "") for place in places]
