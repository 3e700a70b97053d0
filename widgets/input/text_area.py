"""An editor of several lines for values from files; imported only with a form, for it is half of what one costs."""

from __future__ import annotations

from rich.text import Text
from textual.widgets import TextArea

from .editors import Ordered, hold, picture, release


class SafeTextArea(Ordered, TextArea):
    """An editor of several lines for text from files; `content` is the value as it stands in the file."""

    DEFAULT_CSS = """
    SafeTextArea { height: 5; border: none; padding: 0 1; background: $surface; }
    SafeTextArea:focus { border: none; background: $panel; }
    """

    def __init__(self, content: str = "", *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        self._original = content
        self._shown = _held_lines(content)
        super().__init__(
            self._shown,
            id=id,
            classes=classes,
            compact=True,
            soft_wrap=True,
            tab_behavior="focus",
            highlight_cursor_line=False,
        )

    def on_unmount(self) -> None:
        """Leave the list of those who watch the theme: Textual takes nobody out of it before the theme changes."""
        watching = getattr(self.app, "__watchers", {}).get("theme", [])
        watching[:] = [one for one in watching if one[0] is not self]

    @property
    def content(self) -> str:
        """What the editor holds, lines ended by line feeds; exactly the original while nobody changed it."""
        return self._original if self.text == self._shown else release(self.text)

    @content.setter
    def content(self, content: str) -> None:
        self.text = _held_lines(content)

    def get_line(self, line_index: int) -> Text:
        """A line of the document as it is drawn."""
        return Text(picture(self.document.get_line(line_index)), end="", no_wrap=True)


def _held_lines(text: str) -> str:
    return hold(text.replace("\r\n", "\n"), newlines=True)
