"""Finds the structural headings of a Markdown text: ATX, column 0, level 1 to 3, as CommonMark sees them.

One compiled pattern walks over the bytes from line start to line start. Whatever could hide a heading sends the
region since the last heading to the block scanner, except the usual case, a code fence in column 0: it always
opens at the top level there, so its end is found by another pattern and everything between is passed over.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain

from memory.base.patterns import late
from memory.named_tuple import NamedTuple

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
    from .blocks import scan_blocks

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
