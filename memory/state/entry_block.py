"""The entry block: a part of AGENTS.md, CLAUDE.md or README.md that points contributors to the project memory.

It is between two markers, each an HTML comment alone on a line that begins in column 0. A marker in a code fence, in
indented code, in a list or quote, or within another HTML block is a quotation and never taken for the block. Everything
outside of the block stays byte for byte as it was.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import zip_longest
from typing import Any, NamedTuple

from memory.document.lines import LINE_END, decode, encode, newline_of, scan
from memory.document.model import BOM, front_end
from memory.state.files.model import MARKERS, PROJECTIONS
from memory.state.projections import has_focus

VERSION = 3
"""The version in the markers of entry blocks."""

START = "<!-- agent-memory:entry version={version} bundleHash={bundle_hash} start -->"
END = "<!-- agent-memory:entry end -->"

_MARK = re.compile(
    rb"(?:\A|(?<=[\r\n])|(?<=\A\xef\xbb\xbf))"
    rb"(?P<mark><!-- agent-memory:entry "
    rb"(?:(?P<start>version=[0-9]{1,9} bundleHash=[0-9A-Za-z]{1,128} start)|end) -->)"
    rb"[ \t]*(?P<newline>\r\n|\r|\n|\Z)"
)
_HIDDEN = re.compile(r"<!--.*?(?:-->|\Z)|<(pre|script|style|textarea)\b.*", re.DOTALL | re.IGNORECASE)
_AROUND = re.compile(r"<(/?)(?:p|div|center|h1)\b", re.IGNORECASE)
_BODY = """\
## Project memory

What is known of this project is in `{pages}/`: read {names}. `memdeck state query QUESTION` answers\
 questions about it.

{markers}
"""
_WHEN = {"gotchas": "`gotchas.md` before a change", "nextSteps": "`next-steps.md` for what to do"}


class EntryBlock(NamedTuple):
    """A block in a file: its start and end in bytes (its last line end included), and its text.

    `closed` is False where no end marker follows: then it is the line of its marker alone.
    """

    start: int
    end: int
    closed: bool
    text: str


def render_block(bundle: Mapping[str, Any], bundle_hash: str) -> str:
    """Return the entry block for a bundle, lines ending in `\\n`, with a final one; it names no empty page."""
    first = ("project-map", *(["current-focus"] if has_focus(bundle) else []))
    names = [f"{' and '.join(f'`{one}.md`' for one in first)} first"]
    names += [when for key, when in _WHEN.items() if bundle[key]]
    body = _BODY.format(pages=PROJECTIONS, names=", ".join(names), markers=MARKERS)
    return f"{START.format(version=VERSION, bundle_hash=bundle_hash)}\n{body}\n{END}\n"


def find_blocks(data: bytes) -> list[EntryBlock]:
    """Return the entry blocks of a Markdown file in order, also those without an end marker; linear in its length."""
    return _look(data)[0]


def without_blocks(data: bytes) -> bytes:
    """Return a Markdown file without its entry blocks."""
    for block in reversed(find_blocks(data)):
        data = data[: block.start] + data[block.end :]
    return data


def put_block(data: bytes, block: str) -> bytes:
    """Return a Markdown file with the block in it, with the line ends of the file.

    The first block of the file is replaced in place. Without one, the block is inserted after the first heading of
    level 1 outside code, with a blank line on each side; else at the top, after a BOM and front matter. Putting
    the same block twice changes nothing. Of several blocks only the first is touched; of one without an end marker, the
    start marker alone.
    """
    newline = newline_of(data)
    new = encode(block.replace("\n", newline))
    blocks, top = _look(data)
    if blocks:
        first = blocks[0]
        rest = data[first.end :]
        if not rest and not data.endswith((b"\r", b"\n")):
            new = new.rstrip(b"\r\n")
        return data[: first.start] + new + rest
    heading = _title_end(data, top)
    place = top if heading is None else heading
    before, after = data[:place], data[place:]
    feed = newline.encode()
    if heading is not None:
        before += b"" if before.endswith((b"\r", b"\n")) else feed
        before += feed
    elif top and not before.endswith((b"\r", b"\n", BOM)):
        before += feed
    begins_blank = re.match(rb"[ \t]*(?:\r|\n|\Z)", after)
    return before + new + (b"" if begins_blank else feed) + after


def _look(data: bytes) -> tuple[list[EntryBlock], int]:
    """Return the blocks, and the position of the top."""
    bom = len(BOM) if data.startswith(BOM) else 0
    top = front_end(data, bom)
    # A comment and a heading, each alone in column 0, are recognised in the same places. So each marker is replaced by
    # a heading: where the scan finds that heading, the marker is real.
    probe = bytearray(data)
    marks = {mark.start("mark"): mark for mark in _MARK.finditer(data, top) if mark.start("mark") >= top}
    for start, mark in marks.items():
        probe[start : mark.end("mark")] = b"# ".ljust(mark.end("mark") - start, b"x")
    headings = {*scan(bytes(probe), top).starts}
    return _pair(data, [mark for start, mark in marks.items() if start in headings]), top


def _title_end(data: bytes, top: int) -> int | None:
    """Return the end of the first title: a heading of level 1, or HTML with one up to where that closes what it opened;
    None without one.
    """
    from markdown_it import MarkdownIt

    ends = [*(one.end() for one in LINE_END.finditer(data, top)), len(data)]
    titled, depth = False, 0
    for token in MarkdownIt("commonmark").disable("inline").parse(decode(data[top:])):
        html = _HIDDEN.sub("", token.content) if token.type == "html_block" else ""
        depth += sum(-1 if close else 1 for close in _AROUND.findall(html))
        titled = titled or "<h1" in html.lower()
        if token.map and not token.level and (token.tag == "h1" or (html and titled and depth <= 0)):
            return ends[token.map[1] - 1]
    return None


def _pair(data: bytes, marks: list[re.Match[bytes]]) -> list[EntryBlock]:
    """Return a block for each start marker: up to the next end marker before another start."""
    blocks = []
    for mark, following in zip_longest(marks, marks[1:]):
        if mark["start"] is not None:
            closed = following is not None and following["start"] is None
            start, end = mark.start("mark"), following.end() if closed else mark.end()
            text = decode(data[start:end])
            blocks.append(EntryBlock(start, end, closed, text))
    return blocks
