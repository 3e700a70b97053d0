"""What the command line prints: data on stdout in aligned columns, words on stderr, whatever the terminal can show.

Text for people has control and bidirectional characters as visible escapes. JSON is UTF-8 where stdout is, else
ASCII; the same characters are written as `\\uXXXX` in it, and a byte that is no UTF-8 as the lone surrogate that
Python reads it as (`\\udcff` for 0xff), which gives the byte back with `surrogateescape`.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from typing import Any, TextIO

from memory.base.safe_text import cell_width, clip, visible
from memory.errors import MemdeckError

_CHUNK = 512
# What JSON leaves as it is and a terminal or a reader would take for more than text.
_STEERING = (
    "[\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
)
_UTF8 = frozenset({"utf-8", "utf8"})


class OutputClosed(Exception):
    """The reader of our output has gone (`| head`); there is nobody to tell."""


class Printer:
    """Writes to stdout in whole pieces; created once for a run."""

    def __init__(self, stream: TextIO | None = None) -> None:
        """Write to a stream, by default to stdout as it is when something is written."""
        self._stream = stream
        self.begun = False
        """Whether anything was written."""

    @property
    def stream(self) -> TextIO:
        """Where it writes; MemdeckError `output.failed` where stdout is closed."""
        stream = self._stream or sys.stdout
        if stream is None:
            raise MemdeckError("output.failed", "stdout is closed", "leave it open, or send it to a file")
        return stream

    @property
    def utf8(self) -> bool:
        """Whether the output can hold every character."""
        return (self.stream.encoding or "ascii").lower() in _UTF8

    @property
    def terminal(self) -> bool:
        """Whether a person looks at it."""
        return self.stream.isatty()

    def lines(self, lines: Iterable[str]) -> None:
        """Write lines for people; what the encoding cannot hold is escaped."""
        if self.utf8:
            lines = iter(lines)
            while chunk := _take(lines):
                self._write("\n".join(chunk) + "\n")
            return
        encoding = self.stream.encoding or "ascii"
        for line in lines:
            self._write(line.encode(encoding, "backslashreplace").decode(encoding) + "\n")

    def text(self, text: str) -> None:
        """Write text for programs as it is, its line ends with it."""
        self._write(text)

    def document(self, value: Any) -> None:
        """Write one JSON document and a line end."""
        self._write(self._encoder()(value) + "\n")

    def array(self, key: str, values: Iterable[Any]) -> None:
        """Write `{key: [...]}` in pieces, which is quicker for many values than one text of all of them."""
        encode = self._encoder()
        self._write(f"{{{encode(key)}: [")
        gap = ""
        values = iter(values)
        while chunk := _take(values):
            self._write(gap + encode(chunk)[1:-1])
            gap = ", "
        self._write("]}\n")

    def objects(self, values: Iterable[Any]) -> None:
        """Write JSON objects, one a line, as they come."""
        encode = self._encoder()
        values = iter(values)
        while chunk := _take(values):
            self._write("\n".join(map(encode, chunk)) + "\n")

    def flush(self) -> None:
        """Bring out what was written; OutputClosed, MemdeckError `output.failed`."""
        if sys.stdout is not None or self._stream is not None:
            self._write("")
            try:
                self.stream.flush()
            except OSError as error:
                self._failed(error)

    def _encoder(self) -> Callable[[Any], str]:
        """Return what turns a value into JSON that the output can hold."""
        from json import JSONEncoder

        encode = JSONEncoder(ensure_ascii=not self.utf8, check_circular=False).encode
        escape = re.compile(_STEERING).sub

        def safe(value: Any) -> str:
            text = encode(value)
            if text.isascii() and "\x7f" not in text:
                return text
            return escape(_json_escape, text)

        return safe

    def _write(self, text: str) -> None:
        self.begun = self.begun or bool(text)
        try:
            try:
                self.stream.write(text)
            except UnicodeEncodeError:  # a half of a pair that came by another way than a memory file
                encoding = self.stream.encoding or "ascii"
                self.stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
        except OSError as error:
            self._failed(error)

    def _failed(self, error: OSError) -> None:
        # What is still in the buffer would be tried again at the end of the process, and complained about.
        with open(os.devnull, "wb") as nowhere:
            try:
                os.dup2(nowhere.fileno(), self.stream.fileno())
            except (OSError, ValueError):
                pass
        if isinstance(error, BrokenPipeError):
            raise OutputClosed from error
        text = os.strerror(error.errno) if error.errno else str(error)
        raise MemdeckError("output.failed", f"stdout cannot be written: {text}", "check where it leads") from error


def _take(values: Iterator[Any]) -> list[Any]:
    from itertools import islice

    return list(islice(values, _CHUNK))


def _json_escape(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code > 0xFFFF:
        code -= 0x10000
        return f"\\u{0xD800 + (code >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04x}"
    return f"\\u{code:04x}"


LISTENER: ContextVar[Callable[[str], object] | None] = ContextVar("LISTENER", default=None)
"""Who gets the words of a run instead of stderr: a server, whose callers cannot see that."""


def tell(line: str) -> None:
    """Write one line of words to stderr, made safe; whether anybody can read it or not."""
    if (listener := LISTENER.get()) is not None:
        listener(line)
        return
    stream = sys.stderr
    if stream is None:
        return
    from memory.base.safe_text import visible

    encoding = stream.encoding or "ascii"
    try:
        stream.write(visible(line).encode(encoding, "backslashreplace").decode(encoding) + "\n")
        stream.flush()
    except (OSError, ValueError):
        return


_RED, _YELLOW, _OFF = "\x1b[31m", "\x1b[33m", "\x1b[0m"
_MARK, _UNMARK = "\x1b[1;4m", "\x1b[22;24m"


class Paint:
    """How lines are drawn: whether in colour, and how wide at most (None: as wide as they are)."""

    def __init__(self, color: bool, width: int | None) -> None:
        """Keep both; colour marks what needs action and nothing else."""
        self.color = color
        self.width = width

    def alert(self, text: str) -> str:
        """Mark what is overdue, broken or refused."""
        return f"{_RED}{text}{_OFF}" if self.color and text else text

    def notice(self, text: str) -> str:
        """Mark what a person should look at some time."""
        return f"{_YELLOW}{text}{_OFF}" if self.color and text else text

    def line(self, text: str, indent: str = "") -> str:
        """Return one line of text from a file, safe and not wider than the screen."""
        text = indent + visible(text)
        return text if self.width is None else clip(text, self.width)

    def marked(self, text: str, marks: Sequence[tuple[int, int]], indent: str = "") -> str:
        """Return one line as `line` does, with some places of the text bold and underlined where colour is wanted."""
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
        self, rows: Iterable[Sequence[str]], *, indent: str = "  ", alerts: Mapping[int, int] | None = None
    ) -> Iterator[str]:
        """Yield the rows as lines with aligned columns; the last column is never padded, and clipped to the screen.

        `alerts` maps a row's index to the column of it that needs action. Columns that are empty in every row
        take no room.
        """
        columns = [_visible(column) for column in zip(*rows, strict=True)]
        if not columns:
            return
        # One template makes a row in one step; joining its cells takes twice as long.
        shown: list[list[str]] = []
        template, used = indent.replace("%", "%%"), cell_width(indent)
        for number, column in enumerate(columns):
            cells, form = column, "%s"
            if number < len(columns) - 1:
                width, form, cells = _padded(column)
                if not width:
                    continue
                used += width + 2
            elif not any(column):
                continue
            elif self.width is not None:
                room = max(self.width - used, 1)
                cells = [clip(cell, room) for cell in column]
            if alerts and self.color:
                # The blanks behind a cell are not marked.
                cells = [
                    self.alert(cell.rstrip()) + (form % cell)[len(cell.rstrip()) :]
                    if alerts.get(row) == number
                    else cell
                    for row, cell in enumerate(cells)
                ]
            template += form
            shown.append(cells)
        if not shown:
            template, shown = "%s", [columns[0]]
        for cells_of_row in zip(*shown, strict=True):
            yield (template % cells_of_row).rstrip()


def _visible(column: Sequence[str]) -> list[str]:
    """Return the cells of a column made safe; one look at all of them tells whether any has to be."""
    whole = "".join(column)
    return list(column) if visible(whole) is whole else [visible(cell) for cell in column]


def _padded(column: list[str]) -> tuple[int, str, list[str]]:
    """Return how many cells of the terminal a column takes, and a form and texts that give its cells padded to that."""
    whole = "".join(column)
    if whole.isascii() and whole.isprintable():
        width = len(max(column, key=len))
        return width, f"%-{width + 2}s", column
    # The same few names stand in thousands of rows.
    sizes = {cell: cell_width(cell) for cell in set(column)}
    width = max(sizes.values())
    padded = {cell: cell + " " * (width - size + 2) for cell, size in sizes.items()}
    return width, "%s", [padded[cell] for cell in column]


def wants_color(environ: Mapping[str, str], terminal: bool) -> bool:
    """Tell whether colour is wanted: on a terminal that can, unless NO_COLOR says otherwise."""
    return terminal and not environ.get("NO_COLOR") and environ.get("TERM", "") not in ("", "dumb")


def screen_width(terminal: bool) -> int | None:
    """Return the columns of the terminal, None where nobody looks."""
    if not terminal:
        return None
    try:
        return os.get_terminal_size(1).columns or 80
    except (OSError, ValueError):
        return 80
