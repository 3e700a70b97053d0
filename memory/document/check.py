"""Finds structural problems in a document, for any kind of memory file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from operator import itemgetter

from .lines import conflict_at, count_line_ends, count_lines, decode, hidden_lines, split_lines
from .model import Document
from .nodes import Block

_UNDECODED = re.compile(r"([\udc80-\udcff])[^\r\n]*")
_OPENING = re.compile(rb"---[ \t]*(?:[\r\n]|\Z)")
# Lines that are text, but were likely meant as a heading: no blank after the hashes, or one that Markdown does not
# accept, or an invisible mark before them, left where files were joined.
_HEADING = re.compile("#{2,3}[^#\\s]|#{1,3}[\u00a0\u2000-\u200b\u202f\u3000]")
_MARK = re.compile("\ufeff+(?:#{1,3}[ \\t]|---)")
_MAY_BE_ODD = re.compile(rb"\xef\xbb\xbf|(?:\A|[\n\r])#{1,3}[^# \t\r\n]")
_MOST_ENCODING = 20

Finding = tuple[int, str, str]
"""Line (from 0), code and sentence."""


def structure_problems(document: Document, *, fields: bool = True) -> list[Finding]:
    """Return (line from 0, code, sentence) for every finding, in line order.

    Without `fields`, findings about fields (`field.*`) are left out: for files whose entries are text.
    """
    data = document.dump()
    found = [*_front(document, data), *_conflicts(data), *_places(document)]
    if not data.isascii() or b"\0" in data:
        found += _encoding(data)
    if _MAY_BE_ODD.search(data, len(document.bom)):
        found += _odd_lines(document)
    if fields:
        found += _fields_twice(document)
    return sorted(found, key=itemgetter(0))


def _odd_lines(document: Document) -> Iterator[Finding]:
    for _, _, block, first in document.blocks():
        hidden = hidden_lines(block.body)
        for number, (text, _) in enumerate(split_lines(block.body)):
            if hidden[number]:
                continue
            if _HEADING.match(text):
                message = " is text; a heading needs a space after its hashes"
                yield first + number, "document.heading", f"{text.strip()[:40]!r}{message}"
            elif _MARK.match(text):
                message = " is text: a byte order mark precedes it"
                yield first + number, "document.mark", f"{text.strip()[:40]!r}{message}"


def _fields_twice(document: Document) -> Iterator[Finding]:
    for _, _, block, first in document.blocks():
        seen: set[str] = set()
        for node in block.fields.nodes if block.fields.repeated else ():
            if node.key in seen:
                yield first + node.line, "field.twice", f"the field {node.key!r} occurs twice; the first counts"
            seen.add(node.key)


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
        found.append((_line(data, data.index(b"\0")), "document.nul", "the text contains a NUL byte; it is kept"))
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
    message = "the file has git's conflict markers; until you resolve them, memdeck only reads it"
    return [(_line(data, begin), "document.conflict_markers", message)]


def _places(document: Document) -> list[Finding]:
    found: list[Finding] = []
    for index, entry in enumerate(document.head.entries):
        message = f"the entry {entry.title!r} belongs to no section"
        found.append((document.line_of(-1, index), "document.loose_entry", message))
    names: dict[str, int] = {}
    for index, section in enumerate(document.sections):
        if section.level != 2:
            continue
        first = names.setdefault(section.name, index)
        if first != index:
            lines = document.section_lines
            message = f"the section {section.title!r} is also on line {lines[first + 1] + 1}"
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
