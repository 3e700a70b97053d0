"""Bytes and text of a source: decoding that loses nothing, line ends, heading lines, blank lines at an end, and
git's conflict markers."""

from __future__ import annotations

from memory.base.patterns import late
from memory.errors import UsageError

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
