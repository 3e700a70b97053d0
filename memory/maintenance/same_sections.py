"""Sections with the same bytes before and after a run: they are compared whole, without a look at their entries."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import pairwise

from memory.document.lines_and_headings import Outline, scan
from memory.named_tuple import NamedTuple

BLANK = b" \t\r\n"
_LINE_ENDS = re.compile(rb"[\r\n]*")
_LINE = re.compile(rb"[^\r\n]*")
_NEXT = re.compile(rb"[\r\n]*(?:#{1,3}[ \t\r\n]|\Z)")
_TOP = re.compile(rb"[\0-\2]")


class Span(NamedTuple):
    """A section of a file: its heading line, where it begins and ends, and the indexes of its headings."""

    heading: bytes
    start: int
    end: int
    first: int
    behind: int


class TextWithOutline(NamedTuple):
    """A file's bytes with their headings, and the sections in them that a file had before, by their headings."""

    data: bytes
    outline: Outline
    spans: list[Span]
    same: tuple[bytes, ...] = ()

    @classmethod
    def of(cls, data: bytes, outline: Outline, same: tuple[bytes, ...] = ()) -> TextWithOutline:
        """Return a file of these bytes, cut into its sections."""
        return cls(data, outline, list(spans(data, outline)), same)


class KnownSections:
    """The sections of some files, by those headings that only one of them has, and has once."""

    def __init__(self, files: Mapping[str, TextWithOutline]) -> None:
        """Take the files by name."""
        self.files = files
        found = [(name, span) for name, file in files.items() for span in file.spans]
        count = Counter(span.heading for _, span in found)
        self.spans = {span.heading: (name, span) for name, span in found if count[span.heading] == 1}

    def read(self, data: bytes, front: int) -> TextWithOutline:
        """Return the headings of other bytes, whose body begins at `front`.

        Those of sections that stand there as they are known, one after the other, are not looked for again: a section
        behind which there was a heading opens nothing that could hide the next one.
        """
        starts: list[int] = []
        levels: list[int] = []
        same: list[bytes] = []
        position = front
        while True:
            skipped = _LINE_ENDS.match(data, position)
            begin = skipped.end() if skipped else position
            known = self.spans.get(_line(data, begin))
            if known is None:
                break
            name, span = known
            source, outline = self.files[name].data, self.files[name].outline
            behind = begin + span.end - span.start
            is_last = span.end == len(source)
            if is_last or not data.startswith(source[span.start : span.end], begin) or not _NEXT.match(data, behind):
                break
            move = begin - span.start
            starts += [start + move for start in outline.starts[span.first : span.behind]]
            levels += outline.levels[span.first : span.behind]
            same.append(span.heading)
            position = behind
        rest = scan(data, position)
        outline = Outline(starts + rest.starts, levels + rest.levels, rest.open_end)
        return TextWithOutline.of(data, outline, tuple(same))

    def has_entries_only(self, heading: bytes) -> bool:
        """Tell whether a known section has entries, and nothing but blank lines before them."""
        name, span = self.spans[heading]
        file = self.files[name]
        if span.behind - span.first < 2:
            return False
        lead = file.data[span.start : file.outline.starts[span.first + 1]]
        return lead.strip(BLANK) == heading


def spans(data: bytes, outline: Outline) -> Iterator[Span]:
    """Yield the sections of a text, the part before the first heading of a section left out."""
    starts, levels = outline.starts, outline.levels
    tops = [found.start() for found in _TOP.finditer(bytes(levels))]
    for first, behind in pairwise([*tops, len(starts)]):
        end = starts[behind] if behind < len(starts) else len(data)
        yield Span(_line(data, starts[first]), starts[first], end, first, behind)


def _line(data: bytes, start: int) -> bytes:
    """Return the line that begins at `start`, without blanks at its end."""
    found = _LINE.match(data, start)
    return found[0].rstrip(BLANK) if found else b""
