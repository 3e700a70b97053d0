"""What is wrong with the structure of a document, whatever kind of memory file it is."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from functools import cache, lru_cache
from operator import itemgetter
from typing import TYPE_CHECKING, TypeVar

from memory.base.patterns import late

from .fields import FieldValues, count_lines, hidden_lines, split_lines
from .lines_and_headings import conflict_at, count_line_ends, decode

if TYPE_CHECKING:
    from functools import _lru_cache_wrapper

    from .model import Document
    from .nodes import Block, Entry, Section

T = TypeVar("T")


def _at_line_starts(pattern: str) -> tuple[re.Pattern[str], ...]:
    """Return patterns that find a line's beginning: the first line's, behind a line feed, behind a carriage return.

    One that begins with a single character finds it many times faster than one that begins with a choice.
    """
    return tuple([re.compile(before + pattern) for before in ("\\A", "\n", "\r")])


_UNDECODED = re.compile(r"([\udc80-\udcff])[^\r\n]*")
_OPENING = re.compile(rb"---[ \t]*(?:[\r\n]|\Z)")
# Lines that are text, where a field was likely meant.
_BULLET = re.compile(r"[*+] +[A-Za-z][A-Za-z0-9_-]*: ")
_TIGHT = re.compile(r"- +[A-Za-z][A-Za-z0-9_-]*:[^\s/:]|-[A-Za-z][A-Za-z0-9_-]*: ")
_MEANT_QUICK = _at_line_starts(r"(?:[*+] +[A-Za-z]|-[A-Za-z]|- +[A-Za-z][A-Za-z0-9_-]*:[^\s/:])")
# Lines that are text, where a heading was likely meant: no blank behind the hashes, or one that is none in Markdown, or
# an invisible mark before them, left where files were joined.
_HEADING = re.compile("#{2,3}[^#\\s]|#{1,3}[\u00a0\u2000-\u200b\u202f\u3000]")
_MARKED = re.compile("\ufeff+(?:#{1,3}[ \\t]|---)")
_HEADING_QUICK = _at_line_starts("(?:\ufeff|#{2,3}[^#\\s]|#{1,3}[\u00a0\u2000-\u200b\u202f\u3000])")
# The same over the bytes of a file, a little too wide: what it does not find begins no such line.
_ODD_HEADING = r"\xef\xbb\xbf|#{2,3}[^# \t\r\n\v\f]|#[\x80-\xff]"
_ODD_FIELD = r"[*+] +[A-Za-z]|-[A-Za-z]|- +[A-Za-z][A-Za-z0-9_-]*:[^ \t\r\n\v\f/:]"
_FIELD_KEY = rb"- {1,4}([A-Za-z][A-Za-z0-9_-]*):(?=[ \r\n]|\Z)"
# A single character in front is found much faster than one of two.
_KEY_FEEDS, _KEY = late(rb"\n" + _FIELD_KEY), late(rb"[\n\r]" + _FIELD_KEY)
_MOST_ENCODING = 20

MOST_KNOWN = 8192
"""Of how many entries it is known what is wrong with each."""

Finding = tuple[int, str, str]
"""Line (from 0), code and sentence."""


def remembered(function: _lru_cache_wrapper[T], times: int) -> Callable[..., T]:
    """Return a function of entries that remembers `MOST_KNOWN` answers, or the bare one for a file with more entries.

    Who asks of more entries than it remembers, one after the other, never finds an answer there.
    """
    return function if times <= MOST_KNOWN else function.__wrapped__


def structure_problems(document: Document, *, fields: bool = True) -> list[Finding]:
    """Return (line from 0, code, sentence) for every finding, in line order.

    Without `fields` those about fields are left out (`field.*`): for files whose entries are text.
    """
    data = document.dump()
    found = [*_front(document, data), *_conflicts(data), *_places(document)]
    if not data.isascii() or b"\0" in data:
        found += _encoding(data)
    sections = document.all_sections()
    slips_of = remembered(_slips_of, sum([len(section) for _, section in sections]))
    odd = _odd_lines(data, fields)
    for index, section in sections:
        lead = section.lead
        if lead and not lead.isspace() and (slips := _slips(section)):
            top = document.line_of(index) + (1 if section.heading else 0)
            found.extend([(top + line, code, message) for line, code, message in slips])
        for number in _odd_entries(section, data, odd, fields):
            if slips := slips_of(section.entries[number]):
                top = document.line_of(index, number) + 1
                found.extend([(top + line, code, message) for line, code, message in slips])
    if not fields:
        found = [one for one in found if not one[1].startswith("field.")]
    return sorted(found, key=itemgetter(0))


def _odd_lines(data: bytes, fields: bool) -> list[int]:
    """Return where line ends stand behind which something was perhaps meant otherwise, in order."""
    return [match.start() for match in _odd(fields, b"\r" in data).finditer(data)]


@cache
def _odd(fields: bool, carriage: bool) -> re.Pattern[bytes]:
    """Return the pattern of such lines, with `carriage` also behind a carriage return."""
    forms = f"{_ODD_HEADING}|{_ODD_FIELD}" if fields else _ODD_HEADING
    end = r"[\n\r]" if carriage else r"\n"
    return re.compile(f"{end}(?:{forms})".encode("latin-1"))


def _odd_entries(section: Section, data: bytes, odd: Sequence[int], fields: bool) -> Iterable[int]:
    """Return the numbers of the entries with such lines, and with `fields` of those that may have a field twice."""
    if not len(section):
        return ()
    marks = section.marks_in(data)
    if marks is None:
        # The entries were put there by an edit.
        return [number for number, entry in enumerate(section.entries) if _odd_lines(entry.raw, fields) or fields]
    inside = odd[bisect_left(odd, marks[1]) : bisect_left(odd, marks[-1])]
    found = {bisect_right(marks, offset, 1) - 2 for offset in inside}
    if fields:
        found.update(number for number, entry in enumerate(section.entries) if _may_have_twins(entry.raw))
    return sorted(found)


def _may_have_twins(raw: bytes) -> bool:
    """Tell whether two lines of an entry look like fields of one name."""
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
            lines = document.section_lines()
            message = f"the section {section.title!r} stands in line {lines[first + 1] + 1} too"
            found.append((lines[index + 1], "document.twin_section", message))
    if document.open_end:
        message = "a code fence or HTML block is never closed: it swallows the rest of the file"
        found.append((_opening_line(document), "document.unclosed", message))
    return found


def _opening_line(document: Document) -> int:
    """Return the line where the block begins that is open at the end of a document."""
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
    """Return the slips of an entry; of one that stands in a later version of its document as well they are known."""
    return _slips(entry)


def _slips(block: Block) -> list[Finding]:
    """Return what in the lines of a block was likely meant otherwise; lines from 0 at its first below the heading."""
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
        if number < len(hidden) and hidden[number]:
            continue
        if _BULLET.match(text):
            message = f"{text.strip()[:40]!r} is text; a field begins with a dash"
            found.append((number, "field.bullet", message))
        elif _TIGHT.match(text):
            message = f"{text.strip()[:40]!r} is text; a space belongs behind the colon"
            if text[1:2] != " ":
                message = f"{text.strip()[:40]!r} is text; a space belongs behind the dash"
            found.append((number, "field.space", message))
        elif _HEADING.match(text):
            message = f"{text.strip()[:40]!r} is text; a heading has a space behind its hashes"
            found.append((number, "document.heading", message))
        elif _MARKED.match(text):
            message = f"{text.strip()[:40]!r} is text: a byte order mark stands before it"
            found.append((number, "document.mark", message))
    return found


def _begins_line(patterns: tuple[re.Pattern[str], ...], body: str) -> bool:
    """Tell whether any line of a body begins as the patterns of `_at_line_starts` say."""
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
