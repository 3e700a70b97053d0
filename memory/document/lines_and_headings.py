"""Lines and headings of a source: decoding that loses nothing, line ends, conflict markers, and where its headings are.

A heading is structural as CommonMark sees it: ATX, column 0, level 1 to 3. `scan` finds them: one compiled pattern
walks over the bytes from line start to line start. Whatever could hide a heading sends the region since the last
heading to the block scanner, except the usual case, a code fence in column 0: it always opens at the top level there,
so its end is found by another pattern and everything between is passed over.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain

from memory.base.patterns import late
from memory.errors import UsageError
from memory.named_tuple import NamedTuple

ESCAPES = "surrogateescape"
LINE_END = late(rb"\r\n|\n|\r")


def decode(data: bytes) -> str:
    """Return bytes as text; what is not UTF-8 survives as lone surrogates."""
    return data.decode("utf-8", ESCAPES)


def encode(text: str) -> bytes:
    """Return text as the bytes it was read from; lone surrogates that stand for no byte become `?`."""
    try:
        return text.encode("utf-8", ESCAPES)
    except UnicodeEncodeError:
        return b"".join(_encode_character(character) for character in text)


def _encode_character(character: str) -> bytes:
    try:
        return character.encode("utf-8", ESCAPES)
    except UnicodeEncodeError:
        return b"?"


def is_blank(data: bytes) -> bool:
    """Tell whether bytes hold nothing but white space, without a copy of them."""
    return not data or data.isspace()


def heading_end(raw: bytes) -> int:
    """Return the offset behind the first line and its line end."""
    feed = raw.find(b"\n")
    stop = feed if feed >= 0 else len(raw)
    carriage = raw.find(b"\r", 0, stop)
    if carriage >= 0 and carriage + 1 != feed:
        return carriage + 1
    return feed + 1 if feed >= 0 else stop


def heading_title(line: str) -> str:
    """Return the title of an ATX heading line as CommonMark reads it, closing hashes left out."""
    content = line.lstrip("#").strip(" \t")
    if content[-1:] == "#":
        without = content.rstrip("#")
        if not without or without[-1] in " \t":
            content = without
    return content.strip()


def heading_line(title: str, level: int) -> str:
    """Return the line of a heading that reads back as `title`; raises `UsageError` for more than one line."""
    clean = title.strip()
    if "\n" in clean or "\r" in clean:
        raise UsageError("document.title", "a title is one line", "put further lines into a field or the text")
    line = f"{'#' * level} {clean}".rstrip()
    # A title that ends in hashes would lose them when it is read again.
    return line if heading_title(line) == clean else f"{line} {'#' * level}"


def newline_of(raw: bytes, default: str = "\n") -> str:
    """Return the line end that occurs most often in a source, or `default` where there is none."""
    returns = raw.count(b"\r")
    if not returns:
        return "\n" if b"\n" in raw else default
    feeds = raw.count(b"\n")
    pairs = raw.count(b"\r\n")
    counts = {"\n": feeds - pairs, "\r\n": pairs, "\r": returns - pairs}
    return max(counts, key=lambda end: counts[end])


def count_line_ends(raw: bytes) -> int:
    """Return the number of line ends in a source."""
    lines = raw.count(b"\n")
    if b"\r" in raw:
        lines += raw.count(b"\r") - raw.count(b"\r\n")
    return lines


def ends_line(raw: bytes) -> bool:
    """Tell whether a source ends with a line end, or is empty."""
    return not raw or raw.endswith((b"\n", b"\r"))


def with_line_end(raw: bytes, newline: str) -> bytes:
    """Return a source with one more line end behind it, which must not become one with the last."""
    return raw + (b"\r" if newline == "\n" and raw.endswith(b"\r") else newline.encode())


def blank_end(raw: bytes) -> bool:
    """Tell whether a source ends with a blank line."""
    return count_line_ends(raw[len(raw.rstrip(b" \t\r\n")) :]) >= 2


def without_blank_end(raw: bytes) -> bytes:
    """Return a source without the blank lines at its end; the last line keeps its line end."""
    stripped = raw.rstrip(b" \t\r\n")
    found = LINE_END.search(raw, len(stripped))
    return raw[: found.end()] if found else raw


_MARKERS = late(rb"(?:\A|(?<=[\r\n]))(?:(<{7}) [^\r\n]*|(={7})|(>{7}) [^\r\n]*)(?=[\r\n]|\Z)")


def conflict_at(data: bytes) -> int | None:
    """Return the offset of the first `<<<<<<<` line that `=======` and `>>>>>>>` lines follow in this order.

    That is a merge by git which is not done; None where there is none.
    """
    # From the end: for a row of equal characters that search is three times as fast.
    if data.rfind(b">>>>>>>") < 0 or b"<<<<<<< " not in data:
        return None
    begin: int | None = None
    parted = False
    for mark in _MARKERS.finditer(data):
        if mark[1]:
            begin, parted = mark.start(), False
        elif mark[2]:
            parted = begin is not None
        elif parted:
            return begin
    return None


_CANDIDATE = r"(?:(#{1,3})(?=[ \t\r\n]|\Z)|( {0,3})(?:(`{3,}|~{3,})|<[A-Za-z/!?]))"
_FIRST = late(_CANDIDATE.encode())
# A literal line feed in front lets the search skip from line to line, and a look at the next byte passes over most of
# them at once; a lone carriage return needs the slower form.
_NEXT = late(rb"\n(?=[# `~<])" + _CANDIDATE.encode())
_NEXT_CR = late(rb"(?:\n|\r(?!\n))" + _CANDIDATE.encode())
_LINE = late(rb"([^\r\n]*)(\r\n|\n|\r|\Z)")
_OPENERS = (b" ", b"`", b"~", b"<")
_BEHIND = (b"", b" ", b"\t", b"\r", b"\n")
_CLOSERS: dict[tuple[bytes, int], re.Pattern[bytes]] = {}


class Outline(NamedTuple):
    """The headings of a text, in order: byte offset and level of each, and whether its end is swallowed.

    `open_end` says that a code fence or HTML block is still open where the text ends, so that a heading put
    behind it would not be one.
    """

    starts: list[int]
    levels: list[int]
    open_end: bool


def scan(data: bytes, start: int = 0, stop: int | None = None) -> Outline:
    """Return the headings of `data[start:stop]`; `start` is a line start where no block is open.

    Offsets count from the beginning of `data`. Any bytes are accepted; the cost is linear in the length.
    """
    end = len(data) if stop is None else stop
    starts: list[int] = []
    levels: list[int] = []
    following = _NEXT_CR if has_lone_cr(data, start, end) else _NEXT
    position = start
    clean = start  # the last place where nothing was open: the block scanner may begin there
    # Most texts begin with a heading or with nothing of it; the pattern is for the others.
    first = None
    opening = data[start : min(start + 4, end)]
    hashes = len(opening) - len(opening.lstrip(b"#"))
    if 1 <= hashes <= 3 and opening[hashes : hashes + 1] in _BEHIND:
        starts.append(start)
        levels.append(hashes)
    elif opening[:1] in _OPENERS:
        first = _FIRST.match(data, start, end)
    candidates: Iterator[re.Match[bytes]] = following.finditer(data, start, end)
    if first is not None:
        candidates = chain([first], candidates)
    while True:
        for match in candidates:
            mark, behind = match.span(1)
            if mark >= 0:
                starts.append(mark)
                levels.append(behind - mark)
                clean = mark
                continue
            fence = match.group(3)
            if fence and not match.group(2):
                closed = _fence_end(data, match.start(3), fence, end)
                if closed is None:
                    return Outline(starts, levels, True)
                if closed < 0:
                    continue
                position = closed
                break
            begin = _line_end(data, clean, end) if starts else clean
            heading, level, is_open = _careful(data, begin, end)
            if heading < 0:
                return Outline(starts, levels, is_open)
            starts.append(heading)
            levels.append(level)
            clean = heading
            position = heading + level
            break
        else:
            return Outline(starts, levels, False)
        candidates = following.finditer(data, position, end)


def has_lone_cr(data: bytes, start: int = 0, stop: int | None = None) -> bool:
    """Tell whether a carriage return that no line feed follows ends a line somewhere in the range."""
    end = len(data) if stop is None else stop
    if data.find(b"\r", start, end) < 0:
        return False
    return data.count(b"\r", start, end) != data.count(b"\r\n", start, end)


def _line_end(data: bytes, position: int, end: int) -> int:
    """Return the offset behind the line end of the line that holds `position`."""
    match = _LINE.match(data, position, end)
    return match.end() if match else end


def _fence_end(data: bytes, opener: int, fence: bytes, end: int) -> int | None:
    """Return the offset at the end of the closing fence's line (before its line end).

    None: never closed. -1: the line opens no fence, for a backtick stands in its info string.
    """
    line = _LINE.match(data, opener, end)
    if line is None or (fence[:1] == b"`" and b"`" in line.group(1)[len(fence) :]):
        return -1
    key = (fence[:1], len(fence))
    closer = _CLOSERS.get(key)
    if closer is None:
        pattern = rb"[\r\n] {0,3}" + fence[:1] + b"{" + str(len(fence)).encode() + rb",}[ \t]*(?=[\r\n]|\Z)"
        closer = re.compile(pattern)
        if len(_CLOSERS) < 32:
            _CLOSERS[key] = closer
    found = closer.search(data, line.end(1), end)
    return found.end() if found else None


def _careful(data: bytes, begin: int, end: int) -> tuple[int, int, bool]:
    """Ask the block scanner for the first heading at or after `begin`: offset (-1: none), level, open end."""
    from .scan.blocks import scan_blocks

    offsets: list[int] = []

    def lines() -> Iterator[str]:
        position = begin
        while position < end:
            match = _LINE.match(data, position, end)
            assert match is not None
            offsets.append(position)
            yield match.group(1).decode("utf-8", "surrogateescape")
            position = match.end()

    found = scan_blocks(lines())
    if found.heading is None:
        return -1, 0, found.open
    offset = offsets[found.heading]
    level = len(data[offset : offset + 3]) - len(data[offset : offset + 3].lstrip(b"#"))
    return offset, level, False
