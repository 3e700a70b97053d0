"""Output of the command line: data on stdout in aligned columns, messages on stderr, in any encoding.

In text for people, control and bidirectional characters are visible escapes. JSON is UTF-8 if stdout is, else ASCII;
the same characters are written as `\\uXXXX` in it. A byte that is not UTF-8 appears as Python's surrogate for
it (`\\udcff` for 0xff); `surrogateescape` turns it back into the byte.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from contextvars import ContextVar
from json import JSONEncoder
from typing import TYPE_CHECKING

from memory.base.safe_text import cell_width, clip, visible
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
        encode = JSONEncoder(ensure_ascii=not self.utf8, check_circular=False).encode
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


_RED, _YELLOW, _OFF = "\x1b[31m", "\x1b[33m", "\x1b[0m"
_MARK, _UNMARK = "\x1b[1;4m", "\x1b[22;24m"


_NARROWEST = 12
"""Cells to which a column is cut on a narrow terminal."""


class Paint:
    """How lines are drawn: whether in colour, and the greatest width (None: no limit)."""

    def __init__(self, color: bool, width: int | None) -> None:
        """Store both; colour marks only what needs action."""
        self.color = color
        self.width = width

    def alert(self, text: str) -> str:
        """Mark overdue, broken or refused things."""
        return f"{_RED}{text}{_OFF}" if self.color and text else text

    def notice(self, text: str) -> str:
        """Mark what a person should look at, but not at once."""
        return f"{_YELLOW}{text}{_OFF}" if self.color and text else text

    def line(self, text: str, indent: str = "") -> str:
        """Return one line of text from a file, safe and not wider than the screen."""
        text = indent + visible(text)
        return text if self.width is None else clip(text, self.width)

    def marked(self, text: str, marks: Sequence[tuple[int, int]], indent: str = "") -> str:
        """Return one line as `line` does, with the marked places bold and underlined if colour is on."""
        if not self.color or not marks:
            return self.line(text, indent)
        shown, at, left = indent, 0, (self.width or 1 << 30) - len(indent)
        for start, end in [*marks, (len(text), len(text))]:
            for part, mark in ((text[at:start], False), (text[start:end], True)):
                part = visible(part)
                if cell_width(part) > left:
                    part = clip(part, max(left, 0))
                left -= cell_width(part)
                shown += f"{_MARK}{part}{_UNMARK}" if mark and part else part
            at = end
            if left <= 0:
                break
        return shown

    def columns(
        self,
        rows: Iterable[Sequence[str]],
        *,
        indent: str = "  ",
        alerts: Mapping[int, int] | None = None,
        empty: str = "",
    ) -> Iterator[str]:
        """Yield the rows as lines with aligned columns; the last column is not padded but clipped to the screen.

        `empty` is the line for no rows. `alerts` maps a row's index to its column that needs action. Columns that are
        empty in every row are left out.
        On a narrow terminal the others are clipped or left out, so that the last column, mostly a title, can be read;
        the first, mostly a ref, stays whole.
        """
        columns = [[visible(cell) for cell in column] for column in zip(*rows, strict=True)]
        if not columns:
            yield from [empty] if empty else []
            return
        alerts, last = alerts or {}, len(columns) - 1
        if self.width is not None:
            columns[:-1] = _fitted(columns, self.width - cell_width(indent), alerts)
        widths = [max(map(cell_width, column)) for column in columns]
        for row, cells in enumerate(zip(*columns, strict=True)):
            line, used = indent, cell_width(indent)
            for number, (cell, width) in enumerate(zip(cells, widths, strict=True)):
                if not width:
                    continue
                if number == last and self.width is not None:
                    cell = clip(cell, max(self.width - used, 1))
                # The padding after a cell is not marked.
                line += self.alert(cell) if alerts.get(row) == number else cell
                line += " " * (width - cell_width(cell) + 2)
                used += width + 2
            yield line.rstrip()


def _fitted(columns: list[list[str]], room: int, alerts: Mapping[int, int]) -> list[list[str]]:
    """Return all columns but the last, cut or emptied so that a third of `room` cells is left for the last one.

    The widest are cut first, to `_NARROWEST` cells; if that is not enough, columns are emptied from the right. Of a
    cell that needs action, such as `2024-01-15 09:00 overdue`, the last word stays.
    """
    sizes = [max(map(cell_width, column), default=0) for column in columns]
    spare = room - min(sizes.pop(), max(room // 3, _NARROWEST))
    kept = len(sizes)
    while True:
        # At most as wide as the screen, so that a huge cell takes no longer.
        widths = sizes[:1] + [min(size, room) for size in sizes[1:kept]] + [0] * (len(sizes) - kept)
        over = sum(width + 2 for width in widths if width) - spare
        while over > 0 and kept > 1:
            widest = max(range(1, kept), key=widths.__getitem__)
            if widths[widest] <= _NARROWEST:
                break
            widths[widest] -= 1
            over -= 1
        if over <= 0 or kept <= 1:
            break
        kept -= 1
    return [
        column if width == size else [_cut(cell, width, alerts.get(row) == number) for row, cell in enumerate(column)]
        for number, (column, width, size) in enumerate(zip(columns[:-1], widths, sizes, strict=True))
    ]


def _cut(cell: str, width: int, keeps_last_word: bool) -> str:
    """Return a table's cell cut to `width` columns of the screen."""
    head, blank, word = cell.rpartition(" ")
    if keeps_last_word and blank and cell_width(cell) > width > len(word) + 2 and word.isascii():
        return f"{clip(head, width - len(word) - 1)} {word}"
    return clip(cell, width)


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
