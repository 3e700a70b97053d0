"""Output of the command line: data on stdout, messages on stderr, in any encoding.

In text for people, control and bidirectional characters are visible escapes. JSON is UTF-8 if stdout is, else ASCII;
the same characters are written as `\\uXXXX` in it. A byte that is not UTF-8 appears as Python's surrogate for
it (`\\udcff` for 0xff); `surrogateescape` turns it back into the byte.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from contextvars import ContextVar
from json import JSONEncoder
from typing import TYPE_CHECKING

from memory.base.safe_text import visible
from memory.errors import MemdeckError

if TYPE_CHECKING:
    from typing import Any, TextIO

# Characters that JSON leaves unchanged although they have an effect on terminals or readers.
_STEERING = (
    "[\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
)
_PIECE = 1 << 16
_UTF8 = frozenset({"utf-8", "utf8"})


class OutputClosed(Exception):
    """The reader of our output has gone (`| head`); there is no one to print for."""


class Printer:
    """Writes to stdout in large pieces; created once for a run."""

    def __init__(self, stream: TextIO | None = None) -> None:
        """Write to a stream, by default to stdout as it is at the first write."""
        self._stream = stream
        self.begun = False
        """Whether anything was written."""

    @property
    def stream(self) -> TextIO:
        """The stream that it writes to; MemdeckError `output.failed` if stdout is closed."""
        stream = self._stream or sys.stdout
        if stream is None:
            raise MemdeckError("output.failed", "stdout is closed", "leave it open, or send it to a file")
        return stream

    @property
    def utf8(self) -> bool:
        """Whether the output can encode every character."""
        return (self.stream.encoding or "ascii").lower() in _UTF8

    @property
    def terminal(self) -> bool:
        """Whether the output is a terminal."""
        return self.stream.isatty()

    def lines(self, lines: Iterable[str]) -> None:
        """Write lines for people; characters that the encoding lacks are escaped."""
        for line in lines:
            self.text(f"{line}\n")

    def text(self, text: str) -> None:
        """Write text, line ends included; characters that the encoding lacks become backslash escapes."""
        self.begun = self.begun or bool(text)
        try:
            try:
                self.stream.write(text)
            except UnicodeEncodeError:
                encoding = self.stream.encoding or "ascii"
                self.stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
        except OSError as error:
            self._failed(error)

    def document(self, value: Any) -> None:
        """Write one JSON document and a line end."""
        text = self._encoder()(value) + "\n"
        # In pieces, so that a closed pipe is noticed early.
        for start in range(0, len(text), _PIECE):
            self.text(text[start : start + _PIECE])

    def objects(self, values: Iterable[Any]) -> None:
        """Write JSON objects, one a line, as they come."""
        encode = self._encoder()
        for value in values:
            self.text(f"{encode(value)}\n")

    def flush(self) -> None:
        """Write out the buffer; OutputClosed if the reader is gone, MemdeckError `output.failed` for other errors."""
        if sys.stdout is not None or self._stream is not None:
            self.text("")
            try:
                self.stream.flush()
            except OSError as error:
                self._failed(error)

    def _encoder(self) -> Callable[[Any], str]:
        """Return a function that turns a value into JSON that the output can encode."""
        encode = JSONEncoder(ensure_ascii=not self.utf8, check_circular=False, default=str).encode
        escape = re.compile(_STEERING).sub

        def safe(value: Any) -> str:
            text = encode(value)
            if text.isascii() and "\x7f" not in text:
                return text
            return escape(_json_escape, text)

        return safe

    def _failed(self, error: OSError) -> None:
        # To nowhere: else Python would try to write the rest of the buffer at exit, and report an error.
        with open(os.devnull, "wb") as nowhere, suppress(OSError, ValueError):
            os.dup2(nowhere.fileno(), self.stream.fileno())
        if isinstance(error, BrokenPipeError):
            raise OutputClosed from error
        text = os.strerror(error.errno) if error.errno else str(error)
        raise MemdeckError("output.failed", f"stdout cannot be written: {text}", "check where it leads") from error


def _json_escape(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code > 0xFFFF:
        code -= 0x10000
        return f"\\u{0xD800 + (code >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04x}"
    return f"\\u{code:04x}"


LISTENER: ContextVar[Callable[[str], object] | None] = ContextVar("LISTENER", default=None)
"""Receives the messages of a run instead of stderr: set by a server, whose callers cannot see stderr."""


def tell(line: str) -> None:
    """Write one line to stderr, made safe; errors of stderr are ignored."""
    if (listener := LISTENER.get()) is not None:
        listener(line)
        return
    stream = sys.stderr
    if stream is None:
        return
    encoding = stream.encoding or "ascii"
    with suppress(OSError, ValueError):
        stream.write(visible(line).encode(encoding, "backslashreplace").decode(encoding) + "\n")
        stream.flush()


def wants_color(environ: Mapping[str, str], terminal: bool) -> bool:
    """Return whether to use colour: on a terminal that supports it, unless NO_COLOR is set."""
    return terminal and not environ.get("NO_COLOR") and environ.get("TERM", "") not in ("", "dumb")


def screen_width(terminal: bool) -> int | None:
    """Return the columns of the terminal, None if the output is not a terminal."""
    if not terminal:
        return None
    try:
        return os.get_terminal_size(1).columns or 80
    except (OSError, ValueError):
        return 80
