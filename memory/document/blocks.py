"""The block structure of Markdown, line by line, as far as it decides which headings are headings.

A level (the document, or the inside of a block quote) keeps its open list items and one open leaf from line to line, as
in the parsing strategy of the CommonMark specification. Where the specification and markdown-it-py differ, the library
is followed: what people see rendered and what the scanner finds must be the same document. A link reference definition
is known as such where it is one line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

_RAW_START = re.compile(r"<(?ai:script|pre|style|textarea)(?=[\s>]|$)")
_RAW_END = re.compile(r"</(?ai:script|pre|style|textarea)>")
_NAMES = (
    "address article aside base basefont blockquote body caption center col colgroup dd details dialog dir"
    " div dl dt fieldset figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6 head header hr html"
    " iframe legend li link main menu menuitem nav noframes ol optgroup option p param search section summary"
    " table tbody td tfoot th thead title tr track ul"
)
_BLOCK_TAG = re.compile(rf"</?(?ai:{'|'.join(_NAMES.split())})(?=\s|/?>|$)")
_WHOLE_TAG = re.compile(
    r"(?:<[A-Za-z][A-Za-z0-9-]*"
    r"""(?:\s+[A-Za-z_:][A-Za-z0-9_:.-]*(?:\s*=\s*(?:[^"'=<>`\x00-\x20\s]+|'[^']*'|"[^"]*"))?)*"""
    r"\s*/?>|</[A-Za-z][A-Za-z0-9-]*\s*>)\s*$"
)
_FENCE = re.compile(r"`{3,}(?=[^`]*\Z)|~{3,}")
_RULE = re.compile(r"(?:\* *){3,}\Z|(?:- *){3,}\Z|(?:_ *){3,}\Z")
_MARKER = re.compile(r"(?:[-+*]|([0-9]{1,9})[.)])(?= |\Z)")
_HEADING = re.compile(r"#{1,6}(?= |\Z)")
_UNDERLINE = re.compile(r"(?:=+|-+) *\Z")
_DEFINITION = re.compile(
    r"\[(?=[^\]]*[^\s\]])(?:[^\\\[\]]|\\.)*\]: *(?:<[^<>\\]*>|[^\s<]\S*)"
    r"""(?: +(?:"[^"\\]*"|'[^'\\]*'|\([^()\\]*\)))? *\Z"""
)
_NESTING_LIMIT = 100
"""Levels (a list item counts two, a quote one) from which the rest of a line is text.

CommonMark knows no limit; this one bounds the work for each line. markdown-it-py stops at 20 levels and reads no
block behind them any more: there a line of ten list markers would take every heading that follows out of the file,
which the scan of a whole file does not see either. A heading in column 0 ends any depth here.
"""

_NONE, _PARAGRAPH, _FENCED, _HTML = range(4)
_BLANK = ""
"""The end of an HTML block that goes up to a blank line."""
_RAW = "</"
"""The end of an HTML block of raw text: any of four closing tags, see `_holds`."""


class BlockScan(NamedTuple):
    """The result of `scan_blocks`.

    `heading` is the index of the first top-level ATX heading of level 1 to 3 that starts in column 0, or
    None. `open` says, when there is none, that a heading appended after the last line would be swallowed.
    `hidden` says for each consumed line whether it belongs to a fenced code block or an HTML block, at top
    level or in a container, opening and closing lines included.
    """

    heading: int | None
    open: bool
    hidden: tuple[bool, ...]


def scan_blocks(lines: Iterable[str]) -> BlockScan:
    """Read lines (without their line ends) up to the first heading of level 1 to 3, or to their end.

    The first line must be at a clean point: the start of a body, or right after a heading. Time is linear in
    the characters read, and no line after the heading is consumed.
    """
    document = _Level(0)
    hidden: list[bool] = []
    for line in lines:
        hidden.append(document.read(line.expandtabs(4).replace("\0", "\ufffd")))
        if document.found:
            return BlockScan(len(hidden) - 1, False, tuple(hidden))
    is_open = not document.items and document.quote is None and document.leaf in (_FENCED, _HTML)
    return BlockScan(None, is_open, tuple(hidden))


class _Level:
    """The containers and the leaf that are open between two lines, of the document or inside of a block quote.

    `items` holds the columns that the content of each open list item must reach, `quote` the block quote that is open
    in the innermost of them.
    """

    def __init__(self, depth: int) -> None:
        self.depth = depth
        self.items: list[int] = []
        self.quote: _Level | None = None
        self.leaf = _NONE
        self.fence = ""
        self.end = _BLANK
        self.fresh = False
        self.found = False

    def read(self, line: str) -> bool:
        """Take in one line; return whether it is part of a fenced code block or an HTML block."""
        fresh, self.fresh = self.fresh, False
        text = line.lstrip(" ")
        column = len(line) - len(text)
        base = self.items[-1] if self.items else 0
        if self.quote is not None:
            # Any indentation will do here, a habit of the library: the specification allows three columns.
            if text.startswith(">") and column >= base:
                return self.quote.read(_inside(text))
            # With a quote in the quote the indentation does not count, a habit of the library.
            at = column if self.quote.quote is None else -1
            if text and self.quote.in_paragraph() and (at - base > 3 or not self.interrupts(text, at, base)):
                return False
            self.quote = None
        if self.leaf == _PARAGRAPH:
            if text and column - base > 3:
                return False
            if text and column >= base and _UNDERLINE.match(text):
                self.leaf = _NONE
                return False
            if text and not self.interrupts(text, column, base, guarded=column >= base):
                return False
        elif self.leaf == _FENCED:
            if not text or column >= base:
                if column - base < 4 and text.startswith(self.fence) and not text.lstrip(self.fence[0]).strip(" "):
                    self.leaf = _NONE
                return True
        elif self.leaf == _HTML:
            if text and column >= base and _holds(text, self.end):
                self.leaf = _NONE
                return True
            if column >= base if text else self.end != _BLANK:
                return True
        self.leaf = _NONE
        if not text:
            if fresh:
                self.items.pop()  # An item may begin with one blank line, not with two.
            return False
        while self.items and column < self.items[-1]:
            self.items.pop()
        return self.begin(text, column)

    def in_paragraph(self) -> bool:
        """Return whether the innermost open block is a paragraph."""
        return self.quote.in_paragraph() if self.quote is not None else self.leaf == _PARAGRAPH

    def begin(self, text: str, column: int) -> bool:
        """Open the containers and the leaf that a line begins; return whether it is hidden."""
        while (depth := self.depth + 2 * len(self.items)) < _NESTING_LIMIT:
            base = self.items[-1] if self.items else 0
            if column - base > 3:
                return False  # Indented code needs no memory: the next line is looked at in the same way.
            if text[0] == ">":
                self.quote = _Level(depth + 1)
                return self.quote.read(_inside(text))
            if fence := _FENCE.match(text):
                self.leaf, self.fence = _FENCED, fence[0]
                return True
            if heading := _HEADING.match(text):
                self.found = self.depth == 0 and not self.items and column == 0 and heading.end() <= 3
                return False
            end = _html_end(text, in_paragraph=False) if text[0] == "<" else None
            if end is not None:
                if not _holds(text, end):
                    self.leaf, self.end = _HTML, end
                return True
            if _RULE.match(text) or _DEFINITION.match(text):
                return False
            marker = _MARKER.match(text)
            if marker is None:
                break
            start = column + marker.end()
            text = text[marker.end() :]
            column = start + len(text) - len(text.lstrip(" "))
            text = text.lstrip(" ")
            if not text:
                self.items.append(start + 1)
                self.fresh = True
                return False
            # From five spaces on all but the first belong to the code that the item begins with.
            self.items.append(column if column - start <= 4 else start + 1)
        self.leaf = _PARAGRAPH
        return False

    def interrupts(self, text: str, column: int, base: int, *, guarded: bool = False) -> bool:
        """Return whether a line begins a block that ends a paragraph.

        `guarded` applies the restraint of list items that interrupt a paragraph: not empty, and ordered ones
        count from 1.
        """
        if text[0] == ">" or _FENCE.match(text) or _HEADING.match(text) or _RULE.match(text):
            return True
        if text[0] == "<" and _html_end(text, in_paragraph=True) is not None:
            return True
        marker = _MARKER.match(text)
        outer = self.items[-2] if len(self.items) > 1 else 0
        if marker is None or (self.items and outer + 4 <= column < base):
            return False
        return not guarded or (int(marker[1] or 1) == 1 and bool(text[marker.end() :].strip(" ")))


def _inside(text: str) -> str:
    """Return the content of a line that begins with the mark of a block quote."""
    return text[2:] if text[1:2] == " " else text[1:]


def _html_end(text: str, *, in_paragraph: bool) -> str | None:
    """Return what ends the HTML block that a line begins with its `<`; None if it begins none.

    `in_paragraph` leaves out whole tags of any name, the only kind that cannot interrupt a paragraph.
    """
    for start, end in (("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>")):
        if text.startswith(start):
            return end
    if text[1:2] == "!":
        return ">" if text[2:3].isascii() and text[2:3].isalpha() else None
    if _RAW_START.match(text):
        return _RAW
    return _BLANK if _BLOCK_TAG.match(text) or (not in_paragraph and _WHOLE_TAG.match(text)) else None


def _holds(text: str, end: str) -> bool:
    """Return whether a line holds the end of an HTML block; none holds that of one up to a blank line."""
    if end == _RAW:
        return _RAW_END.search(text) is not None
    return end != _BLANK and end in text
