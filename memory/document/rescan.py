"""Takes over bytes that somebody else wrote: scans the differing middle and shares every other node.

The middle begins at the last heading that stands unchanged in both versions and ends at the first heading behind
the difference. Where the new middle leaves a fence open, the rest of the file is scanned too.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from typing import NamedTuple

from .model import BOM, Document, front_end, parse
from .nodes import Entry, Section
from .scan import scan

_CHUNK = 1 << 18
_LINE_END = re.compile(rb"\r\n|\n|\r")


class _Mark(NamedTuple):
    """A heading of the old document: its offset in the old bytes, and which section and entry it begins."""

    offset: int
    section: int
    entry: int | None


def updated(old: Document, data: bytes) -> Document:
    """Return the document of `data`, sharing with `old` what did not change."""
    before = old.dump()
    if before == data:
        return old
    bom = len(BOM) if data.startswith(BOM) else 0
    front = front_end(data, bom)
    body = len(old.bom) + len(old.front_raw)
    same_head = _common_prefix(before, body, data, front)
    same_tail = _common_suffix(before, body + same_head, data, front + same_head)
    marks = _marks(old, body)
    offsets = [mark.offset for mark in marks]
    # The first heading kept: its hashes and the character behind them stand in the common beginning.
    first = bisect_right(offsets, body + same_head - 4) - 1
    # The first heading behind the difference, the line end before it included.
    behind = bisect_right(offsets, len(before) - same_tail)
    start = offsets[first] - body + front if first >= 0 else front
    shift = len(data) - len(before)
    stop = offsets[behind] + shift if behind < len(marks) else len(data)
    if stop < start:
        return parse(data)
    outline = scan(data, start, stop)
    if outline.open_end and stop < len(data):
        outline = scan(data, start)
        behind, stop = len(marks), len(data)
    builder = _Builder(data)
    if first >= 0:
        builder.keep(old, marks[first])
    builder.cut(start, stop, outline.starts, outline.levels)
    if behind < len(marks):
        builder.rest(old, marks[behind])
    head, sections = builder.done()
    open_end = outline.open_end if behind == len(marks) else old.open_end
    return Document(data[:bom], data[bom:front], head, sections, open_end, data)


def _marks(old: Document, offset: int) -> list[_Mark]:
    marks = []
    for index, section in old.all_sections():
        if section.heading:
            marks.append(_Mark(offset, index, None))
        offset += len(section.heading) + len(section.lead)
        for number, entry in enumerate(section.entries):
            marks.append(_Mark(offset, index, number))
            offset += len(entry.raw)
    return marks


class _Builder:
    """Puts kept and new parts together, in file order."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.level = 0
        self.heading = b""
        self.lead = b""
        self.entries: list[Entry] = []
        self.parts: list[Section] = []

    def close(self) -> None:
        self.parts.append(Section.of(self.level, self.heading, self.lead, tuple(self.entries)))

    def open(self, level: int, heading: bytes, lead: bytes) -> None:
        self.close()
        self.level, self.heading, self.lead, self.entries = level, heading, lead, []

    def keep(self, old: Document, mark: _Mark) -> None:
        """Take everything before a heading of the old document."""
        whole = mark.section if mark.entry is None else mark.section - 1
        parts = [old.head, *old.sections]
        if mark.entry is None:
            # The last whole section stays open: what follows begins with a heading of level 1 or 2.
            self.parts = parts[:whole]
            self._resume(parts[whole], None)
        else:
            self.parts = parts[: whole + 1]
            self._resume(parts[whole + 1], mark.entry)

    def _resume(self, section: Section, entries: int | None) -> None:
        self.level, self.heading, self.lead = section.level, section.heading, section.lead
        self.entries = list(section.entries[:entries])

    def cut(self, start: int, stop: int, starts: list[int], levels: list[int]) -> None:
        """Cut the scanned middle into its parts."""
        data = self.data
        lead_end = starts[0] if starts else stop
        if lead_end > start:
            self.lead += data[start:lead_end]
        for index, (begin, level) in enumerate(zip(starts, levels, strict=True)):
            end = starts[index + 1] if index + 1 < len(starts) else stop
            if level == 3:
                self.entries.append(Entry(data[begin:end]))
                continue
            line = _LINE_END.search(data, begin, end)
            split = line.end() if line else end
            self.open(level, data[begin:split], data[split:end])

    def rest(self, old: Document, mark: _Mark) -> None:
        """Take everything from a heading of the old document on."""
        section = mark.section
        if mark.entry is not None:
            self.entries.extend(old.section(section).entries[mark.entry :])
            section += 1
        self.close()
        self.parts.extend(old.sections[section:])
        self.entries = []
        self.level = -1

    def done(self) -> tuple[Section, tuple[Section, ...]]:
        """Return the part before the first section, and the sections."""
        if self.level >= 0:
            self.close()
        return self.parts[0], tuple(self.parts[1:])


def _common_prefix(one: bytes, at: int, two: bytes, also: int) -> int:
    """Return how many bytes agree from `one[at:]` and `two[also:]` on."""
    length = min(len(one) - at, len(two) - also)
    done = 0
    while done < length:
        size = min(_CHUNK, length - done)
        if one[at + done : at + done + size] != two[also + done : also + done + size]:
            return done + _first_difference(one[at + done : at + done + size], two[also + done : also + done + size])
        done += size
    return length


def _common_suffix(one: bytes, least: int, two: bytes, also: int) -> int:
    """Return how many bytes agree at the ends, not reaching before `least` and `also`."""
    length = min(len(one) - least, len(two) - also)
    done = 0
    while done < length:
        size = min(_CHUNK, length - done)
        left = one[len(one) - done - size : len(one) - done]
        right = two[len(two) - done - size : len(two) - done]
        if left != right:
            return done + _first_difference(left[::-1], right[::-1])
        done += size
    return length


def _first_difference(one: bytes, two: bytes) -> int:
    """Return the index of the first byte that differs; the two are of one length and not equal."""
    steps = range(len(one) + 1)
    return bisect_left(steps, True, key=lambda size: one[:size] != two[:size]) - 1
