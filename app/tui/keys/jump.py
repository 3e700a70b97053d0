"""Jump mode: a label beside every pane, row and link on the screen; typing it goes there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.screen import ModalScreen

from widgets.chrome.jump import JumpPlace, labels
from widgets.chrome.keys import KeyHints
from widgets.dialogs.dialogs import Modal
from widgets.input.editors import SafeText


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
