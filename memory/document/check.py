"""Finds what is wrong with the structure of a document, for any kind of memory file."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from functools import cache, lru_cache
from operator import itemgetter
from typing import TYPE_CHECKING, TypeVar

from .lines import FieldValues, conflict_at, count_line_ends, count_lines, decode, hidden_lines, split_lines
from .nodes import of_each

if TYPE_CHECKING:
    from functools import _lru_cache_wrapper

    from .model import Document
    from .nodes import Block, Entry, Section

T = TypeVar("T")


def _at_line_starts(pattern: str) -> tuple[re.Pattern[str], ...]:
    """Return patterns that find a line's beginning: of the first line, after a line feed, after a carriage return.

    A pattern that begins with a single character is many times faster than one that begins with a choice.
    """
    return tuple([re.compile(before + pattern) for before in ("\\A", "\n", "\r")])


_UNDECODED = re.compile(r"([\udc80-\udcff])[^\r\n]*")
_OPENING = re.compile(rb"---[ \t]*(?:[\r\n]|\Z)")
# Lines that are text, but were likely meant as a field or as a heading (no blank after the hashes, or one that Markdown
# does not accept, or an invisible mark before them, left where files were joined), each with its code and what is off.
_MEANT = (
    (re.compile(r"[*+] +[A-Za-z][A-Za-z0-9_-]*: "), "field.bullet", " is text; a field begins with a dash"),
    (
        re.compile(r"- +[A-Za-z][A-Za-z0-9_-]*:[^\s/:]"),
        "field.space",
        " is text; a space belongs behind the colon",
    ),
    (re.compile(r"-[A-Za-z][A-Za-z0-9_-]*: "), "field.space", " is text; a space belongs behind the dash"),
    (
        re.compile("#{2,3}[^#\\s]|#{1,3}[\u00a0\u2000-\u200b\u202f\u3000]"),
        "document.heading",
        " is text; a heading has a space behind its hashes",
    ),
    (
        re.compile("\ufeff+(?:#{1,3}[ \\t]|---)"),
        "document.mark",
        " is text: a byte order mark stands before it",
    ),
)
_MEANT_QUICK = _at_line_starts(r"(?:[*+] +[A-Za-z]|-[A-Za-z]|- +[A-Za-z][A-Za-z0-9_-]*:[^\s/:])")
_HEADING_QUICK = _at_line_starts("(?:\ufeff|#{2,3}[^#\\s]|#{1,3}[\u00a0\u2000-\u200b\u202f\u3000])")
# The same over the bytes of a file, a little too wide: if it finds nothing, there is no such line.
_ODD_HEADING = r"\xef\xbb\xbf|#{2,3}[^# \t\r\n\v\f]|#[\x80-\xff]"
_ODD_FIELD = r"[*+] +[A-Za-z]|-[A-Za-z]|- +[A-Za-z][A-Za-z0-9_-]*:[^ \t\r\n\v\f/:]"
_FIELD_KEY = rb"- {1,4}([A-Za-z][A-Za-z0-9_-]*):(?=[ \r\n]|\Z)"
# A fixed first character is found much faster than one of two.
_KEY_FEEDS, _KEY = re.compile(rb"\n" + _FIELD_KEY), re.compile(rb"[\n\r]" + _FIELD_KEY)
_MOST_ENCODING = 20

MOST_KNOWN = 8192
"""The number of entries whose findings are cached."""

Finding = tuple[int, str, str]
"""Line (from 0), code and sentence."""
_Slip = tuple[int | None, int, str, str]
"""The number of the entry (None: the section's own text), the line relative to its heading, code and sentence."""


def remembered(function: _lru_cache_wrapper[T], times: int) -> Callable[..., T]:
    """Return a function of entries with its cache of `MOST_KNOWN` results, or without it for a file with more entries.

    Asking about more entries than the cache holds, in order, never hits the cache.
    """
    return function if times <= MOST_KNOWN else function.__wrapped__


def structure_problems(document: Document, *, fields: bool = True) -> list[Finding]:
    """Return (line from 0, code, sentence) for every finding, in line order.

    Without `fields`, findings about fields (`field.*`) are left out: for files whose entries are text.
    """
    data = document.dump()
    found = [*_front(document, data), *_conflicts(data), *_places(document)]
    if not data.isascii() or b"\0" in data:
        found += _encoding(data)
    slips_in = _slips_with_fields if fields else _slips_without_fields
    for index, slips in enumerate(of_each((document.head, *document.sections), slips_in), -1):
        for number, line, code, message in slips:
            found.append((document.line_of(index, number) + line, code, message))
    return sorted(found, key=itemgetter(0))


def _slips_with_fields(section: Section) -> Sequence[_Slip]:
    return _slips_in(section, fields=True)


def _slips_without_fields(section: Section) -> Sequence[_Slip]:
    return [slip for slip in _slips_in(section, fields=False) if not slip[2].startswith("field.")]


def _slips_in(section: Section, *, fields: bool) -> Sequence[_Slip]:
    """Return the lines of a section that were likely meant otherwise; without `fields` few entries are read."""
    found: list[_Slip] = []
    lead = section.lead
    if lead and not lead.isspace():
        below = bool(section.heading)
        found += [(None, line + below, code, message) for line, code, message in _slips(section)]
    if odd := _odd_entries(section, fields):
        slips_of, entries = remembered(_slips_of, len(section)), section.entries
        found += [
            (number, line + 1, code, message) for number in odd for line, code, message in slips_of(entries[number])
        ]
    return found or ()


@cache
def _odd(fields: bool, carriage: bool) -> re.Pattern[bytes]:
    """Return the pattern of such lines; with `carriage` also after a carriage return."""
    forms = f"{_ODD_HEADING}|{_ODD_FIELD}" if fields else _ODD_HEADING
    end = r"[\n\r]" if carriage else r"\n"
    return re.compile(f"{end}(?:{forms})".encode("latin-1"))


def _odd_entries(section: Section, fields: bool) -> Iterable[int]:
    """Return the numbers of the entries with such lines; with `fields` also of those that may have a field twice."""
    if not len(section):
        return ()
    if section.marks is None:
        # The entries come from an edit.
        find = _odd(fields, True).search
        return [number for number, entry in enumerate(section.entries) if fields or find(entry.raw)]
    data, marks = section.marks
    start, stop = marks[1], marks[-1]
    pattern = _odd(fields, data.find(b"\r", start, stop) >= 0)
    found: set[int] = set()
    # Most sections have none.
    if pattern.search(data, start, stop):
        found = {bisect_right(marks, odd.start(), 1) - 2 for odd in pattern.finditer(data, start, stop)}
    if fields:
        found.update([number for number, entry in enumerate(section.entries) if _may_have_twins(entry.raw)])
    return sorted(found)


def _may_have_twins(raw: bytes) -> bool:
    """Return whether two lines of an entry look like fields of the same name."""
    if raw.count(b"\n- ") < 2 and b"\r" not in raw:
        return False
    keys = (_KEY if b"\r" in raw else _KEY_FEEDS).findall(raw)
    return len(set(keys)) < len(keys)


def _line(data: bytes, offset: int) -> int:
    return count_line_ends(data[:offset])


def _encoding(data: bytes) -> list[Finding]:
    found: list[Finding] = []
    text = decode(data)
    for mark in _UNDECODED.finditer(text):
        line = count_lines(text, mark.start())
        byte = ord(mark[1]) - 0xDC00
        found.append((line, "document.encoding", f"byte 0x{byte:02x} is not UTF-8; it is kept as it is"))
        if len(found) == _MOST_ENCODING:
            break
    if b"\0" in data:
        found.append((_line(data, data.index(b"\0")), "document.nul", "a NUL byte stands in the text; it is kept"))
    return found


def _front(document: Document, data: bytes) -> list[Finding]:
    if document.front_raw:
        return list(document.meta.problems)
    if _OPENING.match(data, len(document.bom)):
        return [(0, "front.unclosed", "the front matter is never closed, so it is read as text")]
    return []


def _conflicts(data: bytes) -> list[Finding]:
    begin = conflict_at(data)
    if begin is None:
        return []
    message = "git's conflict markers are in the file; resolve them, memdeck only reads it"
    return [(_line(data, begin), "document.conflict_markers", message)]


def _places(document: Document) -> list[Finding]:
    found: list[Finding] = []
    for index, entry in enumerate(document.head.entries):
        message = f"the entry {entry.title!r} stands before any section"
        found.append((document.line_of(-1, index), "document.loose_entry", message))
    names: dict[str, int] = {}
    for index, section in enumerate(document.sections):
        if section.level != 2:
            continue
        first = names.setdefault(section.name, index)
        if first != index:
            lines = document.section_lines
            message = f"the section {section.title!r} stands in line {lines[first + 1] + 1} too"
            found.append((lines[index + 1], "document.twin_section", message))
    if document.open_end:
        message = "a code fence or HTML block is never closed: it swallows the rest of the file"
        found.append((_opening_line(document), "document.unclosed", message))
    return found


def _opening_line(document: Document) -> int:
    """Return the line where the block that is still open at the end of a document begins."""
    index = len(document.sections) - 1
    last = document.section(index)
    block: Block = last.entries[-1] if len(last) else last
    line = document.line_of(index, len(last) - 1 if len(last) else None)
    hidden = hidden_lines(block.body)
    first = len(hidden)
    while first and hidden[first - 1]:
        first -= 1
    return line + first + (1 if len(last) or last.heading else 0)


@lru_cache(MOST_KNOWN)
def _slips_of(entry: Entry) -> list[Finding]:
    """Return the slips of an entry, cached: later versions of a document share unchanged entries."""
    return _slips(entry)


def _slips(block: Block) -> list[Finding]:
    """Return the lines of a block that were likely meant otherwise; line 0 is the first below the heading."""
    body = block.body
    found: list[Finding] = []
    if not body or body.isspace():
        return found
    if _has_twins(body, block.fields):
        seen: set[str] = set()
        for node in block.fields.nodes:
            if node.key in seen:
                message = f"the field {node.key!r} stands twice; the first counts"
                found.append((node.line, "field.twice", message))
            seen.add(node.key)
    # Looking for a single character first is much faster in a body of megabytes.
    marked = "##" in body or "\ufeff" in body or ("#" in body and not body.isascii())
    if not _begins_line(_MEANT_QUICK, body) and not (marked and _begins_line(_HEADING_QUICK, body)):
        return found
    hidden = hidden_lines(body)
    for number, (text, _) in enumerate(split_lines(body)):
        if hidden[number]:
            continue
        meant = next((one for one in _MEANT if one[0].match(text)), None)
        if meant is not None:
            found.append((number, meant[1], f"{text.strip()[:40]!r}{meant[2]}"))
    return found


def _begins_line(patterns: tuple[re.Pattern[str], ...], body: str) -> bool:
    """Return whether any line of a body matches one of the patterns of `_at_line_starts`."""
    first, feed, carriage = patterns
    return (
        first.match(body) is not None
        or feed.search(body) is not None
        or ("\r" in body and carriage.search(body) is not None)
    )


def _has_twins(body: str, fields: FieldValues) -> bool:
    dashes = body.count("\n- ") + body.startswith("- ")
    if "\r" in body:
        dashes += body.count("\r- ")
    return dashes > len(fields) and len(fields.nodes) > len(fields)
