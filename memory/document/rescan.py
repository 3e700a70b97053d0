"""Parses a newer version of a file: scans the differing middle and shares every other node.

The middle begins at the last unchanged heading before the difference and ends at the first heading after it. Where the
new middle leaves a fence open, the rest of the file is scanned too. Entries of the old middle that stand in the new one
as well are shared too: where an entry was moved, all between are the same.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable
from itertools import accumulate
from typing import NamedTuple

from .compare import ends
from .lines import heading_end, scan
from .model import BOM, Document, front_end, parse
from .nodes import Entry, Section

_CHUNK = 1 << 18


class _Mark(NamedTuple):
    """A heading of the old document: its offset in the old bytes, and the section and entry that it begins."""

    offset: int
    section: int
    entry: int | None


def updated(old: Document, data: bytes) -> Document:
    """Return the document of `data`; it shares unchanged parts with `old`."""
    before = old.dump()
    if before == data:
        return old
    bom = len(BOM) if data.startswith(BOM) else 0
    front = front_end(data, bom)
    body = len(old.bom) + len(old.front_raw)
    least = min(len(before) - body, len(data) - front)
    same_head = _common(
        lambda start, stop: (before[body + start : body + stop], data[front + start : front + stop]), least
    )
    same_tail = _common(
        lambda start, stop: (_from_end(before, start, stop), _from_end(data, start, stop)), least - same_head, -1
    )
    # The last heading kept: its hashes and the character after them are in the common beginning.
    # Where the part before the first section begins, then each section, and the end.
    offsets = list(accumulate([part.size for _, part in old.all_sections()], initial=body))
    kept, _ = _headings_around(old, offsets, body + same_head - 4)
    # The first heading after the difference; the line end before it must be unchanged too.
    _, behind = _headings_around(old, offsets, len(before) - same_tail)
    start = kept.offset - body + front if kept else front
    stop = behind.offset + len(data) - len(before) if behind else len(data)
    if stop < start:
        return parse(data)
    outline = scan(data, start, stop)
    if outline.open_end and stop < len(data):
        outline = scan(data, start)
        behind, stop = None, len(data)
    builder = _Builder(data, _between(old, kept, behind))
    if kept:
        builder.keep(old, kept)
    builder.cut(start, stop, outline.starts, outline.levels)
    if behind:
        builder.rest(old, behind)
    head, sections = builder.done()
    for section, new in zip(old.sections, sections, strict=False):
        if new is not section and (new.heading, new.lead) == (section.heading, section.lead):
            new.take_lines(section, *ends(section.entries, new.entries))
    return Document(data[:bom], data[bom:front], head, sections, old.open_end if behind else outline.open_end, data)


def _headings_around(old: Document, offsets: list[int], limit: int) -> tuple[_Mark | None, _Mark | None]:
    """Return the last heading that begins at or before `limit`, and the first one after it."""
    index = max(bisect_right(offsets, limit, 0, len(offsets) - 1) - 2, -1)
    section, base = old.section(index), offsets[index + 1]
    entries = section.offsets
    entry = bisect_right(entries, limit - base, 0, len(entries) - 1)
    # An empty section has no bytes of its own, and the part before the first one no heading.
    last = _Mark(base, index, None) if section.heading else None
    if entry > 0:
        last = _Mark(base + entries[entry - 1], index, entry - 1)
    if entry < len(section):
        return last, _Mark(base + entries[entry], index, entry)
    return last, _Mark(offsets[index + 2], index + 1, None) if index + 1 < len(old.sections) else None


def _between(old: Document, kept: _Mark | None, behind: _Mark | None) -> dict[bytes, list[Entry]]:
    """Return the old entries of the middle by their source, the first one last; no view knows one that is not cut."""
    first = (-1, None) if kept is None else (kept.section, kept.entry)
    last = (len(old.sections), None) if behind is None else (behind.section, behind.entry)
    middle: list[Entry] = []
    for index in range(first[0], min(last[0] + 1, len(old.sections))):
        entries = old.section(index).cut
        start = (first[1] or 0) if index == first[0] else 0
        stop = (last[1] or 0) if index == last[0] else len(entries)
        middle += entries[start:stop]
    found: dict[bytes, list[Entry]] = {}
    for entry in reversed(middle):
        found.setdefault(entry.raw, []).append(entry)
    return found


class _Builder:
    """Joins kept and new parts, in file order; an entry that the old middle has as well is shared, each once."""

    def __init__(self, data: bytes, known: dict[bytes, list[Entry]]) -> None:
        self.data = data
        self.known = known
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
        """Add everything before a heading of the old document."""
        parts = [old.head, *old.sections]
        if mark.entry is None:
            # The section before the heading stays open: the next part begins with the heading and closes it.
            self.parts = parts[: mark.section]
            self._resume(parts[mark.section], None)
        else:
            self.parts = parts[: mark.section + 1]
            self._resume(parts[mark.section + 1], mark.entry)

    def _resume(self, section: Section, entries: int | None) -> None:
        self.level, self.heading, self.lead = section.level, section.heading, section.lead
        self.entries = list(section.entries[:entries])

    def cut(self, start: int, stop: int, starts: list[int], levels: list[int]) -> None:
        """Split the scanned middle into its parts."""
        data = self.data
        lead_end = starts[0] if starts else stop
        if lead_end > start:
            self.lead += data[start:lead_end]
        for index, (begin, level) in enumerate(zip(starts, levels, strict=True)):
            end = starts[index + 1] if index + 1 < len(starts) else stop
            if level == 3:
                raw = data[begin:end]
                same = self.known.get(raw)
                self.entries.append(same.pop() if same else Entry(raw))
                continue
            source = data[begin:end]
            split = heading_end(source)
            self.open(level, source[:split], source[split:])

    def rest(self, old: Document, mark: _Mark) -> None:
        """Add everything from a heading of the old document to its end."""
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


def _common(pair: Callable[[int, int], tuple[bytes, bytes]], length: int, step: int = 1) -> int:
    """Return how many bytes are equal at the start of two texts, or at their end with -1 as `step`.

    `pair` returns the bytes `start:stop` of both, counted from there.
    """
    for start in range(0, length, _CHUNK):
        one, two = pair(start, min(start + _CHUNK, length))
        if one != two:
            return start + _first_difference(one[::step], two[::step])
    return length


def _from_end(data: bytes, start: int, stop: int) -> bytes:
    return data[len(data) - stop : len(data) - start]


def _first_difference(one: bytes, two: bytes) -> int:
    """Return the index of the first byte that differs; the two have the same length and are not equal."""
    steps = range(len(one) + 1)
    return bisect_left(steps, True, key=lambda size: one[:size] != two[:size]) - 1
