"""Takes over bytes that somebody else wrote: scans the differing middle and shares every other node.

The middle begins at the last heading that stands unchanged in both versions and ends at the first heading behind
the difference. Where the new middle leaves a fence open, the rest of the file is scanned too.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from itertools import accumulate

from memory.named_tuple import NamedTuple

from .compare import ends
from .lines_and_headings import heading_end, scan
from .model import BOM, Document, front_end, parse
from .nodes import Entry, Section

_CHUNK = 1 << 18


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
    # The first heading kept: its hashes and the character behind them stand in the common beginning.
    kept = _last_heading(old, body, body + same_head - 4)
    # The first heading behind the difference, the line end before it included.
    behind = _next_heading(old, body, len(before) - same_tail)
    start = kept.offset - body + front if kept else front
    stop = behind.offset + len(data) - len(before) if behind else len(data)
    if stop < start:
        return parse(data)
    outline = scan(data, start, stop)
    if outline.open_end and stop < len(data):
        outline = scan(data, start)
        behind, stop = None, len(data)
    builder = _Builder(data)
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


def _section_offsets(old: Document, body: int) -> list[int]:
    """Return where the part before the first section, each section, and the end are in the old bytes."""
    return list(accumulate((part.size() for _, part in old.all_sections()), initial=body))


def _last_heading(old: Document, body: int, limit: int) -> _Mark | None:
    """Return the last heading that begins at or before `limit`."""
    offsets = _section_offsets(old, body)
    index = bisect_right(offsets, limit, 0, len(offsets) - 1) - 2
    if index < -1:
        return None
    section, base = old.section(index), offsets[index + 1]
    entries = section.offsets()
    entry = bisect_right(entries, limit - base, 0, len(entries) - 1) - 1
    if entry >= 0:
        return _Mark(base + entries[entry], index, entry)
    # An empty section has no bytes of its own, and the part before the first one no heading.
    return _Mark(base, index, None) if section.heading else None


def _next_heading(old: Document, body: int, limit: int) -> _Mark | None:
    """Return the first heading that begins behind `limit`."""
    offsets = _section_offsets(old, body)
    index = max(bisect_right(offsets, limit, 0, len(offsets) - 1) - 2, -1)
    section, base = old.section(index), offsets[index + 1]
    entries = section.offsets()
    entry = bisect_right(entries, limit - base, 0, len(entries) - 1)
    if entry < len(section):
        return _Mark(base + entries[entry], index, entry)
    if index + 1 < len(old.sections):
        return _Mark(offsets[index + 2], index + 1, None)
    return None


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
        parts = [old.head, *old.sections]
        if mark.entry is None:
            # The last whole section stays open: what follows begins with a heading of level 1 or 2.
            self.parts = parts[: mark.section]
            self._resume(parts[mark.section], None)
        else:
            self.parts = parts[: mark.section + 1]
            self._resume(parts[mark.section + 1], mark.entry)

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
            source = data[begin:end]
            split = heading_end(source)
            self.open(level, source[:split], source[split:])

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
