"""The block structure of Markdown, line by line, as far as it decides which headings are headings.

A stack of open containers (block quotes and list items) and one open leaf are carried from line to line, as
in the parsing strategy of the CommonMark specification. Where the specification and markdown-it-py differ,
the library is followed: what people see rendered and what the scanner finds must be the same document.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

_LABEL = re.compile(r"(?:[^\\\[\]]|\\.)*", re.DOTALL)
_ANGLED = re.compile(r"<(?:[^\n<>\\]|\\.)*>", re.DOTALL)
_BARE = re.compile(r"(?:[^\x00-\x20\x7f\\()]|\\[^ ])*")
_SPACES = re.compile(r"[ \t]*")
# An opening parenthesis inside a title in parentheses ends the attempt: it is no part of its pattern.
_TITLES = {
    '"': ('"', re.compile(r'(?:[^"\\]|\\.)*', re.DOTALL)),
    "'": ("'", re.compile(r"(?:[^'\\]|\\.)*", re.DOTALL)),
    "(": (")", re.compile(r"(?:[^()\\]|\\.)*", re.DOTALL)),
}
_LABEL_BLANKS = "\t\n\v\f\r \xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))
_BAD_PROTOCOL = re.compile(r"(?ai:vbscript|javascript|file|data):")
_GOOD_DATA = re.compile(r"(?ai:data:image/(?:gif|png|jpeg|webp);)")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])|&[A-Za-z#][A-Za-z0-9]{1,31};")
_DEEPEST_PARENTHESES = 32


def definition_lines(first: str, following: Iterator[str]) -> int:
    """Return how many lines the link reference definition takes that `first` begins; 0 if it is none.

    `first` starts with `[`. `following` yields the lines that may continue it, lazily and without their
    indentation and line ends; it ends where a blank line or another block ends the paragraph.
    """
    lines = map(_mend, following)
    text = _mend(first)
    taken = 1
    # The label, over as many lines as it needs.
    position = 1
    named = False
    while True:
        end = _match_end(_LABEL, text, position)
        named = named or bool(text[position:end].strip(_LABEL_BLANKS))
        position = end
        if end < len(text):
            break
        text, taken, position = next(lines, ""), taken + 1, 0
        if not text:
            return 0
    if not named or not text.startswith("]:", position):
        return 0
    # The destination, at the latest on the next line.
    position = _match_end(_SPACES, text, position + 2)
    if text[position] == "\n":
        text, taken, position = next(lines, ""), taken + 1, 0
        if not text:
            return 0
    end = _destination_end(text, position)
    if end < 0:
        return 0
    with_title = _title_lines(text, end, lines)
    if with_title is None:
        return 0
    if with_title >= 0:
        return taken + with_title
    # No title, or none that ends its line: the destination has to end its line then.
    end = _match_end(_SPACES, text, end)
    return taken if end == len(text) or text[end] == "\n" else 0


def _mend(line: str) -> str:
    """Return the line as the definition is read: with its line end, and NUL replaced."""
    return line.replace("\0", "\ufffd") + "\n"


def _match_end(pattern: re.Pattern[str], text: str, position: int) -> int:
    """Return where a pattern that always matches ends."""
    found = pattern.match(text, position)
    return found.end() if found else position


def _destination_end(text: str, start: int) -> int:
    """Return where the destination that begins at `start` ends; -1 if there is none or it is refused."""
    if text[start] == "<":
        found = _ANGLED.match(text, start)
        return found.end() if found and _is_allowed(text[start + 1 : found.end() - 1]) else -1
    depth = 0
    end = start
    while True:
        end = _match_end(_BARE, text, end)
        here = text[end : end + 1]
        if here == "(":
            depth += 1
            if depth > _DEEPEST_PARENTHESES:
                return -1
        elif here == ")" and depth:
            depth -= 1
        else:
            break
        end += 1
    return end if end > start and not depth and _is_allowed(text[start:end]) else -1


def _is_allowed(destination: str) -> bool:
    """Return whether a link may lead there: the oracle makes no definition of `javascript:` and its like."""
    if ":" not in destination and "&" not in destination:
        return True
    destination = _ESCAPE.sub(_unescape, destination).strip()
    return not _BAD_PROTOCOL.match(destination) or bool(_GOOD_DATA.match(destination))


def _unescape(found: re.Match[str]) -> str:
    """Return what an escape or a character reference stands for."""
    if found[1]:
        return found[1]
    from html import unescape

    return unescape(found[0])


def _title_lines(text: str, start: int, lines: Iterator[str]) -> int | None:
    """Return how many of `lines`, after `text`, the title takes; -1 without a title, None for no definition at all.

    `start` is where the destination ended in `text`.
    """
    more = 0
    position = _match_end(_SPACES, text, start)
    apart = position > start
    if text[position : position + 1] == "\n":
        text, more, position, apart = next(lines, ""), 1, 0, True
        if not text:
            return -1
    opener = text[position : position + 1]
    if opener not in _TITLES or not opener:
        return -1
    closer, pattern = _TITLES[opener]
    position += 1
    end = _match_end(pattern, text, position)
    empty = end == position
    while end == len(text):
        # A title over several lines needs no space before it: a habit of the oracle.
        text, more, empty, apart = next(lines, ""), more + 1, False, True
        if not text:
            return -1
        end = _match_end(pattern, text, 0)
    if text[end] != closer or not apart:
        return -1
    end = _match_end(_SPACES, text, end + 1)
    if text[end] == "\n":
        return more
    # Text after an empty title spoils the definition as a whole: a habit of the oracle.
    return None if empty else -1


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
    r"""(?:\s+[A-Za-z_:][A-Za-z0-9_:.-]*(?:\s*=\s*(?:[^"'=<>`\x00-\x20]+|'[^']*'|"[^"]*"))?)*"""
    r"\s*/?>|</[A-Za-z][A-Za-z0-9-]*\s*>)\s*$"
)
# Such a space may be part of an unquoted value or come after it: each doubles the ways to read a line.
_WIDE_SPACE = re.compile(r"[^\x00-\x7f\S]")
_MOST_WIDE_SPACES = 64

BLANK = ""
"""The end of kinds 6 and 7: a blank line."""

RAW = "</"
"""The end of kind 1: any of four closing tags, see `ends`."""


def html_end(line: str, start: int, *, in_paragraph: bool) -> str | None:
    """Return what ends the HTML block that `line` begins at `start` (where a `<` is); None if it begins none.

    `in_paragraph` leaves out kind 7, the only one that cannot interrupt a paragraph. Pass the result to
    `ends`.
    """
    second = line[start + 1 : start + 2]
    if second == "!":
        if line.startswith("--", start + 2):
            return "-->"
        if line.startswith("[CDATA[", start + 2):
            return "]]>"
        third = line[start + 2 : start + 3]
        return ">" if third.isascii() and third.isalpha() else None
    if second == "?":
        return "?>"
    if _RAW_START.match(line, start):
        return RAW
    if _BLOCK_TAG.match(line, start) or (not in_paragraph and _is_whole_tag(line[start:])):
        return BLANK
    return None


def ends(line: str, start: int, end: str) -> bool:
    """Return whether the line, read from `start`, holds the end of an HTML block; `BLANK` is never held."""
    if end == RAW:
        return _RAW_END.search(line, start) is not None
    return end != BLANK and line.find(end, start) >= 0


def _is_whole_tag(text: str) -> bool:
    """Return whether the text is one complete opening or closing tag and nothing else (kind 7)."""
    if not text.isascii() and len(_WIDE_SPACE.findall(text)) > _MOST_WIDE_SPACES:
        return False
    return _WHOLE_TAG.match(text.replace("\0", "\ufffd")) is not None


_FENCE = re.compile(r"`{3,}(?=[^`]*\Z)|~{3,}")
_RULE = re.compile(r"(?:\*[ \t]*){3,}\Z|(?:-[ \t]*){3,}\Z|(?:_[ \t]*){3,}\Z")
_MARKER = re.compile(r"(?:[-+*]|([0-9]{1,9})[.)])(?=[ \t]|\Z)")
_HEADING = re.compile(r"#{1,6}(?=[ \t]|\Z)")
_UNDERLINE = re.compile(r"(?:=+|-+)[ \t]*\Z")
# What a line begins with that can be more than a paragraph, and that can end one.
_STARTERS = frozenset("`~>*-_+0123456789<#[")
_ENDERS = frozenset("`~>*-_+0123456789<#=")
_SPACED = frozenset(" \t")

_NESTING_LIMIT = 100
"""Levels (a list item counts two, a quote one) from which the rest of a line is text.

CommonMark knows no limit; this one bounds the work for each line. markdown-it-py stops at 20 levels and reads no
block behind them any more: there a line of ten list markers would take every heading that follows out of the file,
which the scan of a whole file does not see either. A heading in column 0 ends any depth here.
"""

_NONE, _PARAGRAPH, _FENCED, _HTML = range(4)


class BlockScan(NamedTuple):
    """What `scan_blocks` found.

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
    scanner = _Scanner(lines)
    hidden = scanner.run()
    found = len(hidden) - 1 if scanner.found else None
    return BlockScan(found, found is None and scanner.swallows(), tuple(hidden))


class _Scanner:
    """The containers and the leaf that are open between two lines.

    `stack` holds a tuple for each open container: the column its content must reach (counted from the
    content of the quote around it; 0 in a quote), the same of the container around it (-1: none), and the
    nesting level.
    `quotes` holds the places of block quotes in the stack, `bare` whether the last line of each was empty.
    `ahead` holds lines that were read from `source` to look at, `place` is the first one not yet taken in.
    """

    __slots__ = (
        "ahead", "bare", "end", "fence", "found", "fresh",
        "leaf", "place", "quotes", "source", "stack", "taken",
    )  # fmt: skip

    def __init__(self, lines: Iterable[str]) -> None:
        """Begin at a clean point."""
        self.source: Iterator[str] = iter(lines)
        self.ahead: list[str] = []
        self.place = 0
        self.stack: list[tuple[int, int, int]] = []
        self.quotes: list[int] = []
        self.bare: list[bool] = []
        self.leaf = _NONE
        self.fence = ""
        self.end = BLANK
        self.fresh = False
        self.taken = 0
        self.found = False

    def run(self) -> list[bool]:
        """Read up to the first heading; return for each line whether it is hidden."""
        hidden: list[bool] = []
        add, read, ahead = hidden.append, self.read, self.ahead
        for line in self.source:
            add(read(line))
            while self.place < len(ahead):
                self.place += 1
                if self.taken:
                    # The rest of a link reference definition, which was read ahead as a whole.
                    self.taken -= 1
                    add(False)
                else:
                    add(read(ahead[self.place - 1]))
            if ahead:
                ahead.clear()
                self.place = 0
            if self.found:
                break
        return hidden

    def swallows(self) -> bool:
        """Return whether a heading that follows now would be no heading."""
        return not self.stack and self.leaf in (_FENCED, _HTML)

    def read(self, line: str) -> bool:
        """Take in one line; return whether it is part of a fenced code block or an HTML block."""
        fresh, self.fresh = self.fresh, False
        column = position = shift = 0
        if line[:1] in _SPACED:
            position, column = _skip_spaces(line, 0, 0, 0)
        lazy, before = -1, (0, 0, 0)
        if self.quotes:
            position, column, shift, lazy, before, cut = self.enter(line, position, column, keep=True)
            if cut >= 0:
                # A quote that only a lazy line kept open ends with what it holds, and the line is read
                # outside.
                if lazy >= 0:
                    cut = lazy
                    position, column, shift = before
                    lazy = -1
                self.close(cut)
                fresh = False
        blank = position == len(line)
        stack = self.stack
        base, outer, _ = stack[-1] if stack else _ROOT
        leaf = self.leaf
        if leaf == _PARAGRAPH:
            if not blank:
                if column < 0 or column - base > 3 or line[position] not in _ENDERS:
                    return False
                if column >= base and line[position] in "=-" and _UNDERLINE.match(line, position):
                    self.leaf = _NONE
                    return False
                if not _interrupts(line, position, column, base, outer, column >= base):
                    return False
            self.leaf = _NONE
        elif leaf == _FENCED:
            if blank:
                return True
            if column >= base:
                if column - base < 4 and self.closes_fence(line, position):
                    self.leaf = _NONE
                return True
            self.leaf = _NONE
        elif leaf == _HTML:
            if blank and self.end != BLANK:
                return True
            if not blank and column >= base:
                if ends(line, position, self.end):
                    self.leaf = _NONE
                return True
            self.leaf = _NONE
        if blank:
            if fresh:
                stack.pop()  # An item may begin with one blank line, not with two.
            return False
        if lazy >= 0:
            self.close(lazy)
            position, column, shift = before
        while stack and column < stack[-1][0]:
            stack.pop()
        return self.begin(line, position, column, shift)

    def begin(self, line: str, position: int, column: int, shift: int) -> bool:
        """Open the containers and the leaf that the rest of a line begins; return whether it is hidden."""
        stack = self.stack
        while True:
            base, _, level = stack[-1] if stack else _ROOT
            if level >= _NESTING_LIMIT:
                break
            if column - base > 3:
                return False  # Indented code needs no memory: the next line is looked at in the same way.
            first = line[position]
            if first not in _STARTERS:
                break
            if first == ">":
                self.quotes.append(len(stack))
                stack.append((0, stack[-1][1] if stack else -1, level + 1))
                position, column, shift = _enter_quote(line, position, column, shift)
                self.bare.append(position == len(line))
                if position == len(line):
                    return False
                continue
            if first in "`~":
                fence = _FENCE.match(line, position)
                if fence:
                    self.leaf, self.fence = _FENCED, fence[0]
                    return True
                break
            if first == "#":
                heading = _HEADING.match(line, position)
                if heading:
                    self.found = not stack and position == 0 and heading.end() <= 3
                    return False
                break
            if first == "<":
                end = html_end(line, position, in_paragraph=False)
                if end is not None:
                    if not ends(line, position, end):
                        self.leaf, self.end = _HTML, end
                    return True
                break
            if first == "[":
                taken = definition_lines(line[position:], self.continuations())
                if taken:
                    self.taken = taken - 1
                    return False
                break
            if _RULE.match(line, position):
                return False
            marker = _MARKER.match(line, position)
            if marker is None:
                break
            start = column + marker.end() - position
            position, column = _skip_spaces(line, marker.end(), start, shift)
            if position == len(line):
                stack.append((start + 1, base, level + 2))
                self.fresh = True
                return False
            # From five spaces on all but the first belong to the code that the item begins with.
            stack.append((column if column - start <= 4 else start + 1, base, level + 2))
        self.leaf = _PARAGRAPH
        return False

    def closes_fence(self, line: str, position: int) -> bool:
        """Return whether the line, from `position` on, is at least the open fence and nothing else."""
        if not line.startswith(self.fence, position):
            return False
        return not line[position:].lstrip(self.fence[0]).strip(" \t")

    def close(self, quote: int) -> None:
        """Close an open block quote, by its place in `quotes`, and all that it holds."""
        del self.stack[self.quotes[quote] :], self.quotes[quote:], self.bare[quote:]
        self.leaf = _NONE

    def enter(
        self, line: str, position: int, column: int, *, keep: bool
    ) -> tuple[int, int, int, int, tuple[int, int, int], int]:
        """Take a line into the open block quotes, as far as it belongs to them.

        Returns position, column and tab shift inside; the first quote in which the line can only be the lazy
        continuation of a paragraph (-1: none; the column inside is -1 then) with position, column and tab
        shift before it; and the first quote that it ends (-1: none). `keep` remembers which quotes saw an
        empty line.
        """
        stack, bare = self.stack, self.bare
        size = len(line)
        shift, lazy, cut = 0, -1, -1
        before = (0, 0, 0)
        for number, place in enumerate(self.quotes):
            if position == size:
                cut = number
                break
            base, outer, _ = stack[place - 1] if place else _ROOT
            # Any indentation will do here, a habit of the oracle: the specification allows three columns.
            if line[position] == ">" and column >= base:
                position, column, shift = _enter_quote(line, position, column, shift)
                if keep:
                    bare[number] = position == size
            elif bare[number] or (column - base < 4 and _interrupts(line, position, column, base, outer, False)):
                cut = number
                break
            elif lazy < 0:
                lazy, before = number, (position, column, shift)
                column = -1
        return position, column, shift, lazy, before, cut

    def continuations(self) -> Iterator[str]:
        """Yield the lines ahead that may belong to the link reference definition of the current one."""
        base, outer, _ = self.stack[-1] if self.stack else _ROOT
        # Lines that an earlier attempt looked at are looked at again.
        count = self.place
        while True:
            if count == len(self.ahead):
                line = next(self.source, None)
                if line is None:
                    return
                self.ahead.append(line)
            line = self.ahead[count]
            count += 1
            position, column = _skip_spaces(line, 0, 0, 0)
            if self.quotes:
                position, column, _, _, _, cut = self.enter(line, position, column, keep=False)
                if cut >= 0:
                    return
            if position == len(line):
                return
            if 0 <= column < base + 4 and _interrupts(line, position, column, base, outer, False):
                return
            yield line[position:]


_ROOT = (0, -1, 0)


def _interrupts(line: str, position: int, column: int, base: int, outer: int, guarded: bool) -> bool:
    """Return whether the line begins a block that ends a paragraph.

    `column` is where the line begins, `base` and `outer` are the first two of the container's tuple.
    `guarded` applies the restraint of list items that interrupt a paragraph: not empty, and ordered ones
    count from 1.
    """
    first = line[position]
    if first not in _ENDERS:
        return False
    if first == ">":
        return True
    if first in "`~":
        return _FENCE.match(line, position) is not None
    if first == "#":
        return _HEADING.match(line, position) is not None
    if first == "<":
        return html_end(line, position, in_paragraph=True) is not None
    marker = _MARKER.match(line, position)
    if marker is not None and not (outer >= 0 and outer + 4 <= column < base):
        if not guarded:
            return True
        number = marker[1]
        if (number is None or int(number) == 1) and line[marker.end() :].strip(" \t"):
            return True
    return first in "*-_" and _RULE.match(line, position) is not None


def _skip_spaces(line: str, position: int, column: int, shift: int) -> tuple[int, int]:
    """Return position and column of the first character that is no space or tab.

    A tab leads to the next multiple of four, counted with `shift`: the columns cut off by the quotes around.
    """
    for character in line[position:] if position else line:
        if character == " ":
            column += 1
        elif character == "\t":
            column += 4 - (column + shift) % 4
        else:
            break
        position += 1
    return position, column


def _enter_quote(line: str, position: int, column: int, shift: int) -> tuple[int, int, int]:
    """Return position, column and tab shift of the content after a `>` at `position`."""
    inner_shift = column + 1
    start = column + 1
    position += 1
    following = line[position : position + 1]
    if following == " ":
        inner_shift += 1
        start += 1
        position += 1
    elif following == "\t":
        inner_shift += 1
        if (shift + start) % 4 == 3:
            # The tab is one column wide, all of it taken by the optional space.
            start += 1
            position += 1
        else:
            shift += 1
    position, end = _skip_spaces(line, position, start, shift)
    return position, end - start, inner_shift
