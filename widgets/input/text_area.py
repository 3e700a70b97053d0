"""A multi-line editor for values from files; imported only with a form, because it is half of a form's cost."""

from __future__ import annotations

from rich.text import Text
from textual.widgets import TextArea

from .editors import hold, picture, release


class SafeTextArea(TextArea):
    """A multi-line editor for text from files; `content` is the value as it is in the file."""

    DEFAULT_CSS = """
    SafeTextArea { height: 5; border: none; padding: 0 1; background: $surface; }
    SafeTextArea:focus { border: none; background: $panel; }
    """

    def __init__(self, content: str = "") -> None:
        self._original = content
        self._shown = _held_lines(content)
        super().__init__(
            self._shown,
            compact=True,
            soft_wrap=True,
            tab_behavior="focus",
            highlight_cursor_line=False,
        )

    def on_unmount(self) -> None:
        """Remove this widget from the watchers of the theme: Textual removes none before the theme changes."""
        watching = getattr(self.app, "__watchers", {}).get("theme", [])
        watching[:] = [one for one in watching if one[0] is not self]

    @property
    def content(self) -> str:
        """The value, with line feeds as line ends; exactly the original while it is not edited."""
        return self._original if self.text == self._shown else release(self.text)

    @content.setter
    def content(self, content: str) -> None:
        self.text = _held_lines(content)

    def get_line(self, line_index: int) -> Text:
        """Return a line of the document as it is drawn."""
        return Text(picture(self.document.get_line(line_index)), end="", no_wrap=True)


def _held_lines(text: str) -> str:
    return hold(text.replace("\r\n", "\n"), newlines=True)
