"""What the widget tests share: an application around one widget, hostile texts, and what is on its screen."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from textual.app import App, ComposeResult
from textual.message import Message
from textual.widget import Widget

from widgets.text.theme import THEMES

HOSTILE = {
    "closing markup": "[/nope] title",
    "markup": "[bold]x[/bold] [@click=app.quit]y[/]",
    "escape": "red \x1b[31m text",
    "OSC 52": "copy \x1b]52;c;aGVsbG8=\x07 it",
    "C1": "eight bit \x9b31m \x9d52;c;x\x9c",
    "bidi": "user \u202egnp.exe\u2066",
    "tags": "hidden \U000e0041\U000e0042",
    "surrogates": "bytes \udcff\udc80",
    "long": "x" * 10_000,
    "long and wide": "部" * 10_000,
    "emoji": "🚀 👩‍👩‍👧 ✅ launch",
    "Chinese": "部署新版本到生产环境",
    "Arabic": "مرحبا بالعالم",
    "controls": "nul \x00 bel \x07 del \x7f cr \r lf \n tab \t",
}
"""Texts as a careless or a malicious writer may leave them in a file."""


class Harness(App[None]):
    """Shows widgets and keeps the messages that reach the application."""

    def __init__(self, make: Callable[[], Iterable[Widget]] = tuple) -> None:
        super().__init__()
        self._make = make
        self.seen: list[Message] = []
        for theme in THEMES:
            self.register_theme(theme)
        self.theme = THEMES[0].name

    def compose(self) -> ComposeResult:
        """The widgets under test."""
        yield from self._make()

    def keep(self, message: Message) -> None:
        """Note a message; to be given to `run_test` as `message_hook`."""
        self.seen.append(message)

    def of(self, kind: type[Message]) -> list[Message]:
        """The messages of a kind that arrived anywhere, in order, each once."""
        found = {id(message): message for message in self.seen if isinstance(message, kind)}
        return list(found.values())


def screen_text(app: App[None]) -> str:
    """What the terminal would show, line by line, exactly as its characters are."""
    width, height = app.size
    lines = app.screen._compositor.render_strips(app.size)
    assert len(lines) == height
    assert all(strip.cell_length == width for strip in lines)
    return "\n".join(strip.text for strip in lines)


def assert_safe(text: str) -> None:
    """No character that could steer a terminal or hide is in what the terminal gets."""
    unsafe = [
        character
        for character in text
        if character != "\n"
        and (
            ord(character) < 0x20
            or 0x7F <= ord(character) <= 0x9F
            or 0x202A <= ord(character) <= 0x202E
            or 0x2066 <= ord(character) <= 0x2069
            or 0xD800 <= ord(character) <= 0xDFFF
            or 0xE0000 <= ord(character) <= 0xE007F
        )
    ]
    assert not unsafe, unsafe
