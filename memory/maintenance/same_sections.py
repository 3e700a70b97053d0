"""Sections with the same bytes before and after a run: compared as a whole, without reading their entries."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import NamedTuple

from memory.document.lines import Outline, scan

BLANK = b" \t\r\n"
_LINE_ENDS = re.compile(rb"[\r\n]*")
_LINE = re.compile(rb"[^\r\n]*")
_NEXT = re.compile(rb"[\r\n]*(?:#{1,3}[ \t\r\n]|\Z)")
_HEADING = re.compile(rb"\n##?[ \t][^\r\n]*")
_SPACES = re.compile(rb"[ \t]*")
_TOP = re.compile(rb"[\0-\2]")
_TRIES = 16  # how often a known section is searched after unknown text; the rest is scanned


class Span(NamedTuple):
    """A section of a file: its heading line, its start and end offset, and the index range of its headings."""

    heading: bytes
    start: int
    end: int
    first: int
    behind: int


class TextWithOutline(NamedTuple):
    """A file's bytes with their headings and sections; `same` are the headings of unchanged known sections."""

    data: bytes
    outline: Outline
    spans: list[Span]
    same: tuple[bytes, ...] = ()

    @classmethod
    def of(cls, data: bytes, outline: Outline, same: tuple[bytes, ...] = ()) -> TextWithOutline:
        """Return these bytes with their sections."""
        return cls(data, outline, list(spans(data, outline)), same)


class KnownSections:
    """The sections of some files by heading, for headings that occur only once in all of them."""

    def __init__(self, files: Mapping[str, TextWithOutline]) -> None:
        """Store the files by name and index their sections."""
        self.files = files
        found = [(name, span) for name, file in files.items() for span in file.spans]
        count = Counter(span.heading for _, span in found)
        self.spans = {span.heading: (name, span) for name, span in found if count[span.heading] == 1}

    def read(self, data: bytes, front: int) -> TextWithOutline:
        """Return other bytes with their headings; their body begins at `front`.

        Known sections that occur unchanged are not scanned again: a section that was followed by a heading opens
        nothing that could hide the next one. The bytes between them are scanned.
        """
        starts: list[int] = []
        levels: list[int] = []
        same: list[bytes] = []
        position = front
        for left in reversed(range(_TRIES)):
            position, begin = self._take_known(data, position, starts, levels, same)
            following = self._next_known(data, begin) if left else None
            between = scan(data, position, following)
            if following is not None and between.open_end:
                # The open block may hide headings after it.
                between, following = scan(data, position), None
            starts += between.starts
            levels += between.levels
            if following is None:
                break
            position = following
        return TextWithOutline.of(data, Outline(starts, levels, between.open_end), tuple(same))

    def _take_known(
        self, data: bytes, position: int, starts: list[int], levels: list[int], same: list[bytes]
    ) -> tuple[int, int]:
        """Add the headings of consecutive known sections at a position.

        Return the offset from which to scan the rest, and the offset of the section after them. The last section of a
        file may lack the blank lines at its end: then its last heading is left to be scanned, because a blank line may
        end an HTML block.
        """
        while True:
            skipped = _LINE_ENDS.match(data, position)
            begin = skipped.end() if skipped else position
            known = self.spans.get(_line(data, begin))
            if known is None:
                return position, begin
            name, span = known
            source, outline = self.files[name].data, self.files[name].outline
            if span.end == len(source):
                return position, begin
            behind = begin + span.end - span.start
            whole = data.startswith(source[span.start : span.end], begin) and _NEXT.match(data, behind) is not None
            if not whole and not _is_end(data, begin, source, span):
                return position, begin
            same.append(span.heading)
            last = span.behind if whole else span.behind - 1
            move = begin - span.start
            starts += [start + move for start in outline.starts[span.first : last]]
            levels += outline.levels[span.first : last]
            if not whole:
                return outline.starts[last] + move, len(data)
            position = behind

    def _next_known(self, data: bytes, begin: int) -> int | None:
        """Return the offset of the next section after `begin` whose heading is known; None without one."""
        for found in _HEADING.finditer(data, begin):
            if found[0][1:].rstrip(BLANK) in self.spans:
                return found.start() + 1
        return None

    def has_entries_only(self, heading: bytes) -> bool:
        """Return whether a known section has entries, and only blank lines before them."""
        name, span = self.spans[heading]
        file = self.files[name]
        if span.behind - span.first < 2:
            return False
        lead = file.data[span.start : file.outline.starts[span.first + 1]]
        return lead.strip(BLANK) == heading


def spans(data: bytes, outline: Outline) -> Iterator[Span]:
    """Yield the sections of a text, without the part before the first section heading."""
    starts, levels = outline.starts, outline.levels
    tops = [found.start() for found in _TOP.finditer(bytes(levels))]
    for first, behind in pairwise([*tops, len(starts)]):
        end = starts[behind] if behind < len(starts) else len(data)
        yield Span(_line(data, starts[first]), starts[first], end, first, behind)


def _line(data: bytes, start: int) -> bytes:
    """Return the line at `start`, without blanks at its end."""
    found = _LINE.match(data, start)
    return found[0].rstrip(BLANK) if found else b""


def _is_end(data: bytes, begin: int, source: bytes, span: Span) -> bool:
    """Return whether the bytes from `begin` to the end are a section, except for the blank lines at its end."""
    if not 0 < len(data) - begin <= span.end - span.start:
        return False
    return without_blank_lines(data[begin:]) == without_blank_lines(source[span.start : span.end])


def without_blank_lines(text: bytes) -> bytes:
    """Return a text without the line ends and blank lines at its end; spaces after its last word stay."""
    end = len(text.rstrip(BLANK))
    found = _SPACES.match(text, end)
    return text[: found.end()] if found else text
