"""Jump mode: a label beside every pane, row and link on the screen; typing it goes there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.screen import ModalScreen

from widgets.chrome.keys import KeyHints
from widgets.detail import Detail
from widgets.dialogs.dialogs import Modal
from widgets.input.editors import SafeText
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


class JumpLabel(SafeText):
    """The letters to type for a place, shown on that place."""

    def __init__(self, label: str, place: JumpPlace) -> None:
        """`label` is what to type."""
        super().__init__(label, classes="jump--label")
        self.label = label
        self.styles.offset = (max(0, place.x - (len(label) - 1) * place.ends), place.y)


class JumpScreen(Modal, ModalScreen[JumpPlace | None]):
    """Covers the main screen and returns the place that was chosen; any key that is no label leaves."""

    DEFAULT_CSS: ClassVar[str] = """
    JumpScreen {
        background: transparent;
        .jump--label {
            position: absolute;
            width: auto;
            height: 1;
            background: $background;
            color: $accent;
            text-style: bold reverse;
        }
        KeyHints { dock: bottom; }
    }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "cancel", id="jump.leave", tooltip="Cancel the jump"),
        Binding("backspace", "back", "delete letter", id="jump.back", tooltip="Delete a letter", show=False),
    ]

    def __init__(self, places: Sequence[JumpPlace], size: Size) -> None:
        """`places` are positions on a screen of `size` cells."""
        super().__init__()
        self._size = size
        self._typed = ""
        self._places = {label: place for label, place in zip(labels(list(places)), places, strict=True) if label}

    def compose(self) -> ComposeResult:
        """A label at each place, and the keys."""
        for label, place in self._places.items():
            yield JumpLabel(label, place)
        yield KeyHints()

    def on_key(self, event: events.Key) -> None:
        """Narrow the labels with a letter; the last letter jumps."""
        character = event.character
        if character is None or not event.is_printable:
            return
        event.stop()
        event.prevent_default()
        typed = self._typed + character.casefold()
        if typed in self._places:
            self.dismiss(self._places[typed])
        elif any(label.startswith(typed) for label in self._places):
            self._say(typed)
        else:
            self.dismiss(None)

    def _say(self, typed: str) -> None:
        """Show only labels that still match."""
        self._typed = typed
        for shown in self.query(JumpLabel):
            shown.display = shown.label.startswith(typed)

    def on_resize(self, event: events.Resize) -> None:
        """Leave if the terminal's size changed, because the labels would be in the wrong places."""
        if event.size != self._size:
            self.dismiss(None)

    def on_click(self, event: events.Click) -> None:
        """Jump to the label that was clicked; leave on any other click."""
        event.stop()
        label = event.widget.label if isinstance(event.widget, JumpLabel) else ""
        self.dismiss(self._places.get(label))

    def action_back(self) -> None:
        """Delete the last letter."""
        self._say(self._typed[:-1])
